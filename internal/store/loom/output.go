package loom

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/lines"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// looked is what was found in a file.
type looked struct {
	bytes int64
	wrong bool // its name has a digest that its content does not have
}

// fileMembers are the arguments that name a file (loom-py context offloader, which
// names what it offloads by them).
var fileMembers = []string{"path", "file_path", "file", "url"}

// findArgumentFiles finds the files that the arguments of a step name. One that does not exist
// is left out: whether there ought to be one depends on the tool. So is one outside,
// unless the tool is one for files or a URL says that it is a file.
func (b *builder) findArgumentFiles(s *step) []session.Output {
	var list []session.Output
	given := s.stringArgs()
	for _, member := range fileMembers {
		name, isFile := given[member], strings.HasPrefix(s.Tool, "fs:")
		if member == "url" {
			name, isFile = fileURL(name), true
		}
		if name == "" {
			continue
		}
		if o := b.findOutput(name); o.Real != "" || o.Outside && isFile {
			list = append(list, o)
		}
	}
	return list
}

// findOutcome finds the file that a step's result was put into.
func (b *builder) findOutcome(s *step) []session.Output {
	name := s.OutcomeRef
	if of := fileURL(name); of != "" {
		name = of
	}
	if name == "" {
		return nil
	}
	o := b.findOutput(name)
	o.Path = s.OutcomeRef
	return []session.Output{o}
}

// fileURL is the path of a URL of a file, "" for any other text.
func fileURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

// findOutput finds a file that an agent names. The design's examples name files from the
// agent's folder ("outputs/a.json"), from the workspace ("main/outputs/a.json",
// ".loom/cache/web/a.txt") and from above it ("workspace/main/outputs/a.json"): the
// first that exists is meant, and else the agent's own.
func (b *builder) findOutput(name string) session.Output {
	o := session.Output{Path: name}
	tried := []string{name}
	if !path.IsAbs(name) {
		tried = []string{b.dir + "/" + name, name}
		if workspace, rest, ok := strings.Cut(name, "/"); ok && b.isCalled(workspace) {
			tried = append(tried, rest, b.dir+"/"+rest)
		}
	}
	for i, name := range tried {
		t := b.followPath(name)
		if i == 0 {
			o.Outside = t.outside
		}
		if t.real == "" || !t.info.Mode().IsRegular() {
			continue
		}
		found := b.inspectFile(t)
		return session.Output{Path: o.Path, Real: displayName(t.real), Bytes: found.bytes, Hash: found.wrong}
	}
	return o
}

// isCalled reports whether this is the name of the workspace's folder.
func (r *resolver) isCalled(name string) bool {
	return slices.ContainsFunc(r.above, func(above string) bool { return path.Base(above) == name })
}

// hashedName is the form of a name that ends in a digest (loom-py DataOffloader):
// identifier_<first 16 hex digits of SHA-256>.ending.
var hashedName = pattern.Lazy(`_([0-9a-f]{16})\.[^.]+$`)

// longestOutput is the size up to which an output is read, in bytes.
const longestOutput = 64 << 20

// inspectFile is what a file holds, looked at once for a tree.
func (b *builder) inspectFile(t target) looked {
	found, known := b.looked[t.real]
	if known {
		return found
	}
	found.bytes = t.info.Size()
	if digest := hashedName().FindStringSubmatch(path.Base(t.real)); digest != nil && isOffloaded(t.real) && found.bytes <= longestOutput {
		sum, err := b.hashFile(t.real)
		found.wrong = err == nil && !strings.HasPrefix(sum, digest[1])
	}
	b.looked[t.real] = found
	return found
}

// isOffloaded reports whether a file is where Loom puts outputs. A name elsewhere may
// end in a digest of anything.
func isOffloaded(real string) bool {
	return strings.Contains("/"+real, "/.loom/cache/") || strings.Contains(real, "/"+outputsFolder+"/")
}

// hashFile is the SHA-256 of a file in hex.
func (b *builder) hashFile(name string) (string, error) {
	f, _, err := b.openFile(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, longestOutput)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// capture is a file of events, one on a line.
type capture struct {
	path  string // below the workspace
	owner string // the agent in whose folder it is, "" for the workspace's own
}

// longestEvent is the length up to which a line is read, in bytes. An event says a goal
// or an answer; what is longer was offloaded, or is somebody's data.
const longestEvent = 16 << 20

// tableEvents is the table of a Ref to a line of a capture that belongs to no session.
const tableEvents = "events"

// readEvents reads the spawns and results of a capture. A file without any, and without a
// broken line that names one, is somebody's data, and nothing in it is a fault.
func (w workspace) readEvents(ctx context.Context, c capture) (list []*event, faults []session.Fault, err error) {
	f, _, err := w.openFile(c.path)
	if err != nil {
		return nil, nil, err
	}
	r, broken := lines.NewBounded(f, longestEvent), brokenLines{}
	for ctx.Err() == nil {
		line, err := r.Next()
		switch {
		case err == io.EOF:
			if len(list) > 0 || broken.named {
				faults = broken.reportFault(c)
			}
			return list, faults, f.Close()
		case errors.Is(err, lines.ErrTooLong):
			broken.addLine(line.Number, fmt.Sprintf("it is longer than %d MiB", longestEvent>>20))
			continue
		case err != nil:
			return list, nil, errors.Join(err, f.Close())
		case len(line.Text) == 0:
			continue
		}
		ev, _, known, wrong := decodeEvent(line.Text)
		if wrong != nil {
			broken.addLine(line.Number, wrong.why)
			broken.named = broken.named || namesEvent(line.Text)
		}
		if known {
			ev.key = displayName(c.path) + ":" + strconv.FormatInt(line.Number, 10)
			ev.at = span{c.path, filelog.Span{Offset: line.Offset, Length: len(line.Text)}}
			list = append(list, ev.completeFor(c.owner))
		}
	}
	return nil, nil, errors.Join(ctx.Err(), f.Close())
}

// completeFor completes an event from the folder that it was captured in: what an agent's own
// capture leaves open is about that agent. A spawn that names it as the child was
// received there, as was a result that names it as the parent.
func (ev event) completeFor(owner string) *event {
	switch {
	case owner == "":
	case ev.result && ev.parent != owner && ev.child == "" && ev.source == "":
		ev.child = owner
	case !ev.result && ev.child != owner && ev.parent == "" && ev.source == "":
		ev.parent = owner
	}
	return &ev
}

// brokenLines are the lines of a file that could not be read.
type brokenLines struct {
	count int
	first []int64 // their numbers
	why   string  // of the first one
	named bool    // one names a spawn or a result
}

func (b *brokenLines) addLine(number int64, why string) {
	const told = 10
	if b.count++; b.count == 1 {
		b.why = why
	}
	if len(b.first) < told {
		b.first = append(b.first, number)
	}
}

func (b *brokenLines) reportFault(c capture) []session.Fault {
	if b.count == 0 {
		return nil
	}
	numbers := lists.MapEach(b.first, func(n int64) string { return strconv.FormatInt(n, 10) })
	detail := "line " + numbers[0] + ": " + b.why
	if also := strings.Join(numbers[1:], ", "); also != "" {
		if more := b.count - len(numbers); more > 0 {
			also += fmt.Sprintf(" and %d more", more)
		}
		detail += "; nor can these lines be read: " + also
	}
	return []session.Fault{{
		Kind: session.Undecodable, Item: -1, Field: "a line of " + displayName(c.path), Detail: detail, Count: b.count, Lost: true,
		Ref: session.Ref{Table: tableEvents, Key: displayName(c.path) + ":" + numbers[0]},
	}}
}

// rereadEvent reads what an event said again.
func (w workspace) rereadEvent(ev *event) (text string, raw []byte, err error) {
	f, _, err := w.openFile(ev.at.path)
	if err != nil {
		return "", nil, err
	}
	lines := filelog.Window{From: f}
	if raw, err = lines.Line(ev.at.Span); err == nil {
		_, text, _, _ = decodeEvent(raw)
	}
	return text, raw, errors.Join(err, f.Close())
}

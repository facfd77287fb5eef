package canonical

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
)

// The format that this package reads and writes.
const (
	formatName    = "sessctl.canonical"
	formatVersion = 1
)

// runtimes are what is known of those whose stores a stream may come from, by the kind of
// store. Of all others the header says what there is to know.
var runtimes = map[string]struct {
	session.Runtime
	session.Children
}{dockeragent.Kind.Name: {dockeragent.Runtime, dockeragent.Children}}

// Header is what a stream says of the store that its sessions come from.
type Header struct {
	Kind      string // of the store: "docker-agent"
	Summaries string // root or scoped: what a summary covers; "" when unknown
	Model     string // the model that answered, for sessions that do not say
	session.Reader
	ChildrenClosed bool // see session.Children, and so for the next
	ReusesChildren bool
	Writer         session.Writer

	line []byte // as stored, when it was read from a stream: then bodies are lines too
}

// HeaderOf describes a store for a stream that is written from it. st is what
// the adapter opened: something around it would hide the header of a stream.
func HeaderOf(st store.Store) Header {
	if s, ok := st.(interface{ Header() Header }); ok {
		return s.Header()
	}
	f := st.Facts()
	h := Header{
		Kind: f.Kind, Model: f.Model, Reader: f.Reader, Writer: f.Writer, ChildrenClosed: f.ChildrenClosed, ReusesChildren: f.ReusesChildren,
	}
	if f.BranchModel != "" {
		h.Summaries = summariesScoped
	}
	if f.RootSummaries {
		h.Summaries = summariesRoot
	}
	return h
}

// What a summary stands for.
const (
	summariesRoot   = "root"
	summariesScoped = "scoped"
)

func (h *Header) format() headerLine {
	return headerLine{
		Type: typeHeader, Format: fmt.Sprintf("%s/%d", formatName, formatVersion),
		Kind: h.Kind, BranchModel: h.BranchModel, Summaries: h.Summaries,
		Writer: h.Writer.String(), Model: h.Model, ChildrenClosed: h.ChildrenClosed,
		ForeignText: h.ForeignText, GathersResults: h.GathersResults, SilentLabels: h.SilentLabels, HidesToolRuns: h.HidesToolRuns,
		PrefixReaders: h.PrefixReaders, PrefixUntold: h.PrefixUntold, OpenScopes: h.OpenScopes, LikeFilter: h.LikeFilter, ReusesChildren: h.ReusesChildren,
	}
}

// parseHeader reads the first line of a stream and the version of its format.
// The error completes the sentence "line 1 …".
func parseHeader(line []byte) (h Header, version int, err error) {
	rec, usable, wrong := decode[headerLine](line)
	switch {
	case !usable:
		return h, 0, fmt.Errorf("is no line of a stream (%s)", explain(wrong.err))
	case rec.Type != typeHeader:
		return h, 0, fmt.Errorf("has the type %s", quoted(rec.Type))
	}
	name, number, _ := strings.Cut(rec.Format, "/")
	if version, err = strconv.Atoi(number); name != formatName || err != nil || version < formatVersion {
		return h, 0, fmt.Errorf("has the format %s", quoted(rec.Format))
	}
	return Header{
		Kind: rec.Kind, Summaries: rec.Summaries, Model: rec.Model,
		Reader: session.Reader{
			BranchModel: rec.BranchModel, ForeignText: rec.ForeignText, GathersResults: rec.GathersResults, SilentLabels: rec.SilentLabels,
			HidesToolRuns: rec.HidesToolRuns, RootSummaries: rec.Summaries == summariesRoot, PrefixReaders: rec.PrefixReaders, PrefixUntold: rec.PrefixUntold, OpenScopes: rec.OpenScopes, LikeFilter: rec.LikeFilter,
		},
		ChildrenClosed: rec.ChildrenClosed || runtimes[rec.Kind].ChildrenClosed, ReusesChildren: rec.ReusesChildren,
		Writer: parseWriter(rec.Writer),
		line:   line,
	}, version, nil
}

func parseWriter(name string) session.Writer {
	for _, w := range []session.Writer{session.WriterLive, session.WriterDead} {
		if w.String() == name {
			return w
		}
	}
	return session.WriterUnknown
}

// firstLine is the first line of a stream that is not blank, as far as it is within the
// first megabyte.
func firstLine(src *store.Source) ([]byte, error) {
	const longest = 1 << 20
	if src.Stream == nil {
		return nil, io.EOF
	}
	if _, err := src.Stream.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	line, _, err := newLineScanner(io.LimitReader(src.Stream, longest)).next()
	return line, err
}

// Foreign reports whether a stream is another program's: its first line is sound JSON
// and neither a header of this format with something wrong in it, nor the session or
// item that stands first where the header is gone.
func Foreign(src *store.Source) bool {
	line, err := firstLine(src)
	var says struct{ Type, Format any }
	if err != nil || json.Unmarshal(line, &says, tolerant, json.MatchCaseInsensitiveNames(true)) != nil {
		return false
	}
	kind, _ := says.Type.(string)
	format, _ := says.Format.(string)
	return !slices.Contains([]string{typeHeader, typeSession, typeItem}, kind) && !strings.HasPrefix(format, formatName)
}

// detect looks at the first line. A header that is longer than a megabyte is
// none.
func detect(_ context.Context, src *store.Source) store.Detection {
	line, err := firstLine(src)
	if err != nil {
		return store.Detection{}
	}
	_, version, err := parseHeader(line)
	if err != nil {
		return store.Detection{}
	}
	d := store.Detection{
		Sure: store.Certain, Generation: strconv.Itoa(version),
		Why: fmt.Sprintf("its first line is a %s/%d header", formatName, version),
	}
	if version > formatVersion {
		d.Sure = store.Maybe
	}
	return d
}

// notAStream is the error for a source whose first line is no header.
func notAStream(src *store.Source, why string) error {
	return problem.New(problem.Unreadable,
		"write the header as the first line (docs/canonical.md), or name the kind of the store with --store",
		`%s is not a canonical stream: %s, where {"type":"header","format":"%s/%d"} is expected`,
		nameOf(src), why, formatName, formatVersion)
}

func nameOf(src *store.Source) string {
	if src.Path == "-" {
		return "standard input"
	}
	return src.Path
}

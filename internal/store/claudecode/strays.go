package claudecode

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// findStrays marks the lines of sub-agents with a file of their own that stand in the file of
// who asked them, and takes them out of its chain: what the next request would be without
// them is what a repair makes of it.
//
// A line of 2.1 names its sub-agent (agentId), and no line of a session of its own does. An
// identifier in both files proves less, since copies of healthy lines have the same: such a
// line is a stray if it says that it is a sub-agent's (isSidechain), or stands behind the call.
func (t *trunk) findStrays(all []*trunk) error {
	named, holds, calls := map[filelog.Name]int32{}, map[filelog.Name]int32{}, map[filelog.Name]int{}
	for k := range t.agents {
		a := &t.agents[k]
		if a.wrong != nil {
			continue
		}
		named[t.chain.Name(strings.TrimPrefix(strings.TrimSuffix(a.id, t.copied), agentPrefix))] = int32(k) + 1
		for uuid := range a.chain.at {
			holds[uuid] = int32(k) + 1
		}
	}
	agents := len(t.agents)
	if t.findTurns(all); len(named) == 0 && len(t.agents) == agents {
		return nil
	}
	for i := range t.chain.nodes {
		n := &t.chain.nodes[i]
		for _, call := range t.chain.toolsOf(n, assistant) {
			calls[call] = i
		}
		if n.home != 0 {
			continue
		}
		if n.home = named[n.agent]; n.home == 0 && holds[n.uuid] != 0 {
			made, known := calls[t.chain.Name(t.agents[holds[n.uuid]-1].meta.Call)]
			if n.sidechain || known && made < i {
				n.home = holds[n.uuid]
			}
		}
		if n.home != 0 {
			n.session = 0 // it is the sub-agent's, whatever else it names
		}
	}
	for k := range t.agents[:agents] {
		a := &t.agents[k]
		for i := range a.chain.nodes { // those of one that it asked itself
			n := &a.chain.nodes[i]
			if home := named[n.agent]; home > 0 && home != int32(k)+1 && t.parentOf(&t.agents[home-1]) == a.id {
				n.home = home
			}
		}
		if err := t.passOver(a.chain, a.log); err != nil {
			return err
		}
	}
	return t.passOver(t.chain, t.log)
}

// passOver finds out which strays of a file have a copy in their own, and what stands above
// them in the conversation: the lines below them hang below that.
func (t *trunk) passOver(c *chain, log *filelog.Log) error {
	lines, last, moves := log.Window(), filelog.Name(0), map[int32]bool{}
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.home == 0 {
			if n.uuid != 0 && !n.sidechain || c != t.chain && n.uuid != 0 {
				last = n.uuid
			}
			continue
		}
		home := &t.agents[n.home-1]
		if at, twice := home.chain.at[n.uuid]; twice {
			stray, err := lines.Line(n.lineSpan())
			if err != nil {
				return err
			}
			own, err := home.log.Window().Line(home.chain.nodes[at].lineSpan())
			if err != nil {
				return err
			}
			n.copied = sayTheSame(stray, own)
		} else {
			home.chain.away[n.uuid] = true
			if len(home.chain.nodes) == 0 { // that it is empty says no more than that its lines are here
				home.chain.faults = nil
			}
			moves[n.home] = moves[n.home] || n.kind != unsaid
		}
		if up, ok := c.at[n.parent]; !ok {
			n.parent = last
		} else if above := &c.nodes[up]; above.home != 0 {
			n.parent = above.parent
		} else if above.sidechain && c == t.chain {
			n.parent = last
		}
	}
	for i := range c.nodes {
		if n := &c.nodes[i]; n.home != 0 && n.kind == unsaid && !n.copied && !moves[n.home] {
			c.addFault("line %s belongs to %s, whose file lacks it; it carries no message, and a repair moves such a line only together with messages", c.Text(n.uuid), t.agents[n.home-1].id)
		}
	}
	return nil
}

// aboveStrays is the line that a line hangs below, or is named as one: what is above strays.
func (c *chain) aboveStrays(uuid filelog.Name) filelog.Name {
	if i, ok := c.at[uuid]; ok && c.nodes[i].home != 0 {
		return c.nodes[i].parent
	}
	return uuid
}

// sayTheSame reports whether two lines say the same, whatever they hang below.
func sayTheSame(a, b []byte) bool {
	parts := func(text []byte) map[string]string {
		var values map[string]jsontext.Value
		if jsonscan.Exact.Unmarshal(text, &values) != nil {
			return nil
		}
		said := map[string]string{}
		for name, v := range values {
			switch name {
			case fieldParent, fieldSidechain, "sessionId", "agentId":
				continue
			}
			v = v.Clone()
			_ = v.Canonicalize() // else it has to be the same to the byte
			said[name] = string(v)
		}
		return said
	}
	one := parts(a)
	return one != nil && maps.Equal(one, parts(b))
}

// start is the place before the first line of a file.
const start = -2

// strayLines are those of a file whose items go to a session.
func strayLines(to *change.Session, p *part) (lines []int) {
	for i := range to.Items {
		if it := &to.Items[i]; it.Moves && p != nil && it.From == p.ID {
			lines = append(lines, p.lines[it.Was.Key]...)
		}
	}
	return lines
}

// bringHome moves strays of another file into this one. Each keeps what it hangs below, unless
// it was relinked: then that is the line before it. What is no message between them comes along.
func (f *rewrite) bringHome(from *rewrite, lines []int) error {
	first := &from.nodes[lines[0]]
	home, turn := first.home, first.isTurn()
	named := map[filelog.Name]filelog.Name{} // what the strays of this file say that they hang below
	for i := range from.nodes {
		n := &from.nodes[i]
		if n.home != home || n.replaced {
			continue
		}
		if n.uuid == 0 {
			lines = append(lines, i)
			continue
		}
		raw, _ := jsonedit.RawValue(from.storedLine(i), "/"+fieldParent)
		if named[n.uuid] = 0; string(raw) != "null" {
			named[n.uuid] = f.Name(strings.Trim(string(raw), `"`))
		}
		if n.kind == unsaid && !n.copied {
			lines = append(lines, i)
		}
	}
	if turn {
		return f.bringTurns(from, lines, named)
	}
	slices.SortStableFunc(lines, func(a, b int) int { return bytes.Compare(from.timestampOf(a), from.timestampOf(b)) })
	for _, i := range lines {
		n, values := &from.nodes[i], map[string][]byte{fieldSidechain: []byte("true")}
		if err := f.checkStray(n); err != nil {
			return err
		}
		stays := f.hangsInFile(n.uuid, named)
		at := f.placeOf(n.uuid, named[n.uuid], stays, from.timestampOf(i))
		if !stays {
			values[fieldParent] = f.lastUUID(at)
		}
		line := from.storedLine(i)
		for name, value := range values {
			var err error
			if line, err = jsonedit.SetValue(line, "/"+name, value); err != nil {
				return err
			}
		}
		from.removeLine(i)
		f.brought[n.uuid], f.latest[at] = at, n.uuid
		f.behind[at] = append(f.behind[at], line)
	}
	return nil
}

// checkStray says why a stray cannot come into this file.
func (f *rewrite) checkStray(n *node) error {
	if _, taken := f.at[n.uuid]; taken {
		return problem.New(problem.RolledBack, "", "the file that it belongs to has another line with the identifier %s", f.Text(n.uuid))
	}
	if n.message != 0 && slices.ContainsFunc(f.nodes, func(o node) bool { return o.message == n.message && o.home == 0 }) {
		return problem.New(problem.RolledBack, "", "line %s is a part of an answer whose other lines are in the file that it belongs to", f.Text(n.uuid))
	}
	return nil
}

// hangsInFile reports whether a stray hangs where it did in this file: from line to line among the
// strays it is led to the start or to a line of this file, and none of them was relinked.
func (f *rewrite) hangsInFile(uuid filelog.Name, named map[filelog.Name]filelog.Name) bool {
	for range len(named) + 1 {
		up, stray := named[uuid]
		own, here := f.at[uuid]
		switch {
		case !stray:
			return uuid == 0 || here
		case here && f.nodes[own].parent != up:
			return false
		}
		uuid = up
	}
	return false
}

// placeOf is the line behind which a stray comes: before the one that hangs below it, behind
// the one that it hangs below, or where its time says.
func (f *rewrite) placeOf(uuid, parent filelog.Name, belongs bool, time []byte) int {
	at, brought := f.brought[parent]
	above, here := f.at[parent]
	next := slices.IndexFunc(f.nodes, func(o node) bool { return o.parent == uuid && o.home == 0 })
	switch {
	case next == 0 || next < 0 && belongs && parent == 0:
		return start
	case next > 0:
		return next - 1
	case belongs && here:
		return int(above)
	case belongs && brought:
		return at
	}
	return f.lastBefore(time)
}

// lastBefore is the last line that was written before another one, by their times.
func (f *rewrite) lastBefore(at []byte) int {
	for i := len(f.nodes) - 1; i >= 0; i-- {
		if of := f.timestampOf(i); of != nil && bytes.Compare(of, at) <= 0 {
			return i
		}
	}
	return start
}

// timestampOf is when a line was written, as its text, which sorts like it.
func (f *rewrite) timestampOf(i int) []byte {
	at, _ := jsonedit.RawValue(f.storedLine(i), "/timestamp")
	return at
}

// lastUUID is the identifier of the last line up to a place, as JSON.
func (f *rewrite) lastUUID(at int) []byte {
	uuid := f.latest[at]
	for ; uuid == 0 && at >= 0; at-- {
		uuid = f.nodes[at].uuid
	}
	if uuid == 0 {
		return []byte("null")
	}
	return docedit.QuoteText(f.Text(uuid))
}

// findForeign tells lines that were written to the wrong transcript (anthropics/claude-code#30802)
// from those whose parent was lost. Such a line names another session (sessionId) than the line
// before it, and that session's file has its parent and not the line, or is not there. The parent of
// a line of this session may be in the file of another one, too. None of these is hung below what
// stands before it here unless that is allowed.
func (t *trunk) findForeign(ctx context.Context) error {
	for i := range t.chain.faults {
		f := &t.chain.faults[i]
		at, known := t.chain.at[t.chain.Name(f.Ref.Pointer)]
		if f.Default == nil || f.Remedy != "" || !known || t.piped != nil {
			continue
		}
		own, err := t.readLine(int(at))
		if err != nil {
			return err
		}
		before, err := t.readLine(int(t.chain.at[t.chain.Name(*f.Default)]))
		if err != nil {
			return err
		}
		names, foreign := t.listBeside(), own.Session != "" && own.Session != before.Session && own.Session+ending != path.Base(t.name)
		was := *f
		if foreign { // the line says itself whose it is
			names = slices.DeleteFunc(names, func(name string) bool { return name != own.Session+ending })
			f.Detail = fmt.Sprintf("line %s is a turn of session %s and names the parent %s, which neither has; Claude Code 2.1 sends it as the next turn of this session", own.UUID, own.Session, own.Parent)
			f.Remedy = takeOver
		}
		for _, name := range names {
			parent, copied, err := t.lookIn(ctx, path.Join(path.Dir(t.name), name), own, foreign)
			id := strings.TrimSuffix(name, ending)
			switch {
			case err != nil:
				return err
			case copied && foreign: // nothing tells it from a line whose parent was lost
				*f = was
			case !parent || copied:
				continue
			case foreign:
				f.Default = nil
				f.Detail = fmt.Sprintf("line %s is a turn of session %s, whose file has its parent %s; Claude Code 2.1 sends it as the next turn of this session", own.UUID, id, own.Parent)
				f.Remedy = fmt.Sprintf("close Claude Code, then repair the folder instead of this file: that moves the line and those below it into %s, to which they belong", name)
			default:
				f.Detail = fmt.Sprintf("line %s names the parent %s, which only the file of session %s has; Claude Code 2.1 goes on with the line before it, and sends nothing of that file", own.UUID, own.Parent, id)
				f.Remedy = takeOver
			}
			break
		}
	}
	return nil
}

const takeOver = "name the line before it as its parent, which makes it a turn of this session for good"

// readLine reads a line of the transcript.
func (t *trunk) readLine(i int) (line, error) {
	text, err := t.log.Window().Line(t.chain.nodes[i].lineSpan())
	l, _, _ := parseLine(text)
	return l, err
}

// listBeside lists the other transcripts of the project.
func (t *trunk) listBeside() (names []string) {
	entries, _ := fs.ReadDir(t.root.FS(), path.Dir(t.name))
	for _, e := range entries {
		if path.Ext(e.Name()) == ending && e.Name() != path.Base(t.name) && !e.IsDir() && !strings.HasPrefix(e.Name(), agentPrefix) {
			names = append(names, e.Name())
		}
	}
	return names
}

// mostBeside is how many bytes of other transcripts a run looks into for the parents of lines.
const mostBeside = 64 << 20

// besides are the identifiers of the lines of transcripts that were looked into.
type besides struct {
	sync.Mutex
	lines map[string]map[session.Digest]bool // by the name of the file
	read  int64
}

func newBesides() *besides { return &besides{lines: map[string]map[session.Digest]bool{}} }

// lookIn reports whether another transcript has the parent of a line, and the line itself. What
// cannot be read says nothing, nor what is too much or left out, unless the line names it.
func (t *trunk) lookIn(ctx context.Context, name string, l line, named bool) (parent, itself bool, err error) {
	t.besides.Lock()
	defer t.besides.Unlock()
	lines, known := t.besides.lines[name]
	if !known {
		info, err := t.root.Stat(name)
		if err != nil || !named && (t.facts.Left > 0 || t.besides.read+info.Size() > mostBeside) {
			return false, false, nil //nolint:nilerr // it is told where it is read for itself
		}
		log, err := t.file(name)
		if err != nil {
			return false, false, nil //nolint:nilerr // it is told where it is read for itself
		}
		defer func() { _ = log.Close() }()
		other, err := readChain(ctx, log, filelog.NewNames(), "")
		if err != nil {
			return false, false, err
		}
		lines = make(map[session.Digest]bool, len(other.at))
		for uuid := range other.at {
			lines[session.DigestOf(other.Text(uuid))] = true
		}
		t.besides.lines[name], t.besides.read = lines, t.besides.read+info.Size()
	}
	return lines[session.DigestOf(l.Parent)], lines[session.DigestOf(l.UUID)], nil
}

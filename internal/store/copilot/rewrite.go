package copilot

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/logstore"
)

// rewrite is what a repair makes of the lines of a file.
type rewrite struct {
	*reader
	at     map[string]int // the lines of items, by their keys
	gone   map[int]bool
	moved  map[int]bool // of these, those that come behind another line
	sets   map[int][]mend
	homes  map[int]int32 // lines that go to another agent
	behind map[int][]newLine
	added  map[[2]int]filelog.Name // the ids of new lines
	apart  map[*filelog.Run]bool
	start  bool // the first line is put back
}

// newLine is a line that comes behind another one: one that moves, or that of a result.
type newLine struct {
	line   int // that moves, or makes the call
	result *session.Result
}

// refuse is the problem with what no line can become.
func refuse(form string, args ...any) error {
	return problem.New(problem.RolledBack, "", form, args...)
}

// Compose implements logstore.Reading.
func (r *reader) Compose(all []*change.Session, parts []*logstore.Part) ([]filelog.Splice, error) {
	f := &rewrite{
		reader: r, at: map[string]int{}, gone: map[int]bool{}, moved: map[int]bool{}, sets: map[int][]mend{}, homes: map[int]int32{},
		behind: map[int][]newLine{}, added: map[[2]int]filelog.Name{}, apart: map[*filelog.Run]bool{},
	}
	for _, p := range parts {
		for key, span := range p.Lines {
			f.at[key], _ = slices.BinarySearchFunc(r.nodes, span.Offset, func(n node, at int64) int { return cmp.Compare(n.Offset, at) })
		}
	}
	for _, s := range all {
		a := slices.IndexFunc(parts, func(p *logstore.Part) bool { return p.ID == s.Is.ID })
		if a < 0 {
			return nil, refuse("a repair makes no session in %s", r.file.Name)
		}
		if err := f.rewriteSession(s, int32(a)); err != nil {
			return nil, err
		}
	}
	return f.collectSplices()
}

// rewriteSession makes the changes of one session.
func (f *rewrite) rewriteSession(s *change.Session, a int32) error {
	sets := s.Sets
	for _, it := range s.Removed {
		f.gone[f.at[it.Key]] = true
	}
	moved := change.MovedResults(s.Items)
	for at := range s.Items {
		it := &s.Items[at]
		says := slices.ContainsFunc(it.Values, func(v change.Value) bool { return v.Field != session.FieldPosition })
		if it.Part >= 0 || len(it.Taken) > 0 || it.Scrubbed || it.Shown || says {
			return refuse("a repair moves whole lines, and gives no call another id")
		}
		if sets = append(sets, it.Sets...); it.Moves {
			f.moveHome(f.at[it.Is.Key], a)
		}
		if it.Was == nil || moved[at] {
			if err := f.placeResult(s.Items, at); err != nil {
				return err
			}
		}
	}
	for _, e := range sets {
		if err := f.setValue(e); err != nil {
			return err
		}
	}
	return nil
}

// setValue takes in what an edit sets of a line.
func (f *rewrite) setValue(e session.Edit) error {
	if e.Field == "line 0" {
		f.start = true
		return nil
	}
	if at := slices.IndexFunc(f.runs, func(r *filelog.Run) bool { return r.Name() == e.Field }); at >= 0 {
		f.apart[f.runs[at]] = true
		return nil
	}
	_, pointer, named := strings.Cut(e.Field, " /")
	m, i, number := mend{flaw: flaw{pointer: "/" + pointer}}, len(f.nodes)-1, int32(0)
	_, _ = fmt.Sscanf(e.Field, "line %d", &number) // else no line has it
	for i >= 0 && (f.nodes[i].number != number || f.nameLine(i, m.pointer) != e.Field) {
		i--
	}
	if !named || i < 0 {
		return refuse("nothing sets %s", e.Field)
	}
	if e.Value != nil {
		m.value = *e.Value
	}
	f.sets[i] = append(f.sets[i], m)
	return nil
}

// moveHome makes a line one of another agent, with what belongs to it and is not sent.
func (f *rewrite) moveHome(i int, a int32) {
	f.homes[i] = a
	for k := range f.nodes {
		if n := &f.nodes[k]; n.in == f.nodes[i].in && n.home == a && !n.kind.isSent() && n.kind != unread {
			f.homes[k] = a
		}
	}
}

// placeResult puts a result behind the last line of its batch.
func (f *rewrite) placeResult(items []change.Item, at int) error {
	it := &items[at]
	made := at - 1
	for made >= 0 && (len(it.Is.Results) != 1 || items[made].Was == nil || !items[made].Is.MakesCall(it.Is.Results[0].CallID)) {
		made--
	}
	if made < 0 {
		return refuse("a repair adds and moves only results, each after its call")
	}
	call := f.at[items[made].Is.Key]
	last := call
	for k := made + 1; k < at; k++ {
		other := &items[k]
		if i := f.at[other.Is.Key]; other.Was != nil && len(other.Is.Results) > 0 && !f.gone[i] && !f.nodes[i].passed && items[made].Is.MakesCall(other.Is.Results[0].CallID) {
			last = max(last, i)
		}
	}
	if it.Was == nil {
		f.behind[last] = append(f.behind[last], newLine{call, &it.Is.Results[0]})
		return nil
	}
	if i := f.at[it.Is.Key]; i >= last || i <= call { // else another one is before it in the request only
		f.gone[i], f.moved[i], f.behind[last] = true, true, append(f.behind[last], newLine{line: i})
	}
	return nil
}

// lineAt is a line with what is set of it.
func (f *rewrite) lineAt(i int) ([]byte, error) {
	text, err := f.text.Line(f.nodes[i].Span)
	if err != nil {
		return nil, err
	}
	text = mended(text, f.sets[i]...)
	if a, goes := f.homes[i]; goes {
		text = f.relabel(text, f.nodes[i].kind, a)
	}
	return bytes.Clone(text), nil
}

// relabel makes a line one of another agent.
func (f *rewrite) relabel(text []byte, k kind, a int32) []byte {
	of := f.agents[a]
	agent, call := mend{flaw: flaw{pointer: "/agentId"}}, mend{flaw: flaw{pointer: "/data/parentToolCallId"}}
	if a > 0 && of.key != of.call {
		agent.value = quoted(f.Text(of.key))
	}
	if a > 0 && slices.Contains([]kind{answer, result, began, turnStart, turnEnd}, k) {
		call.value = quoted(f.Text(of.call))
	}
	return mended(text, call, agent)
}

// collectSplices collects the changes of the file.
func (f *rewrite) collectSplices() ([]filelog.Splice, error) {
	w := filelog.Rewrite{Lines: map[int64]*filelog.Rewritten{}, Runs: f.runs, Apart: f.apart}
	parents := f.relinked()
	for i := range f.nodes {
		parent, relinked := parents[i]
		_, goes := f.homes[i]
		if !f.gone[i] && !relinked && !goes && len(f.sets[i])+len(f.behind[i]) == 0 && (i > 0 || !f.start) {
			continue
		}
		l := &filelog.Rewritten{Span: f.nodes[i].Span}
		w.Lines[l.Offset] = l
		if i == 0 && f.start {
			l.Texts = append(l.Texts, f.startLine(f.text))
		}
		if !f.gone[i] {
			text, err := f.lineAt(i)
			if err != nil {
				return nil, err
			}
			if relinked {
				text = mended(text, mend{flaw: flaw{pointer: "/parentId"}, value: f.parentValue(parent)})
			}
			l.Texts = append(l.Texts, text)
		}
		for k := range f.behind[i] {
			text, err := f.composeLine(i, k)
			if err != nil {
				return nil, err
			}
			l.Texts = append(l.Texts, text)
		}
	}
	return w.Splices(f.file.Log)
}

func (f *rewrite) parentValue(id filelog.Name) string { return cmp.Or(quoted(f.Text(id)), "null") }

// relinked are the lines that name another one before them now: the one before a line that leaves, or a
// new one.
func (f *rewrite) relinked() map[int]filelog.Name {
	parents, above, stays := map[int]filelog.Name{}, map[filelog.Name]filelog.Name{}, map[filelog.Name]bool{}
	for i := range f.nodes {
		n := &f.nodes[i]
		if f.gone[i] && !f.moved[i] {
			above[n.id] = n.parent
		} else {
			stays[n.id] = true
		}
	}
	for i := range f.nodes {
		parent := f.nodes[i].parent
		for range above { // which may lead in a circle
			up, gone := above[parent]
			if !gone || parent == 0 || stays[parent] {
				break
			}
			parent, parents[i] = up, up
		}
		for k := range f.behind[max(0, i-1)] {
			if id := f.lineID(i-1, k); i > 0 && id != 0 && f.nodes[i].parent != id {
				parents[i] = id
			}
		}
	}
	return parents
}

// lineID is the id of a new line: that which the next line names and no line has, else a new one; 0 for a line
// that has its own.
func (f *rewrite) lineID(i, k int) filelog.Name {
	of, at := f.behind[i][k], [2]int{i, k}
	switch {
	case of.result == nil || f.keptOf(of.result) != nil:
		return 0
	case k == len(f.behind[i])-1 && i+1 < len(f.nodes) && f.nodes[i+1].parent != 0 && f.ids[f.nodes[i+1].parent] == 0:
		return f.nodes[i+1].parent
	case f.added[at] == 0:
		f.added[at] = f.Name(f.DeriveUUID(f.Text(f.nodes[of.line].id) + "\n" + of.result.CallID))
	}
	return f.added[at]
}

// keptOf is the line of a backup that holds a result, nil for none.
func (f *rewrite) keptOf(r *session.Result) []byte {
	for _, k := range f.kept {
		if !r.Synthetic && slices.Contains(k.fault.Calls, r.CallID) && *k.fault.Default == r.Text {
			return k.text
		}
	}
	return nil
}

// composeLine composes a new line, as Copilot CLI writes the result of a call that was interrupted.
func (f *rewrite) composeLine(i, k int) ([]byte, error) {
	of := f.behind[i][k]
	if of.result == nil {
		return f.lineAt(of.line)
	}
	if kept := f.keptOf(of.result); kept != nil {
		return kept, nil
	}
	parent := f.nodes[i].id
	if k > 0 {
		parent = cmp.Or(f.lineID(i, k-1), parent)
	}
	said := `"result":{"content":%s}`
	if of.result.IsError {
		said = `"error":{"message":%s,"code":"interrupted"}`
	}
	line := fmt.Appendf(nil, `{"type":"tool.execution_complete","data":{"toolCallId":%s,"model":"resumed","interactionId":"resume","success":%t,`+said+`},"id":%s,"timestamp":%s,"parentId":%s}`,
		docedit.QuoteText(of.result.CallID), !of.result.IsError, docedit.QuoteText(of.result.Text), quoted(f.Text(f.lineID(i, k))), f.nearestTime(i+1, f.text), f.parentValue(parent))
	a := f.nodes[of.line].in
	if to, goes := f.homes[of.line]; goes {
		a = to
	}
	if a > 0 {
		line = f.relabel(line, result, a)
	}
	return line, nil
}

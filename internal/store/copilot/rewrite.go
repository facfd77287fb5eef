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
	gone   map[int]bool      // lines that leave their places
	moved  map[int]bool      // of these, those that come behind others
	sets   map[int][]mend    // values of lines
	homes  map[int]int32     // lines that go to another agent
	behind map[int][]newLine // what comes behind a line
	apart  map[*filelog.Run]bool
	back   map[filelog.Name]bool // the ids of lines of backups that were put back so far
	start  bool                  // the first line is put back
}

// newLine is a line that comes behind another one: one that moves, or that of a result.
type newLine struct {
	line   int // that moves, or makes the call
	result *session.Result
	kept   []byte // the line of a backup that holds the result
}

// refuse is the problem with what no line can become.
func refuse(form string, args ...any) error {
	return problem.New(problem.RolledBack, "", form, args...)
}

// Compose implements logstore.Reading.
func (r *reader) Compose(all []*change.Session, parts []*logstore.Part) ([]filelog.Splice, error) {
	f := &rewrite{
		reader: r, gone: map[int]bool{}, moved: map[int]bool{}, sets: map[int][]mend{}, homes: map[int]int32{}, behind: map[int][]newLine{}, apart: map[*filelog.Run]bool{}, back: map[filelog.Name]bool{},
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
	run := slices.IndexFunc(f.runs, func(r *filelog.Run) bool { return r.Name() == e.Field })
	i, known := f.places[e.Field]
	_, pointer, _ := strings.Cut(e.Field, " /")
	switch {
	case e.Field == firstLine:
		f.start = true
	case run >= 0:
		f.apart[f.runs[run]] = true
	case known:
		m := mend{pointer: "/" + pointer}
		if e.Value != nil {
			m.value = *e.Value
		}
		for _, found := range f.mendsOf(i) {
			if found.pointer == m.pointer { // of which a plan may hold no text
				m = found
			}
		}
		f.sets[i] = append(f.sets[i], m)
	default:
		return refuse("nothing sets %s", e.Field)
	}
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
	for _, other := range items[made+1 : at] {
		i := f.at[other.Is.Key]
		if other.Was != nil && len(other.Is.Results) > 0 && !f.gone[i] && !f.nodes[i].passed && items[made].Is.MakesCall(other.Is.Results[0].CallID) {
			last = max(last, i)
		}
	}
	if it.Was == nil {
		f.behind[last] = append(f.behind[last], newLine{call, &it.Is.Results[0], f.keptLine(&it.Is.Results[0])})
	} else if i := f.at[it.Is.Key]; i >= last || i <= call { // else another one is before it in the request only
		f.gone[i], f.moved[i], f.behind[last] = true, true, append(f.behind[last], newLine{line: i})
	}
	return nil
}

// leavingIDs are the ids that no line has afterwards.
func (f *rewrite) leavingIDs() map[filelog.Name]bool {
	leave := map[filelog.Name]bool{}
	for i := range f.gone {
		leave[f.nodes[i].id] = true
	}
	for i := range f.nodes {
		if !f.gone[i] || f.moved[i] {
			delete(leave, f.nodes[i].id)
		}
	}
	delete(leave, 0)
	return leave
}

// collectSplices collects the changes of the file. A line behind one that is new, and one whose parent leaves, has the line
// before it as its parent.
func (f *rewrite) collectSplices() ([]filelog.Splice, error) {
	w := filelog.Rewrite{Lines: map[int64]*filelog.Rewritten{}, Runs: f.runs, Apart: f.apart}
	leave, last, added := f.leavingIDs(), filelog.Name(0), filelog.Name(0) // last is the line before, and added it where it is new
	for i := range f.nodes {
		n, l := &f.nodes[i], &filelog.Rewritten{Span: f.nodes[i].Span}
		changes := f.gone[i] || len(f.sets[i])+len(f.behind[i]) > 0
		if i == 0 && f.start {
			changes, l.Texts = true, append(l.Texts, f.startLine())
		}
		var sets []mend
		if n.id != 0 && !f.gone[i] {
			if parent := n.parent; leave[parent] || added != 0 && parent != added {
				changes, sets = true, append(sets, mend{pointer: "/parentId", value: f.parentValue(last)})
			}
			last, added = n.id, 0
		}
		if _, goes := f.homes[i]; !changes && !goes {
			continue
		}
		if !f.gone[i] {
			text, err := f.lineAt(i, sets...)
			if err != nil {
				return nil, err
			}
			l.Texts = append(l.Texts, text)
		}
		for k, of := range f.behind[i] {
			text, err := of.kept, error(nil)
			switch {
			case of.result == nil:
				text, err = f.lineAt(of.line)
			case text == nil:
				added = f.newID(i, &of, k == len(f.behind[i])-1)
				text, last = f.composeLine(i, &of, last, added), added
			default:
				e := parseEvent(text)
				id, parent := f.Name(textOf(e.ID)), f.Name(textOf(e.Parent))
				if parent != 0 && f.ids[parent] == 0 && !f.back[parent] {
					text = mended(bytes.Clone(text), mend{pointer: "/parentId", value: f.parentValue(last)})
				}
				f.back[id], last = true, id
			}
			if err != nil {
				return nil, err
			}
			l.Texts = append(l.Texts, text)
		}
		w.Lines[l.Offset] = l
	}
	return w.Splices(f.file.Log)
}

func (f *rewrite) parentValue(id filelog.Name) string { return cmp.Or(quoted(f.Text(id)), "null") }

// lineAt is a line with what is set of it, and at last what else is.
func (f *rewrite) lineAt(i int, last ...mend) ([]byte, error) {
	text, err := f.text.Line(f.nodes[i].Span)
	if err != nil {
		return nil, err
	}
	text = mended(text, f.sets[i]...)
	if a, goes := f.homes[i]; goes {
		text = mended(text, f.labelsOf(f.nodes[i].kind, a)...)
	}
	return bytes.Clone(mended(text, last...)), nil
}

// labelsOf make a line one of an agent.
func (f *rewrite) labelsOf(k kind, a int32) []mend {
	of := f.agents[a]
	call, agent := mend{pointer: "/data/parentToolCallId"}, mend{pointer: "/agentId"}
	if a > 0 && of.key != of.call {
		agent.value = quoted(f.Text(of.key))
	}
	if a > 0 && slices.Contains([]kind{answer, result, began, turnStart, turnEnd}, k) {
		call.value = quoted(f.Text(of.call))
	}
	return []mend{call, agent}
}

// newID is the id of a new line: for the last one behind a line that which the next line names and no line has.
func (f *rewrite) newID(i int, of *newLine, isLast bool) filelog.Name {
	if next := i + 1; isLast && next < len(f.nodes) && f.nodes[next].parent != 0 && f.ids[f.nodes[next].parent] == 0 {
		return f.nodes[next].parent
	}
	return f.Name(f.DeriveUUID(f.Text(f.nodes[of.line].id) + "\n" + of.result.CallID))
}

// keptLine is the line of a backup that holds a result, nil for none.
func (f *rewrite) keptLine(r *session.Result) []byte {
	for _, k := range f.kept {
		if !r.Synthetic && slices.Contains(k.fault.Calls, r.CallID) && *k.fault.Default == r.Text {
			return k.text
		}
	}
	return nil
}

// composeLine composes the line of a result, as Copilot CLI writes that of a call that was interrupted.
func (f *rewrite) composeLine(i int, of *newLine, before, id filelog.Name) []byte {
	said := `"result":{"content":%s}`
	if of.result.IsError {
		said = `"error":{"message":%s,"code":"interrupted"}`
	}
	line := fmt.Appendf(nil, `{"type":"tool.execution_complete","data":{"toolCallId":%s,"model":"resumed","interactionId":"resume","success":%t,`+said+`},"id":%s,"timestamp":%s,"parentId":%s}`,
		docedit.QuoteText(of.result.CallID), !of.result.IsError, docedit.QuoteText(of.result.Text), quoted(f.Text(id)), f.nearestTime(i+1), f.parentValue(before))
	a, goes := f.homes[of.line]
	if !goes {
		a = f.nodes[of.line].in
	}
	if a > 0 {
		line = mended(line, f.labelsOf(result, a)...)
	}
	return line
}

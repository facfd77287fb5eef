package copilot

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// rewrite is what a repair makes of the lines of a file. No other byte changes.
type rewrite struct {
	*reader
	gone   map[int]bool
	moved  map[int]bool   // of these, those that come behind another line
	sets   map[int][]mend // values of lines
	homes  map[int]int32  // lines that go to another agent
	behind map[int][]newLine
	apart  map[*filelog.Run]bool
	added  map[[2]int]filelog.Name // the ids of new lines
	start  bool                    // the first line is put back
}

// newLine is a line that comes behind another one: the one of a result, or as it is.
type newLine struct {
	text   []byte
	call   int // the line of the call
	result *session.Result
}

// refuse is the problem with what no line can become.
func refuse(form string, args ...any) error {
	return problem.New(problem.RolledBack, "", form, args...)
}

// composeEdits composes what becomes of the file of a tree.
func (c *copilot) composeEdits(ctx context.Context, tree *store.Change) (name string, edits []filelog.Splice, err error) {
	all, err := change.CompareSessions(tree)
	if err != nil {
		return "", nil, err
	}
	at := slices.IndexFunc(c.list, func(name string) bool { return c.sessionOf(name) == tree.Before.Root().ID })
	if at < 0 {
		return "", nil, refuse("session %s cannot be changed: the store has no session with that id", tree.Before.Root().ID)
	}
	r, release, err := c.openLog(ctx, c.list[at], false)
	if r == nil {
		return "", nil, cmp.Or(err, refuse("%s is empty", c.list[at]))
	}
	defer release()
	parts, err := r.readParts()
	if err != nil {
		return "", nil, err
	}
	f := &rewrite{reader: r, gone: map[int]bool{}, moved: map[int]bool{}, sets: map[int][]mend{}, homes: map[int]int32{}, behind: map[int][]newLine{}, apart: map[*filelog.Run]bool{}, added: map[[2]int]filelog.Name{}}
	lines := map[string]int{}
	for _, p := range parts {
		for key, i := range p.lines {
			lines[key] = i
		}
	}
	for _, s := range all {
		a := slices.IndexFunc(parts, func(p *part) bool { return p.ID == s.Is.ID })
		if a < 0 {
			return "", nil, refuse("a repair makes no session in %s", r.name)
		}
		if err := f.rewriteSession(s, int32(a), lines); err != nil {
			return "", nil, err
		}
	}
	edits, err = f.collectSplices()
	return r.name, edits, err
}

// rewriteSession makes the changes of one session.
func (f *rewrite) rewriteSession(s *change.Session, a int32, lines map[string]int) error {
	for _, e := range s.Sets {
		if err := f.setValue(e); err != nil {
			return err
		}
	}
	for _, it := range s.Removed {
		i := lines[it.Key]
		f.gone[i] = true
	}
	moved := change.MovedResults(s.Items)
	for at := range s.Items {
		it := &s.Items[at]
		if it.Was == nil || moved[at] {
			if err := f.placeResult(s.Items, at, lines); err != nil {
				return err
			}
		}
		if it.Was != nil {
			if err := f.rewriteItem(it, a, lines[it.Is.Key]); err != nil {
				return err
			}
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
	for _, run := range f.runs {
		if e.Field == nameRun(run) {
			f.apart[run] = true
			return nil
		}
	}
	_, pointer, named := strings.Cut(e.Field, " /")
	pointer = "/" + pointer
	i := len(f.nodes) - 1
	for i >= 0 && f.nameLine(i, pointer) != e.Field {
		i--
	}
	if !named || i < 0 {
		return refuse("nothing sets %s", e.Field)
	}
	m := mend{flaw: flaw{pointer: pointer}, value: e.Value}
	if e.Value != nil && *e.Value == "" {
		m.value = nil
	}
	f.sets[i] = append(f.sets[i], m)
	return nil
}

// rewriteItem makes the changes of the line of an item.
func (f *rewrite) rewriteItem(it *change.Item, a int32, i int) error {
	for _, e := range it.Sets {
		if err := f.setValue(e); err != nil {
			return err
		}
	}
	says := slices.ContainsFunc(it.Values, func(v change.Value) bool { return v.Field != session.FieldPosition })
	if it.Part >= 0 || len(it.Taken) > 0 || it.Scrubbed || it.Shown || says {
		return refuse("a repair moves whole lines, and gives no call another id")
	}
	if !it.Moves {
		return nil
	}
	from := f.nodes[i].in
	f.homes[i] = a
	for k := range f.nodes { // what belongs to it, and is not sent
		if n := &f.nodes[k]; n.in == from && n.home == a && !n.kind.isSent() && n.kind != unread {
			f.homes[k] = a
		}
	}
	return nil
}

// placeResult puts a result behind the last line of its batch.
func (f *rewrite) placeResult(items []change.Item, at int, lines map[string]int) error {
	it := &items[at]
	if len(it.Is.Results) != 1 || it.Is.Role != session.Tool {
		return refuse("a repair adds and moves only results")
	}
	made := at - 1
	for made >= 0 && (items[made].Was == nil || !items[made].Is.MakesCall(it.Is.Results[0].CallID)) {
		made--
	}
	if made < 0 {
		return refuse("the call %q of a result is not before it", it.Is.Results[0].CallID)
	}
	call := lines[items[made].Is.Key]
	last := call
	for k := made + 1; k < at; k++ {
		if i, there := lines[items[k].Is.Key]; there && items[k].Was != nil && len(items[k].Is.Results) > 0 && !f.gone[i] && !f.nodes[i].passed && items[made].Is.MakesCall(items[k].Is.Results[0].CallID) {
			last = max(last, i)
		}
	}
	if it.Was == nil {
		f.behind[last] = append(f.behind[last], newLine{call: call, result: &it.Is.Results[0]})
		return nil
	}
	i := lines[it.Is.Key]
	if i < last && i > call { // another one is before it in the request only
		return nil
	}
	text, err := f.lineAt(i)
	f.gone[i], f.moved[i], f.behind[last] = true, true, append(f.behind[last], newLine{text: bytes.Clone(text)})
	return err
}

// lineAt is a line with what is set of it.
func (f *rewrite) lineAt(i int) ([]byte, error) {
	text, err := f.text.Line(f.nodes[i].Span)
	if err != nil {
		return nil, err
	}
	text = mended(text, f.sets[i])
	if a, goes := f.homes[i]; goes {
		text = f.relabel(text, f.nodes[i].kind, a)
	}
	return text, nil
}

// relabel makes a line one of another agent.
func (f *rewrite) relabel(text []byte, k kind, a int32) []byte {
	of := f.agents[a]
	agent, call := mend{flaw: flaw{pointer: "/agentId"}}, mend{flaw: flaw{pointer: "/data/parentToolCallId"}}
	if a > 0 && of.key != of.call {
		agent.value = new(string(docedit.QuoteText(f.Text(of.key))))
	}
	if a > 0 && of.call != 0 && slices.Contains([]kind{answer, result, began, turnStart, turnEnd}, k) {
		call.value = new(string(docedit.QuoteText(f.Text(of.call))))
	}
	return mended(text, []mend{call, agent})
}

// collectSplices collects the changes of the file, in their order.
func (f *rewrite) collectSplices() (list []filelog.Splice, err error) {
	add := func(at int64, was, is []byte) {
		if s := filelog.Change(int(at), bytes.Clone(was), is); len(s.Was)+len(s.Is) > 0 {
			list = append(list, s)
		}
	}
	if f.start {
		add(f.nodes[0].Offset, nil, append(f.startLine(f.text), '\n'))
	}
	parents := f.relinked()
	for i := 0; i < len(f.nodes); i++ {
		n := &f.nodes[i]
		if run := f.runOf(i); run != nil {
			last := i
			for last+1 < len(f.nodes) && f.runOf(last+1) == run {
				last++
			}
			was := make([]byte, run.Length)
			if _, err := f.source.Bytes().ReadAt(was, run.Offset); err != nil {
				return nil, err
			}
			is, touched, err := f.takeApart(run, i, was, parents)
			switch {
			case err != nil:
				return nil, err
			case f.apart[run]:
				add(run.Offset, was, is)
			case touched:
				return nil, refuse("the record is on %s, whose records have to be parted first (SC010)", nameRun(run))
			}
			i = last
			continue
		}
		is, changed, err := f.newText(i, parents)
		if err != nil {
			return nil, err
		}
		was := make([]byte, n.Length+int(n.Rest))
		if !changed {
			continue
		}
		if _, err := f.source.Bytes().ReadAt(was, n.Offset); err != nil {
			return nil, err
		}
		end := was[n.Length:]
		if len(f.behind[i]) > 0 && !bytes.HasSuffix(end, []byte("\n")) {
			end = []byte("\n")
		}
		if len(is) == 0 {
			end = nil
		}
		add(n.Offset, was, append(is, end...))
	}
	return list, nil
}

// newText is what becomes of a line, with those that come behind it.
func (f *rewrite) newText(i int, parents map[int]filelog.Name) (text []byte, changed bool, err error) {
	var all [][]byte
	_, relinked := parents[i]
	_, goes := f.homes[i]
	if !f.gone[i] {
		if text, err = f.lineAt(i); err != nil {
			return nil, false, err
		}
		if relinked {
			text = mended(text, []mend{{flaw: flaw{pointer: "/parentId"}, value: new(string(f.parentValue(parents[i])))}})
		}
		all = append(all, bytes.Clone(text))
	}
	for k := range f.behind[i] {
		line, err := f.composeLine(i, k)
		if err != nil {
			return nil, false, err
		}
		all = append(all, line)
	}
	return bytes.Join(all, []byte("\n")), f.gone[i] || relinked || goes || len(f.sets[i])+len(f.behind[i]) > 0, nil
}

func (f *rewrite) parentValue(id filelog.Name) []byte {
	if id == 0 {
		return []byte("null")
	}
	return docedit.QuoteText(f.Text(id))
}

// takeApart puts the records of a run on lines of their own; first is its first line.
func (f *rewrite) takeApart(run *filelog.Run, first int, was []byte, parents map[int]filelog.Name) (is []byte, touched bool, err error) {
	var all [][]byte
	for _, piece := range run.Pieces {
		i, known := slices.BinarySearchFunc(f.nodes[first:], piece.Offset, func(n node, at int64) int { return cmp.Compare(n.Offset, at) })
		if !known {
			at := piece
			at.Offset -= run.Offset
			all = append(all, bytes.Clone(at.In(was)))
			continue
		}
		text, changed, err := f.newText(first+i, parents)
		if err != nil {
			return nil, false, err
		}
		if touched = touched || changed; len(text) > 0 {
			all = append(all, text)
		}
	}
	return bytes.Join(all, []byte("\n")), touched, nil
}

// runOf is the run that a line is a piece of, nil for none.
func (f *rewrite) runOf(i int) *filelog.Run {
	at, exact := slices.BinarySearchFunc(f.runs, f.nodes[i].Offset, func(r *filelog.Run, at int64) int { return cmp.Compare(r.Offset, at) })
	if !exact {
		at--
	}
	if at < 0 || f.nodes[i].Offset >= f.runs[at].Offset+int64(f.runs[at].Length) {
		return nil
	}
	return f.runs[at]
}

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
	of := f.behind[i][k]
	switch {
	case of.result == nil || f.keptOf(of.result) != nil:
		return 0
	case k == len(f.behind[i])-1 && i+1 < len(f.nodes) && f.nodes[i+1].parent != 0 && !f.hasLine(f.nodes[i+1].parent):
		return f.nodes[i+1].parent
	}
	at := [2]int{i, k}
	if f.added[at] == 0 {
		f.added[at] = f.Name(f.deriveUUID(f.Text(f.nodes[of.call].id) + "\n" + of.result.CallID))
	}
	return f.added[at]
}

// keptOf is the line of a backup that holds a result.
func (f *rewrite) keptOf(r *session.Result) *keptLine {
	for k := range f.kept {
		if of := &f.kept[k]; of.call == r.CallID && of.answer == r.Text && !r.Synthetic {
			return of
		}
	}
	return nil
}

// composeLine composes a new line, as Copilot CLI writes the result of a call that was interrupted.
func (f *rewrite) composeLine(i, k int) ([]byte, error) {
	of := f.behind[i][k]
	if of.result == nil {
		return of.text, nil
	}
	if kept := f.keptOf(of.result); kept != nil {
		return []byte(kept.text), nil
	}
	before := f.eventAt(i, f.text)
	parent := f.nodes[i].id
	if k > 0 {
		parent = cmp.Or(f.lineID(i, k-1), parent)
	}
	data := fmt.Appendf(nil, `{"toolCallId":%s,"model":"resumed","interactionId":"resume","success":%t,`, docedit.QuoteText(of.result.CallID), !of.result.IsError)
	if text := docedit.QuoteText(of.result.Text); of.result.IsError {
		data = fmt.Appendf(data, `"error":{"message":%s,"code":"interrupted"}}`, text)
	} else {
		data = fmt.Appendf(data, `"result":{"content":%s}}`, text)
	}
	stamp := before.Time
	if stamp.Kind() != '"' {
		stamp = jsontext.Value(f.nearestTime(i, f.text))
	}
	line := fmt.Appendf(nil, `{"type":"tool.execution_complete","data":%s,"id":%s,"timestamp":%s,"parentId":%s}`, data, docedit.QuoteText(f.Text(f.lineID(i, k))), stamp, f.parentValue(parent))
	a := f.nodes[of.call].in
	if to, goes := f.homes[of.call]; goes {
		a = to
	}
	if a > 0 {
		line = f.relabel(line, result, a)
	}
	return line, nil
}

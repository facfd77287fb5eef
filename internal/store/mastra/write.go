package mastra

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// columnPatch is what a change of an event makes of the row that it is of: others of the row may
// change, too.
const columnPatch = "patch"

// patch gives values in the content of a row others, nil for none; closed is a call that gets its
// result, and of the event of that call.
type patch struct {
	values []value
	closed string
	of     table.Place
}

type value struct {
	at docedit.Spot
	is jsontext.Value
}

// timeForm is how Mastra writes times.
const timeForm = "2006-01-02T15:04:05.000Z"

var content = docedit.Spot{Column: "content"}

// editor writes changes of events into the rows that they are of.
type editor struct {
	eventlog.Through
	view *joined
}

// Update implements table.Writer. A row that goes to another thread becomes its resource's: Mastra
// asks for both.
func (e *editor) Update(ctx context.Context, name string, at table.Place, fields []table.FieldChange) error {
	switch name {
	case tableMessages:
	case tableThreads:
		from, row := e.view.SourceOf(at)
		if from.Table == "" {
			return e.addThread(ctx, from.Made[row], fields)
		}
		at = row
		fallthrough
	default:
		return e.Editor.Update(ctx, name, at, fields)
	}
	var own []table.FieldChange
	edit := func(name string, edited func(old table.Value) (table.Value, error)) error {
		old, err := docedit.ReadStored(ctx, e.Editor.Reader(), tableMessages, at>>packing, name)
		if err != nil {
			return err
		}
		is, err := edited(old[0])
		own = append(own, table.FieldChange{Name: name, Old: old[0], New: is})
		return err
	}
	for _, f := range fields {
		var err error
		if p, patched := f.New.(patch); patched {
			err = edit(content.Column, p.applyTo)
		} else if packing.NumberOf(int64(at)) == 0 { // the first event takes the others along
			own = append(own, f)
			if f.Name == "thread_id" && slices.Contains(e.view.columns, fieldResource) {
				err = edit(fieldResource, func(table.Value) (table.Value, error) { return e.view.threads[column.View(f.New)], nil })
			}
		}
		if err != nil {
			return err
		}
	}
	if own = slices.DeleteFunc(own, func(f table.FieldChange) bool { return table.SameValue(f.Old, f.New) }); len(own) == 0 {
		return nil
	}
	return e.Editor.Update(ctx, tableMessages, at>>packing, own)
}

// addThread makes the row of a thread that has none.
func (e *editor) addThread(ctx context.Context, row table.Image, fields []table.FieldChange) error {
	schema, err := e.Editor.Reader().Schema(ctx)
	if err != nil {
		return err
	}
	row = maps.Clone(row)
	row["title"] = ""
	for _, f := range fields {
		row[f.Name] = f.New
	}
	_, err = e.Editor.Insert(ctx, tableThreads, row.FieldsOf(schema.Columns(tableThreads)))
	return err
}

// Delete implements table.Writer. What else a row is goes with it.
func (e *editor) Delete(ctx context.Context, name string, at table.Place) error {
	if name == tableMessages {
		if packing.NumberOf(int64(at)) != 0 {
			return nil
		}
		at >>= packing
	}
	return e.Editor.Delete(ctx, name, at)
}

// Insert implements table.Writer. The result of a call of format 2 goes into the row of its call.
func (e *editor) Insert(ctx context.Context, name string, row []table.Field) (table.Place, error) {
	if name != tableMessages {
		return e.Editor.Insert(ctx, name, row)
	}
	var own []table.Field
	for _, f := range row {
		if p, patched := f.Value.(patch); patched {
			return p.of, e.Update(ctx, name, p.of, []table.FieldChange{{Name: columnPatch, New: p}})
		}
		if slices.Contains(e.view.columns, f.Name) {
			own = append(own, f)
		}
	}
	at, err := e.Editor.Insert(ctx, name, own)
	return at << packing, err
}

// applyTo is a content after a change. The copies that older releases read leave: Mastra sends from
// parts only, and they would say otherwise.
func (p patch) applyTo(old table.Value) (table.Value, error) {
	doc := docedit.NewRow(docedit.Whole{Column: content.Column, Text: column.Bytes(old)})
	gone := []docedit.Spot{content.Member("toolInvocations")}
	for _, list := range []string{"pendingToolApprovals", "suspendedTools"} {
		at := content.Member("metadata").Member(list)
		var waits map[string]wait
		_ = jsonscan.Exact.Unmarshal(doc.Raw(at), &waits) // what is no list of those has none
		for key, w := range waits {
			if w.Call == p.closed && p.closed != "" {
				gone = append(gone, at.Member(key))
			}
		}
	}
	for _, at := range gone {
		if doc.Raw(at) != nil {
			p.values = append(p.values, value{at, nil})
		}
	}
	for _, v := range p.values {
		if err := doc.Put(v.at, v.is); err != nil {
			return nil, err
		}
	}
	return column.Like(old, string(doc.Document(content.Column))), nil
}

// callAt is where the nth call or result of an event is.
func (e event) callAt(nth int, results bool) docedit.Spot {
	for k := e.from; k < e.to; k++ {
		p := &e.parts[k]
		if c := p.toolInvocation(); c == nil || results && e.result < 0 && (!c.hasEnded() || !p.Server && !e.first) {
			continue
		}
		if nth--; nth >= 0 {
			continue
		}
		if e.first {
			return docedit.Spot{Column: content.Column}.Element(k)
		}
		return content.Member("parts").Element(k).Member("toolInvocation")
	}
	return content.Member("nowhere")
}

// updateEvent is the difference of an event that a repair changed. A call and its result are in one
// place: what names the call names both.
func updateEvent(r *docedit.Row, c *change.Item) error {
	e := r.Value(eventlog.ColumnEvent).(event)
	refuse := func(what string) error {
		return problem.New(problem.RolledBack, "", "a store of this kind cannot change %s", what)
	}
	var values []value
	for _, v := range c.Values {
		switch {
		case v.Field == change.FieldDelegation, v.Of == change.OfResult && v.Field == session.FieldResultID && !e.first:
		case v.Of == change.OfItem && v.Field == session.FieldText && !e.first && (v.Is == "" || v.Is == v.Was):
			for k := e.from; k < e.to; k++ {
				if p := e.parts[k]; p.Type == typeText && strings.TrimSpace(p.Text) == "" {
					values = append(values, value{content.Member("parts").Element(k).Member("text"), jsontext.Value(`""`)}) // which is not sent
				}
			}
		case v.Of == change.OfCall && v.Field == session.FieldCallID, v.Of == change.OfResult && v.Field == session.FieldResultID:
			values = append(values, value{e.callAt(v.Nth, v.Of == change.OfResult).Member("toolCallId"), docedit.QuoteText(v.Is)})
		case v.Of == change.OfCall && v.Field == change.FieldArgs:
			values = append(values, value{e.callAt(v.Nth, false).Member("args"), jsontext.Value(v.Is)})
		case v.Of == change.OfResult && v.Field == session.FieldChild:
			values = append(values, value{e.callAt(v.Nth, true).Member("result").Member(childMember), docedit.QuoteText(v.Is)})
		default:
			return refuse(v.Name())
		}
	}
	if c.Scrubbed || c.Shown {
		return refuse("bytes that are not valid Unicode, or U+0000")
	}
	for _, nth := range slices.Backward(c.Taken) {
		if !e.first {
			return refuse("where the result of a call is: it is stored with the call")
		}
		values = append(values, value{e.callAt(nth, true), nil})
	}
	if len(values) > 0 {
		r.Set(columnPatch, patch{values: values})
	}
	return nil
}

// insertResult is a new result: a row of its own in format 1, and in format 2 a part of its call.
func (r *reader) insertResult(s *session.Session, it *session.Item, near *docedit.Row, _ string) ([]table.Field, error) {
	e, res := near.Value(eventlog.ColumnEvent).(event), &it.Results[0]
	if e.first {
		at := time.UnixMilli(it.Position >> packing.PositionBits()).UTC().Format(timeForm)
		result := `[{"type":"tool-result","toolCallId":` + string(docedit.QuoteText(res.CallID)) + `,"toolName":` + string(docedit.QuoteText(s.ToolBefore(it, res.CallID))) +
			`,"result":` + string(docedit.QuoteText(res.Text)) + `}]`
		return []table.Field{
			{Name: content.Column, Value: result}, {Name: "role", Value: "tool"}, {Name: "type", Value: "tool-result"},
			{Name: fieldTime, Value: at}, {Name: fieldTime + "Z", Value: at}, {Name: fieldResource, Value: r.threads[s.ID]}, {Name: eventlog.ColumnPosition, Value: it.Position},
		}, nil
	}
	found := -1
	for k := range e.parts {
		if c := e.parts[k].toolInvocation(); c != nil && c.ID == res.CallID && !c.hasEnded() {
			if found >= 0 {
				return nil, problem.New(problem.RolledBack, "", "two calls of the message share an id, and which of them the result is for is told by their places only")
			}
			found = k
		}
	}
	if found < 0 {
		return nil, problem.New(problem.RolledBack, "Check the store again.", "message %s has no call %s without a result", e.id, res.CallID)
	}
	p := patch{closed: res.CallID, of: e.place << packing}
	set := func(name, is string) {
		p.values = append(p.values, value{content.Member("parts").Element(found).Member("toolInvocation").Member(name), jsontext.Value(is)})
	}
	text, child := string(docedit.QuoteText(res.Text)), r.childOf(s, e.message, res.CallID)
	switch newer := slices.ContainsFunc(e.parts, func(p part) bool { return p.Created != nil }); {
	case res.IsError && newer: // 1.21 does not know this state
		set("state", `"output-error"`)
		set("errorText", text)
	case child != "" && !res.IsError:
		set("state", `"result"`)
		set("result", `{"text":`+text+`,"`+childMember+`":`+string(docedit.QuoteText(child))+`,"subAgentResourceId":`+string(docedit.QuoteText(r.threads[child]))+`}`)
	default:
		set("state", `"result"`)
		set("result", text)
	}
	return []table.Field{{Name: eventlog.ColumnPosition, Value: it.Position}, {Name: columnPatch, Value: p}}, nil
}

// childOf is the thread of a call of a row, "" for none.
func (r *reader) childOf(s *session.Session, m *message, id string) (child string) {
	for i := range s.Items {
		for _, c := range s.Items[i].Calls {
			if rowOf(s.Items[i].Key) == m.id && c.ID == id && c.Delegation != nil {
				child = c.Delegation.Child
			}
		}
	}
	return child
}

// createThread makes the row of a sub-thread that is gone, as Mastra made it.
func (r *reader) createThread(s *session.Session, _ eventlog.Row) ([]table.Field, error) {
	r.threads[s.ID] = r.threads[s.Parent] + "-" + s.Agent
	if len(s.Items) == 0 || s.Agent == "" || r.parentOf(s.ID) != s.Parent {
		return nil, problem.New(problem.RolledBack, "", "the id of thread %s does not say that it is below %s", s.ID, s.Parent)
	}
	stamp := func(it *session.Item) string { return it.Time.UTC().Format(timeForm) }
	first, last := stamp(&s.Items[0]), stamp(&s.Items[len(s.Items)-1])
	return table.Image{
		"id": s.ID, fieldResource: r.threads[s.ID], "title": "", fieldTime: first, fieldTime + "Z": first, fieldUpdated: last, fieldUpdated + "Z": last,
	}.Fields(), nil
}

// refusePart refuses to make a row of a result.
func refusePart(*session.Session, *change.Item, *docedit.Row, string) ([]table.Field, error) {
	return nil, problem.New(problem.RolledBack, "", "a result is stored with others, and stays with them")
}

// checkRowsStayWhole refuses a change that parts a row, one that puts rows of one millisecond in another
// order than they are stored in, and one that gives a thread another parent, which its id says.
func checkRowsStayWhole(_ context.Context, _ table.Writer, sessions []*change.Session) error {
	for _, s := range sessions {
		if s.Was != nil && s.Was.Parent != s.Is.Parent {
			return problem.New(problem.RolledBack, "", "the id of a thread says which one started it")
		}
	}
	return eventlog.CheckWhole(packing, sessions, func(_ string, it *session.Item) string { return rowOf(it.Key) }, func(a, b *change.Item) bool { return !a.Moves && !b.Moves && a.At <= b.At })
}

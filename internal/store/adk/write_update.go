package adk

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

// updateEvent says how the row of an event changes.
func updateEvent(r *docedit.Row, c *change.Item) error { return (&revision{r}).applyChange(c, nil) }

// applyChange makes an event say what becomes of its item, wherever it stands. own, where it is
// not nil, is asked first for the places of values.
func (r *revision) applyChange(c *change.Item, own func(v change.Value) docedit.Place) error {
	calls, results := r.callSpots(r.partSpots())
	place := func(v change.Value) docedit.Place {
		if own != nil {
			if p := own(v); p.Form != docedit.Nowhere {
				return p
			}
		}
		switch v.Of {
		case change.OfCall:
			return r.placeIn(calls, v)
		case change.OfResult:
			return r.placeIn(results, v)
		}
		return r.findPlace(c, v)
	}
	if err := r.Apply(c, place, func(nth int) docedit.Spot { return nthOf(results, nth).Holder() }); err != nil {
		return err
	}
	if slices.ContainsFunc(c.Values, func(v change.Value) bool { return v.Of == change.OfCall && v.Field == session.FieldCallID }) {
		return r.renameWaiting(c.Was.Calls, c.Is.Calls)
	}
	return nil
}

// placeIn is where a value of a call or a result is stored.
func (r *revision) placeIn(list []spot, v change.Value) docedit.Place {
	at := nthOf(list, v.Nth)
	switch v.Field {
	case session.FieldCallID, session.FieldResultID:
		return docedit.Place{Spot: r.memberSpot(at, "id"), Form: docedit.Text}
	case change.FieldArgs:
		return docedit.Place{Spot: r.memberSpot(at, "args"), Form: docedit.JSON}
	}
	return docedit.Place{}
}

// findPlace finds how a value of the event itself is written.
func (r *revision) findPlace(c *change.Item, v change.Value) docedit.Place {
	switch v.Field {
	case session.FieldText:
		return docedit.Place{Write: r.removeBlank}
	case session.FieldBranch:
		return docedit.Place{Write: func() error { return r.setBranch(v.Is) }}
	case session.FieldPosition:
		return docedit.Place{Write: func() error { return r.moveEvent(c) }}
	case change.FieldKeptFrom: // Finish sets it
		return docedit.Place{Form: docedit.Follows}
	}
	return docedit.Place{}
}

// nthOf is one of the calls or results, of one that is not there a spot where nothing is.
func nthOf(list []spot, n int) spot {
	if n < len(list) {
		return list[n]
	}
	return spot{Column: "content"}.Element(n)
}

// renameWaiting lets the list of the calls that wait for somebody name them by their new ids.
// A call that shared its id with one that keeps it waits as well.
func (r *revision) renameWaiting(before, after []session.Call) error {
	at := spot{Column: "long_running_tool_ids_json"}
	if r.hasDocument() {
		at = r.memberSpot(r.document(), "longRunningToolIds")
	}
	var ids, renamed []string
	if written.Unmarshal(r.Raw(at), &ids) != nil {
		return nil // there is none
	}
	for _, id := range ids {
		known := false
		for i := range before {
			if before[i].ID == id && !slices.Contains(renamed, after[i].ID) {
				renamed = append(renamed, after[i].ID)
			}
			known = known || before[i].ID == id
		}
		if !known {
			renamed = append(renamed, id)
		}
	}
	if len(ids) != len(renamed) {
		list, _ := json.Marshal(renamed) // texts always have a form
		return r.Put(at, list)
	}
	for i := range ids {
		if ids[i] != renamed[i] {
			if err := r.Put(at.Element(i), quoteText(renamed[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeBlank takes the texts of white space away, and a part with them that says
// nothing else. Reasoning stays.
func (r *revision) removeBlank() error {
	for _, at := range slices.Backward(r.partSpots()) {
		text := r.memberSpot(at, "text")
		if thought := r.Raw(r.memberSpot(at, "thought")); string(thought) == "true" || r.Raw(text) == nil || strings.TrimSpace(r.Text(text)) != "" {
			continue
		}
		var members map[string]jsontext.Value
		if written.Unmarshal(r.Raw(at), &members) == nil && len(members) == 1 {
			if err := r.Put(at, nil); err != nil {
				return err
			}
		} else if err := r.Put(text, []byte(`""`)); err != nil {
			return err
		}
	}
	return nil
}

// setBranch puts an event on another branch.
func (r *revision) setBranch(branch string) error {
	if r.hasDocument() {
		return r.Put(r.memberSpot(r.document(), "branch"), labelValue(branch))
	}
	if branch == "" {
		r.Set("branch", nil)
	} else {
		r.Set("branch", branch)
	}
	return nil
}

// labelValue is a branch in a document, nil for none: text that is no path is JSON
// of its own.
func labelValue(branch string) []byte {
	switch {
	case branch == "":
		return nil
	case !labelOf([]byte(branch)).wrong:
		return []byte(branch)
	}
	return quoteText(branch)
}

func quoteText(text string) []byte { return docedit.QuoteText(text) }

// revision is the row of an event while it is being changed.
type revision struct{ *docedit.Row }

func newRevision(row docedit.Record) *revision { return &revision{docedit.NewRow(row)} }

// stored is how the row calls a column: adk-kotlin's are in camel case.
func (r *revision) stored(name string) string {
	if camel := inCamel(name); r.Row.HasColumn(camel) {
		return camel
	}
	return name
}

// HasColumn reports whether the row has a column.
func (r *revision) HasColumn(name string) bool { return r.Row.HasColumn(r.stored(name)) }

// Value is what is stored in a column.
func (r *revision) Value(name string) any { return r.Row.Value(r.stored(name)) }

// Set gives a column another value.
func (r *revision) Set(name string, value any) { r.Row.Set(r.stored(name), value) }

// hasDocument reports whether the event is one JSON document, and document is where.
func (r *revision) hasDocument() bool { return r.HasColumn("event_data") }
func (r *revision) document() spot    { return spot{Column: r.stored("event_data")} }

// spot is where a value stands in a row.
type spot = docedit.Spot

// listMembers lists those of an object, as far as it can be read.
func (r *revision) listMembers(at spot) iter.Seq2[string, jsontext.Value] {
	return func(yield func(name string, value jsontext.Value) bool) {
		dec := jsontext.NewDecoder(bytes.NewReader(jsonscan.MaskNaN(r.Raw(at))), goJSON)
		if begin, err := dec.ReadToken(); err != nil || begin.Kind() != jsontext.KindBeginObject {
			return
		}
		for dec.PeekKind() == jsontext.KindString {
			key, err := dec.ReadValue()
			if err != nil {
				return
			}
			name := unquoteText(key)
			value, err := dec.ReadValue()
			if err != nil || !yield(name, value) {
				return
			}
		}
	}
}

// memberSpot is a member of an object, by its name in camel case. It may be stored in
// any spelling that a reader takes for that name; one that is missing gets this one.
func (r *revision) memberSpot(at spot, name string) spot {
	spelled := name
	for stored := range r.listMembers(at) {
		if sameName(stored, name) {
			spelled = stored
		}
	}
	return at.Member(spelled)
}

var plainly = strings.NewReplacer("_", "", "-", "")

// sameName compares names as the reader of this package does.
func sameName(a, b string) bool { return strings.EqualFold(plainly.Replace(a), plainly.Replace(b)) }

// partSpots are the parts of what an event says.
func (r *revision) partSpots() []spot {
	content := spot{Column: "content"}
	if r.hasDocument() {
		content = r.memberSpot(r.document(), "content")
	}
	return r.Elements(r.memberSpot(content, "parts"))
}

// saying are the names under which a part holds a call or a result, those of tools
// that the provider ran included, in the order in which they are looked for.
var saying = []struct {
	name   string
	result bool
}{{"functionCall", false}, {"functionResponse", true}, {"toolCall", false}, {"toolResponse", true}}

// callSpots are the calls and results in the parts of an event, in the order of the
// model.
func (r *revision) callSpots(parts []spot) (calls, results []spot) {
	for _, part := range parts {
		for _, s := range saying {
			at := r.memberSpot(part, s.name)
			if r.Raw(at) == nil {
				continue
			}
			if s.result {
				results = append(results, at)
			} else {
				calls = append(calls, at)
			}
			break
		}
	}
	return calls, results
}

// writes are how rows change. They are the same for all generations: a row tells by
// its columns and by what is in them what form it has.
var writes = eventlog.Write{Insert: insertResults, Batches: true, Part: insertPart, Update: updateEvent, Session: setSession}

// setSession changes the row of a session. A table may have event_sequence, by which a
// writer that read the session before sees that others wrote since (google/adk-python#4752).
// By update_time every writer does: a runtime makes it the time of its newest event, and so
// does a repair that adds one, lest a tool that is still at work store a second result. Any
// other repair leaves it: requests that are under way would lose their next event.
func setSession(row *docedit.Row, c *change.Session) error {
	r := &revision{row}
	if n, counts := r.Value("event_sequence").(int64); counts {
		r.Set("event_sequence", n+1)
	}
	was, is := len(c.Was.Items)-1, len(c.Items)-1
	if was < 0 || is < 0 || c.Items[is].Stays() {
		return nil
	}
	stored, newest := r.Value("update_time"), c.Items[is].Is
	if at := placeOf(stored); at < c.Was.Items[was].Position || at >= newest.Position { // it counts in another zone, or is later
		return nil
	}
	at, err := stampLike(stored, newest.Position, newest.Time)
	r.Set("update_time", at)
	return err
}

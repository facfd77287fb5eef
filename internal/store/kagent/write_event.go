package kagent

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// writes are how rows change. They are the same for all generations and dialects: a
// row tells by its columns and by what is in them what form it has. The row of a
// session stays as it is when its events change, updated_at too: a repair has no
// clock.
var writes = eventlog.Write{
	Insert: insert, Part: part, Update: update, Session: setColumns, Set: setColumns,
	Create: createSession, Beside: rewriteTasks, Others: []string{tableTasks},
}

// update says how the row of an event changes.
func update(row eventlog.Row, c *change.Item) ([]table.FieldChange, error) {
	before, after, taken := c.Was, c.Is, c.Taken
	if before.Agent != after.Agent || before.Role != after.Role || before.Kind != after.Kind || before.Flags.Has(session.Archived) != after.Flags.Has(session.Archived) {
		return nil, problem.New(problem.RolledBack, "", "event %s cannot become one of another agent or kind, or one that is not sent: this kind of store has no place for that", before.Key)
	}
	var list []table.FieldChange
	if before.Position != after.Position {
		stored := table.Kept(row.Value("created_at"))
		at, err := timeLike(stored, after.Position)
		if err != nil {
			return nil, err
		}
		list = append(list, table.FieldChange{Name: "created_at", Old: stored, New: at})
	}
	if len(list) == 0 && len(taken) == 0 && alike(before, after) {
		return nil, nil // it goes to another session as it is, whatever it is
	}
	doc, err := openDocument(row.Value("data"))
	if err == nil {
		err = doc.edit(func(json []byte) ([]byte, error) {
			if moved := renamedQuestions(before, after, taken); len(moved) > 0 {
				changed, err := (&rewrite{moved: moved}).within(json)
				if err != nil {
					return nil, err
				}
				json = changed
			}
			switch dialectOf(json) {
			case responses:
				changed, err := updateResponses(json, before, after, taken)
				if err != nil {
					return nil, err
				}
				return shifted(changed, after.Position-before.Position)
			case message:
				return nil, errors.New("it is a message of A2A, which a repair leaves as it is")
			}
			return updateADK(json, before, after, taken)
		})
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "Check the store again.", "event %s cannot be changed: %v", before.Key, err)
	}
	return append(list, doc.change()...), nil
}

// alike reports whether two items say the same, as far as a repair changes that.
func alike(before, after *session.Item) bool {
	text := func(it *session.Item) string {
		if it.Body == nil {
			return ""
		}
		return it.Body.Text
	}
	return before.Branch == after.Branch && slices.Equal(before.Blocks, after.Blocks) &&
		(before.Body == nil || after.Body == nil || text(before) == text(after)) &&
		slices.EqualFunc(before.Calls, after.Calls, func(a, b session.Call) bool { return a.ID == b.ID && a.Args == b.Args && a.Question == b.Question }) &&
		slices.EqualFunc(before.Results, after.Results, func(a, b session.Result) bool {
			return a.CallID == b.CallID && a.Child == b.Child && a.Question == b.Question
		})
}

// updateADK changes an event of ADK in any of its spellings.
func updateADK(doc []byte, before, after *session.Item, taken []int) ([]byte, error) {
	r := adk.Revise(doc)
	if renamed := renamedChildren(before, after, taken); len(renamed) > 0 {
		answers, names := r.Answers(childMember), map[int]string{}
		for n, change := range renamed {
			if n >= len(answers) || !isCalled(change.was, answers[n]) {
				return nil, errChanged
			}
			names[n] = change.is
		}
		if err := r.SetAnswers(childMember, names); err != nil {
			return nil, err
		}
	}
	if err := r.Update(before, after, taken); err != nil {
		return nil, err
	}
	return r.Document(), nil
}

// renamedChildren are the results that name another session, by their index before.
func renamedChildren(before, after *session.Item, taken []int) map[int]child {
	list := map[int]child{}
	for n, is := range kept(before, after, taken) {
		if was := &before.Results[n]; was.Child != is.Child {
			list[n] = child{was: was.Child, is: is.Child}
		}
	}
	return list
}

// renamedQuestions are the tasks that questions and their answers put into another
// session than before, by id.
func renamedQuestions(before, after *session.Item, taken []int) map[string]move {
	moved := map[string]move{}
	add := func(was, is session.Question) {
		if was != is {
			moved[was.Run] = move{was.Child, is.Child}
		}
	}
	for n := range min(len(before.Calls), len(after.Calls)) {
		add(before.Calls[n].Question, after.Calls[n].Question)
	}
	for n, is := range kept(before, after, taken) {
		add(before.Results[n].Question, is.Question)
	}
	return moved
}

// kept are the results that an item still has, by their index before.
func kept(before, after *session.Item, taken []int) iter.Seq2[int, *session.Result] {
	return func(yield func(int, *session.Result) bool) {
		next := 0
		for n := range before.Results {
			if slices.Contains(taken, n) || next >= len(after.Results) {
				continue
			}
			if !yield(n, &after.Results[next]) {
				return
			}
			next++
		}
	}
}

// insert makes the row of a result that nobody stored (K1): an event of its own of the
// agent that made the call, as the runtime would have stored it.
func insert(s *session.Session, it *session.Item, beside *eventlog.Row, id string) ([]table.Field, error) {
	if beside == nil || it.Kind != session.Message || it.Role != session.Tool || len(it.Results) != 1 {
		return nil, problem.New(problem.RolledBack, "", "a repair adds nothing to a kagent store but the result of a call")
	}
	return newEvent(*beside, it, id, func(doc []byte, later int64) ([]byte, error) {
		if dialectOf(doc) == responses {
			return responseItem(doc, &it.Results[0], later)
		}
		return adk.Revise(doc).Response(s, it, id, later)
	})
}

// part makes the row of a result that was one of several in an event: what is stored
// of it stays as it is, but for an id that changes.
func part(_ *session.Session, it *session.Item, row eventlog.Row, nth int, id string) ([]table.Field, error) {
	return newEvent(row, it, id, func(doc []byte, later int64) ([]byte, error) {
		if dialectOf(doc) == responses {
			return partItem(doc, it, nth, later)
		}
		return adk.Revise(doc).Part(it, nth, id, later)
	})
}

// newEvent is the row of a new event, a neighbour of another one in whose forms it is.
func newEvent(near eventlog.Row, it *session.Item, id string, compose func(doc []byte, later int64) ([]byte, error)) ([]table.Field, error) {
	place, _ := placeOf(near.Value("created_at"))
	at, err := timeLike(table.Kept(near.Value("created_at")), it.Position)
	if err != nil {
		return nil, err
	}
	doc, err := openDocument(near.Value("data"))
	if err == nil && (dialectOf(doc.was) == message || dialectOf(doc.was) == unknown) {
		err = errors.New("the one beside it is no event of an agent's runtime")
	}
	if err == nil {
		err = doc.edit(func(json []byte) ([]byte, error) { return compose(json, it.Position-place) })
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "Check the store again.", "an event with the result of call %s cannot be added: %v", it.Results[0].CallID, err)
	}
	row := newRow{like: near}
	for _, column := range []string{"session_id", "user_id"} {
		row.set(column, table.Kept(near.Value(column)))
	}
	row.set("id", id)
	row.set("created_at", at)
	row.set("updated_at", at)
	row.set("data", doc.column())
	return row.fields, nil
}

// responseItem is the document of an event of the OpenAI Agents SDK with the result of
// a call.
func responseItem(near []byte, r *session.Result, later int64) ([]byte, error) {
	item := []byte(`{"call_id": `)
	item = append(append(item, quote(r.CallID)...), `, "output": `...)
	item = append(append(item, quote(r.Text)...), `, "type": "function_call_output"}`...)
	return aloneIn(near, item, later)
}

// partItem is the document of an event with one of the results of another one.
func partItem(near []byte, it *session.Item, nth int, later int64) ([]byte, error) {
	l, err := openItems(near)
	if err != nil {
		return nil, err
	}
	if nth >= len(l.results) || len(it.Results) != 1 {
		return nil, errChanged
	}
	was := session.Result{CallID: l.items[l.results[nth]].CallID, Child: it.Results[0].Child}
	if err := l.changeResult(l.results[nth], &was, &it.Results[0]); err != nil {
		return nil, err
	}
	item, _ := jsonedit.Raw(l.doc, itemAt(l.results[nth]))
	return aloneIn(near, item, later)
}

// aloneIn is the document of an event with one item in place of those of its
// neighbour, so many microseconds later.
func aloneIn(near, item []byte, later int64) ([]byte, error) {
	doc, err := jsonedit.Set(near, "/items", append(append([]byte("["), item...), ']'))
	if err != nil {
		return nil, errChanged
	}
	return shifted(doc, later)
}

// shifted is such a document with its time so many microseconds later.
func shifted(doc []byte, later int64) ([]byte, error) {
	value, _ := jsonedit.Raw(doc, "/timestamp")
	if jsontext.Value(value).Kind() != jsontext.KindString {
		return doc, nil
	}
	text := stringOf(value)
	place, _ := placeOf(text)
	at, err := timeLike(text, place+later)
	if err != nil {
		return nil, errors.New("its timestamp is no time")
	}
	return jsonedit.Set(doc, "/timestamp", quote(column.Text(at)))
}

// document is what a column data holds, while it is being changed: a JSON object, or a
// JSON string that holds one (b1).
type document struct {
	stored any
	quoted bool
	was    []byte // the object
	is     []byte
}

// openDocument refuses what is no object. So it does a string with halves of
// surrogate pairs, which could not be written as it was.
func openDocument(stored any) (*document, error) {
	data := column.Bytes(stored)
	d := &document{stored: stored, was: data}
	if text, ok := jsonedit.Raw(data, ""); ok && jsontext.Value(text).Kind() == jsontext.KindString {
		d.quoted = true
		var err error
		if d.was, err = jsontext.AppendUnquote(nil, text); err != nil {
			return nil, errors.New("its data is a string that is no Unicode text")
		}
	}
	if doc := jsontext.Value(d.was); doc.Kind() != jsontext.KindBeginObject || !doc.IsValid(lenient) {
		return nil, errors.New("its data is no JSON object")
	}
	d.is = d.was
	return d, nil
}

// edit makes another object of the one that there is.
func (d *document) edit(change func(doc []byte) ([]byte, error)) error {
	doc, err := change(d.is)
	if err == nil {
		d.is = doc
	}
	return err
}

// column is what the column holds with the object as it is now.
func (d *document) column() any {
	data := d.is
	if d.quoted {
		text, _ := jsonedit.Raw(column.Bytes(d.stored), "")
		data, _ = jsonedit.Set(column.Bytes(d.stored), "", requoted(text, d.was, d.is)) // both were read
	}
	return column.Like(d.stored, string(data))
}

// change is what becomes of the column, nothing if the object is what it was.
func (d *document) change() []table.FieldChange {
	if string(d.is) == string(d.was) {
		return nil
	}
	return []table.FieldChange{{Name: "data", Old: table.Kept(d.stored), New: d.column()}}
}

// quote is a text as JSON.
func quote(text string) []byte {
	value, _ := jsontext.AppendQuote(nil, text) // U+FFFD stands for what is no Unicode
	return value
}

// timeLike is the time that has a place in the order of a session, in the form of
// another one and with its offset from UTC, since places are what clocks show.
func timeLike(like any, position int64) (any, error) {
	if stored, isText := like.(string); isText {
		if text, ok := times.Like(stored, position, time.Time{}); ok && times.Read(text).Wrong == "" {
			return text, nil
		}
	}
	return nil, problem.New(problem.RolledBack, "", "a record cannot get a place beside one whose time is none in a text")
}

// treeOf is a document as lists, objects and texts; all other values are nil. Of doubled
// members the last one counts, whatever it is.
func treeOf(doc []byte) (any, error) {
	value, err := readValue(jsontext.NewDecoder(bytes.NewReader(doc), lenient))
	if err != nil {
		return nil, errors.New(explain(err))
	}
	return value, nil
}

func readValue(dec *jsontext.Decoder) (any, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindBeginArray:
		list := []any{}
		for dec.PeekKind() != jsontext.KindEndArray {
			element, err := readValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, element)
		}
		_, err = dec.ReadToken()
		return list, err
	case jsontext.KindBeginObject:
		object := map[string]any{}
		for dec.PeekKind() != jsontext.KindEndObject {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			spelled := name.String()
			if object[spelled], err = readValue(dec); err != nil {
				return nil, err
			}
		}
		_, err = dec.ReadToken()
		return object, err
	}
	return nil, nil
}

// requoted is a JSON string that held one document and is to hold another one, both of
// them read already. What the documents have in common keeps its escapes: Python's
// json.dumps writes others than this program does.
func requoted(quoted, was, is []byte) []byte {
	before, after := tokens(was), tokens(is)
	if len(before) != len(after) { // more than single values differ
		before, after = []token{{0, len(was)}}, []token{{0, len(is)}}
	}
	at := escapes(quoted, len(was))
	text, copied := []byte{}, 0
	for i := range before {
		old, now := was[before[i].from:before[i].to], is[after[i].from:after[i].to]
		first, last := edges(old, now)
		if first == len(old) && first == len(now) {
			continue
		}
		with, _ := jsontext.AppendQuote(nil, now[first:len(now)-last]) // of a document that was read
		text = append(append(text, quoted[copied:at[before[i].from+first]]...), with[1:len(with)-1]...)
		copied = at[before[i].to-last]
	}
	return append(text, quoted[copied:]...)
}

// escapes are the offsets in a JSON string of the bytes of its text, and of its end.
// All bytes of a character that is escaped have the offset of that.
func escapes(quoted []byte, length int) []int {
	at := make([]int, 0, length+1)
	for i := 1; i < len(quoted)-1; {
		next, bytes := i+1, 1
		if quoted[i] == '\\' {
			next, bytes = escaped(quoted, i)
		}
		for range bytes {
			at = append(at, i)
		}
		i = next
	}
	return append(at, len(quoted)-1)
}

// escaped is where the escape at an offset ends, and how many bytes it stands for.
func escaped(quoted []byte, i int) (next, bytes int) {
	const unit = len(`\u0000`)
	if quoted[i+1] != 'u' {
		return i + len(`\n`), 1
	}
	text, err := jsontext.AppendUnquote(nil, append(append([]byte{'"'}, quoted[i:i+unit]...), '"'))
	if err == nil {
		return i + unit, len(text)
	}
	return i + 2*unit, utf8.UTFMax // the first half of a surrogate pair, the other one behind it
}

// token is where a token of a document is, with what stands before it.
type token struct{ from, to int }

func tokens(doc []byte) (list []token) {
	dec := jsontext.NewDecoder(bytes.NewReader(doc), lenient)
	from := 0
	for {
		if _, err := dec.ReadToken(); err != nil {
			return append(list, token{from, len(doc)})
		}
		to := int(dec.InputOffset())
		list, from = append(list, token{from, to}), to
	}
}

// edges are how many bytes two texts have in common at their beginnings and, besides,
// at their ends, in whole characters.
func edges(a, b []byte) (first, last int) {
	shorter := min(len(a), len(b))
	for first < shorter && a[first] == b[first] {
		first++
	}
	for first > 0 && (first < len(a) && !utf8.RuneStart(a[first]) || first < len(b) && !utf8.RuneStart(b[first])) {
		first--
	}
	for last < shorter-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	for last > 0 && !utf8.RuneStart(a[len(a)-last]) {
		last--
	}
	return first, last
}

package crush

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// document is where parts are.
var document = docedit.Spot{Column: "parts"}

// partSpot is the nth part of a type.
func partSpot(r *docedit.Row, kind string, n int) docedit.Spot { return r.OfType(document, kind, n) }

// partOf is the type of the parts of an item that values belong to, and member where they
// are in its data.
var (
	partOf = map[change.Part]string{change.OfItem: typeText, change.OfCall: typeCall, change.OfResult: typeResult, change.OfBlock: typeReasoning}
	member = map[string]string{
		session.FieldText: "text", session.FieldCallID: "id", session.FieldResultID: "tool_call_id", change.FieldArgs: "input", change.FieldName: "name",
	}
)

// updateMessage is the difference of a message that a repair changed.
func updateMessage(r *docedit.Row, c *change.Item) error {
	if err := editBlocks(r, c); err != nil {
		return err
	}
	return r.Apply(c, func(v change.Value) docedit.Place { return findPlace(r, c, v) }, func(n int) docedit.Spot { return partSpot(r, typeResult, n) })
}

// editBlocks leaves blocks of a message out, and shows U+0000 in what it says. Crush sends one text
// of a message: the notes stand in that, before and after what it said.
func editBlocks(r *docedit.Row, c *change.Item) error {
	notes := c.OmissionNotes()
	if c.Part >= 0 || len(notes) == 0 && !c.Shown {
		return nil
	}
	parts, _, _ := parseParts(r.Document(document.Column))
	m, noted, thoughtless := message{Item: &session.Item{Shared: &session.Shared{}}}, false, false
	text := slices.IndexFunc(parts, func(p part) bool { return p.kind == typeText })
	emptied := slices.ContainsFunc(c.Values, func(v change.Value) bool { return v.Of == change.OfItem && v.Field == session.FieldText })
	var said []string // by the text
	var gone []int
	for i := range parts {
		p, n := &parts[i], len(m.Blocks)
		m.addPart(p)
		note, leaves := notes[len(m.Blocks)-1]
		leaves = leaves && len(m.Blocks) > n
		switch thoughtless = thoughtless || leaves && p.kind == typeReasoning; {
		case i == text:
			if p.Text != "" && (!emptied || strings.TrimSpace(p.Text) != "") {
				said = append(said, p.Text)
			}
		case p.kind == typeReasoning && thoughtless: // the next thoughts would be sent
			gone = append(gone, i)
		case leaves && p.kind == typeResult:
			if err := leaveMedia(r, document.Element(i).Member("data"), p, note); err != nil {
				return err
			}
		case leaves:
			if said, noted = append(said, note), true; text < 0 {
				text = i
			}
			if i != text {
				gone = append(gone, i)
			}
		}
	}
	if noted {
		value := `{"type":"text","data":{"text":` + string(docedit.QuoteText(strings.Join(said, "\n"))) + `}}`
		if err := r.Put(document.Element(text), jsontext.Value(value)); err != nil {
			return err
		}
	}
	if c.Shown {
		if err := showNUL(r, parts); err != nil {
			return err
		}
	}
	for _, i := range slices.Backward(gone) {
		if err := r.Put(document.Element(i), nil); err != nil {
			return err
		}
	}
	return nil
}

// leaveMedia puts a note in place of the media of a result, of which Crush sends no text beside them.
func leaveMedia(r *docedit.Row, data docedit.Spot, p *part, note string) error {
	err := r.Put(data.Member("content"), docedit.QuoteText(strings.TrimPrefix(p.Content+"\n"+note, "\n")))
	for _, name := range []string{"data", "mime_type"} {
		if err == nil {
			err = r.Put(data.Member(name), jsontext.Value(`""`))
		}
	}
	return err
}

// showNUL shows U+0000 in all parts but thoughts. The arguments of a call are JSON in a text.
func showNUL(r *docedit.Row, parts []part) error {
	for i := range parts {
		at := document.Element(i)
		input := at.Member("data").Member("input")
		if parts[i].kind == typeReasoning {
			continue
		}
		if err := r.ShowNUL(at); err != nil {
			return err
		}
		text := r.Text(input)
		if shown := string(jsonedit.ShowNUL([]byte(text))); shown != text {
			if err := r.Put(input, docedit.QuoteText(shown)); err != nil {
				return err
			}
		}
	}
	return nil
}

// findPlace finds where a value of a message is stored.
func findPlace(r *docedit.Row, c *change.Item, v change.Value) docedit.Place {
	switch {
	case v.Of == change.OfItem && v.Field == session.FieldPosition:
		return docedit.Place{Write: func() error {
			if eventlog.SameSecond(c.Is.Position, c.Was.Position) {
				return nil
			}
			second, err := eventlog.SecondOf(c.Is.Position, r.Value("created_at"))
			r.Set("created_at", second)
			return err
		}}
	case v.Of == change.OfItem && v.Field == session.FieldUnfinished:
		return docedit.Place{Write: func() error { return endAnswer(r) }}
	case v.Of == change.OfCall && v.Field == change.FieldArgs:
		return docedit.Place{Write: func() error { return completeCall(r, v) }}
	case v.Field == change.FieldOmitted, v.Field == change.FieldDelegation, v.Of == change.OfItem && v.Field == session.FieldText && v.Is == v.Was: // editBlocks
		return docedit.Place{Form: docedit.Follows}
	case v.Of == change.OfBlock || member[v.Field] == "" || v.Of == change.OfResult && v.Field == session.FieldText:
		return docedit.Place{}
	}
	return docedit.Place{Spot: partSpot(r, partOf[v.Of], v.Nth).Member("data").Member(member[v.Field]), Form: docedit.Text}
}

// completeCall gives a call its arguments, which are all that it will get.
func completeCall(r *docedit.Row, v change.Value) error {
	data := partSpot(r, typeCall, v.Nth).Member("data")
	if r.Text(data.Member("input")) != v.Was {
		return docedit.NotAsRead(document.Column)
	}
	if err := r.Put(data.Member("input"), docedit.QuoteText(v.Is)); err != nil {
		return err
	}
	return r.Put(data.Member("finished"), jsontext.Value("true"))
}

// endAnswer gives an answer the end that Crush gives to one that a person cancelled, at the time
// at which it began: a repair has no clock.
func endAnswer(r *docedit.Row) error {
	began, ok := column.Int(r.Value("created_at"))
	if !ok {
		return problem.New(problem.RolledBack, "", "the message has no time that its end could have")
	}
	finish := `{"type":"finish","data":{"reason":"canceled","time":` + strconv.FormatInt(began, 10) + `,"message":"User canceled request"}}]`
	parts, open := bytes.CutSuffix(bytes.TrimSpace(r.Document(document.Column)), []byte("]"))
	if !open {
		return docedit.NotAsRead(document.Column)
	}
	if len(r.Elements(document)) > 0 {
		finish = "," + finish
	}
	r.Set("finished_at", began)
	r.SetText(document.Column, slices.Concat(parts, []byte(finish)))
	return nil
}

// ended is the last part of every message that is no answer.
const ended = `,{"type":"finish","data":{"reason":"stop","time":0}}]`

// insert is the row of a new result, like Crush's own.
func insert(s *session.Session, it *session.Item, _ *docedit.Row, _ string) ([]table.Field, error) {
	res := &it.Results[0]
	parts := `[{"type":"tool_result","data":{"tool_call_id":` + string(docedit.QuoteText(res.CallID)) + `,"name":` + string(docedit.QuoteText(s.ToolBefore(it, res.CallID))) +
		`,"content":` + string(docedit.QuoteText(res.Text)) + `,"data":"","mime_type":"","metadata":"","is_error":` + strconv.FormatBool(res.IsError) + `}}` + ended
	return resultRow(it, parts)
}

// resultRow is a new row with a result.
func resultRow(it *session.Item, parts string) ([]table.Field, error) {
	second, err := eventlog.SecondOf(it.Position, int64(0))
	return []table.Field{
		{Name: "role", Value: "tool"}, {Name: "parts", Value: parts},
		{Name: "model", Value: ""}, {Name: "created_at", Value: second}, {Name: "updated_at", Value: second},
	}, err
}

// partRow is the row of a result that was one of several in a row.
func partRow(_ *session.Session, c *change.Item, r *docedit.Row, _ string) ([]table.Field, error) {
	return resultRow(c.Is, "["+string(r.Raw(partSpot(r, typeResult, c.Part)))+ended)
}

// typed is a text that a plan sets: that there is no summary is NULL.
func typed(_, text string) (any, error) { return column.OrNull(text), nil }

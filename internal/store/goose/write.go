package goose

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The documents of a message: what it says, and who sees it.
var (
	document = docedit.Spot{Column: "content_json"}
	visible  = docedit.Spot{Column: "metadata_json"}
)

// everybody is what goose stores of a message that all see.
const everybody = `{"userVisible":true,"agentVisible":true}`

// updateMessage is the difference of a message that a repair changed.
func updateMessage(r *docedit.Row, c *change.Item) error {
	if c.Scrubbed && c.Part < 0 {
		c = scrubRow(r, c)
	}
	if err := editBlocks(r, c); err != nil {
		return err
	}
	return r.Apply(c, func(v change.Value) docedit.Place { return findPlace(r, c, v) }, func(n int) docedit.Spot { return r.OfType(document, typeResult, n) })
}

// editBlocks leaves blocks of a message out, and shows U+0000 in all but thoughts. goose joins
// what the assistant says without a mark between, so a note there brings its own.
func editBlocks(r *docedit.Row, c *change.Item) error {
	notes := c.OmissionNotes()
	if c.Part >= 0 || len(notes) == 0 && !c.Shown {
		return nil
	}
	parts, _, _ := parseParts(r.Document(document.Column))
	says := func(p part) bool { return p.Type == typeText && *p.Text != "" }
	m := message{Item: &session.Item{Shared: &session.Shared{}}}
	type omitted struct {
		at   docedit.Spot
		note string
	}
	var gone []omitted
	for i := range parts {
		p, at, n := &parts[i], document.Element(i), len(m.Blocks)
		m.addPart(p)
		if c.Shown && p.Type != typeThinking && p.Type != typeRedacted {
			if err := r.ShowNUL(at); err != nil {
				return err
			}
		}
		if note, leaves := notes[n]; leaves && len(m.Blocks) > n {
			apart := note != "" && c.Was.Role == session.Assistant
			if apart && i > 0 {
				note = "\n" + note
			}
			if apart && slices.ContainsFunc(parts[i+1:], says) {
				note += "\n"
			}
			gone = append(gone, omitted{at, note})
		}
		if p.Type == typeResult {
			for inner, image := range p.Result.imageSpots(at.Member("toolResult")) {
				if note, leaves := notes[n+1+inner]; leaves {
					gone = append(gone, omitted{image, note})
				}
			}
		}
	}
	for _, o := range slices.Backward(gone) {
		var value jsontext.Value
		if o.note != "" {
			value = jsontext.Value(`{"type":"text","text":` + string(docedit.QuoteText(o.note)) + `}`)
		}
		if err := r.Put(o.at, value); err != nil {
			return err
		}
	}
	return nil
}

// scrubRow puts U+FFFD in place of each byte that is part of no character, and says what of the
// item changes besides.
func scrubRow(r *docedit.Row, c *change.Item) *change.Item {
	for _, name := range texts {
		if doc := r.Document(name); !utf8.Valid(doc) {
			r.SetText(name, []byte(string([]rune(string(doc)))))
		}
	}
	besides := *c
	besides.Values = nil
	for _, v := range c.Values {
		if v.Was = string([]rune(v.Was)); v.Was != v.Is {
			besides.Values = append(besides.Values, v)
		}
	}
	return &besides
}

// partOf is the type of the parts of an item that values belong to.
var partOf = map[change.Part]string{change.OfItem: typeText, change.OfCall: typeCall, change.OfResult: typeResult}

// findPlace finds where a value of a message is stored.
func findPlace(r *docedit.Row, c *change.Item, v change.Value) docedit.Place {
	part := r.OfType(document, partOf[v.Of], v.Nth)
	switch {
	case v.Field == change.FieldOmitted:
		return docedit.Place{Form: docedit.Follows}
	case v.Of == change.OfItem && v.Field == session.FieldPosition:
		return docedit.Place{Write: func() error {
			stored := r.Value(fieldTime)
			n, _ := column.Int(stored)
			if n > eventlog.TooLate && eventlog.Seconds.Read(n/1000).Wrong == "" || eventlog.SameSecond(c.Is.Position, c.Was.Position) {
				return nil // milliseconds: their place is that of the second that set gives
			}
			second, err := eventlog.SecondOf(c.Is.Position, stored)
			r.Set(fieldTime, second)
			return err
		}}
	case v.Of == change.OfItem && v.Field == session.FieldArchived:
		return docedit.Place{Write: func() error {
			if len(r.Document(visible.Column)) == 0 {
				r.SetText(visible.Column, []byte(everybody))
			}
			return r.Put(visible.Member("agentVisible"), jsontext.Value(strconv.FormatBool(v.Is == "false")))
		}}
	case v.Of == change.OfItem && v.Field == session.FieldText:
		return docedit.Place{Spot: part.Member("text"), Form: docedit.Text}
	case v.Field == session.FieldCallID && v.Of == change.OfCall, v.Field == session.FieldResultID && v.Of == change.OfResult:
		return docedit.Place{Spot: part.Member("id"), Form: docedit.Text}
	case v.Of == change.OfCall && v.Field == change.FieldName:
		return docedit.Place{Spot: part.Member("toolCall").Member("value").Member("name"), Form: docedit.Text}
	case v.Of == change.OfCall && v.Field == change.FieldArgs:
		return docedit.Place{Spot: part.Member("toolCall").Member("value").Member("arguments"), Form: docedit.JSON}
	case v.Of == change.OfCall && v.Field == change.FieldDelegation:
		return docedit.Place{Form: docedit.Follows}
	}
	return docedit.Place{}
}

// insert is the row of a new result, like goose's own: an error has a code before it.
func insert(_ *session.Session, it *session.Item, _ *docedit.Row, id string) ([]table.Field, error) {
	res := &it.Results[0]
	outcome := `{"status":"success","value":{"resultType":"complete","content":[{"type":"text","text":` + string(docedit.QuoteText(res.Text)) + `}],"isError":false}}`
	if res.IsError {
		outcome = `{"status":"error","error":` + string(docedit.QuoteText(repaired+res.Text)) + `}`
	}
	return resultRow(it, id, `[{"type":"toolResponse","id":`+string(docedit.QuoteText(res.CallID))+`,"toolResult":`+outcome+`}]`)
}

// resultRow is a new row with a result. Its number is given to it where it is stored.
func resultRow(it *session.Item, id, content string) ([]table.Field, error) {
	second, err := eventlog.SecondOf(it.Position, int64(0))
	seen := fmt.Sprintf(`{"userVisible":%t,"agentVisible":%t}`, !it.Flags.Has(session.Implicit), !it.Flags.Has(session.Archived))
	return []table.Field{
		{Name: "role", Value: "user"}, {Name: document.Column, Value: content}, {Name: fieldTime, Value: second},
		{Name: "message_id", Value: "msg_" + id}, {Name: "timestamp", Value: time.Unix(second, 0).UTC().Format(time.DateTime)}, {Name: visible.Column, Value: seen},
	}, err
}

// partRow is the row of a result that was one of several in a row.
func partRow(_ *session.Session, c *change.Item, r *docedit.Row, id string) ([]table.Field, error) {
	return resultRow(c.Is, id, "["+string(r.Raw(r.OfType(document, typeResult, c.Part)))+"]")
}

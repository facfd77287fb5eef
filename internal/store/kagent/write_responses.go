package kagent

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
)

// itemList is an event of the package for the OpenAI Agents SDK while it is being
// changed.
type itemList struct {
	*docedit.Row
	calls, results []docedit.Spot
}

// editItems makes the items of an event say what becomes of its item.
func editItems(doc []byte, c *change.Item) (*itemList, error) {
	l := &itemList{Row: docedit.Of(docedit.Whole{Column: "data", Text: doc})}
	stored, err := l.items()
	if err != nil {
		return nil, err
	}
	for i := range stored {
		switch stored[i].Type {
		case "function_call":
			l.calls = append(l.calls, itemAt(i))
		case "function_call_output":
			l.results = append(l.results, itemAt(i))
		}
	}
	if len(l.calls) != len(c.Was.Calls) || len(l.results) != len(c.Was.Results) {
		return nil, errChanged
	}
	err = l.Apply(c, func(v change.Value) docedit.Place { return l.place(c, v) }, func(nth int) docedit.Spot { return l.results[nth] })
	return l, err
}

func itemAt(n int) docedit.Spot { return docedit.Spot{Column: "data", Pointer: "/items"}.Element(n) }

func (l *itemList) items() ([]inputItem, error) {
	var w wrapper
	if err := json.Unmarshal(l.Document("data"), &w, lenient); err != nil {
		return nil, errors.New(explain(err))
	}
	return w.Items, nil
}

// place is where a value is stored.
func (l *itemList) place(c *change.Item, v change.Value) docedit.Place {
	switch v.Field {
	case session.FieldCallID:
		return docedit.Place{Spot: l.calls[v.Nth].Member("call_id"), Form: docedit.Text}
	case session.FieldResultID:
		return docedit.Place{Spot: l.results[v.Nth].Member("call_id"), Form: docedit.Text}
	case change.FieldArgs:
		return docedit.Place{Spot: l.calls[v.Nth].Member("arguments"), Form: docedit.Text}
	case session.FieldChild:
		return docedit.Place{Spot: l.results[v.Nth].Member("output"), Within: "/" + childMember, Form: docedit.Text, Same: names}
	case session.FieldBlockID: // every item is a block
		return docedit.Place{Spot: itemAt(v.Nth).Member("id"), Form: docedit.Text, Optional: true}
	case session.FieldPosition, change.FieldQuestion, change.FieldDelegation, change.FieldKeptFrom:
		return docedit.Place{Form: docedit.Follows}
	case session.FieldText:
		if v.Of == change.OfItem {
			return docedit.Place{Write: func() error { return l.blank(c.Was.Blocks != nil) }}
		}
	}
	return docedit.Place{}
}

// blank takes texts of white space away, and their messages with them where these are
// blocks of the item, which has no block for a text that it does not have.
func (l *itemList) blank(blocks bool) error {
	stored, err := l.items()
	if err != nil {
		return err
	}
	for i := range slices.Backward(stored) {
		at, value := itemAt(i), jsontext.Value(nil)
		if stored[i].Role == "" || strings.TrimSpace(textIn(stored[i].Content)) != "" {
			continue
		}
		if !blocks {
			at, value = at.Member("content"), docedit.Quote("")
		}
		if err := l.Put(at, value); err != nil {
			return err
		}
	}
	return nil
}

var errChanged = errors.New("it does not hold what was read before")

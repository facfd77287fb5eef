package kagent

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
)

// itemList is an event of the package for the OpenAI Agents SDK while it is being
// changed.
type itemList struct {
	doc            []byte
	items          []inputItem
	calls, results []int // the indexes of those that are calls and results
}

func openItems(doc []byte) (*itemList, error) {
	var w wrapper
	if err := json.Unmarshal(doc, &w, lenient); err != nil {
		return nil, errors.New(explain(err))
	}
	l := &itemList{doc: doc, items: w.Items}
	for i := range w.Items {
		switch w.Items[i].Type {
		case "function_call":
			l.calls = append(l.calls, i)
		case "function_call_output":
			l.results = append(l.results, i)
		}
	}
	return l, nil
}

// set gives a member of an item another value; nil takes it away, and with it the item
// where no member is named.
func (l *itemList) set(item int, member string, value []byte) error {
	at := itemAt(item)
	if member != "" {
		at += "/" + member
	}
	doc, err := jsonedit.Set(l.doc, at, value)
	if err == nil {
		l.doc = doc
	}
	return err
}

func itemAt(n int) string { return "/items/" + strconv.Itoa(n) }

// updateResponses makes the items of an event say what an item of the model says.
func updateResponses(doc []byte, before, after *session.Item, taken []int) ([]byte, error) {
	l, err := openItems(doc)
	switch {
	case err != nil:
		return nil, err
	case len(l.calls) != len(before.Calls) || len(l.results) != len(before.Results) || len(before.Calls) != len(after.Calls):
		return nil, errChanged
	}
	for n, i := range l.calls {
		if err := l.changeCall(i, &before.Calls[n], &after.Calls[n]); err != nil {
			return nil, err
		}
	}
	next := 0
	for n, i := range l.results {
		if slices.Contains(taken, n) {
			continue
		}
		if next >= len(after.Results) {
			return nil, errChanged
		}
		if err := l.changeResult(i, &before.Results[n], &after.Results[next]); err != nil {
			return nil, err
		}
		next++
	}
	if err := l.rest(before, after); err != nil {
		return nil, err
	}
	for _, n := range slices.Backward(slices.Sorted(slices.Values(taken))) {
		if err := l.set(l.results[n], "", nil); err != nil {
			return nil, err
		}
	}
	return l.doc, nil
}

func (l *itemList) changeCall(i int, was, is *session.Call) error {
	if l.items[i].CallID != was.ID {
		return errChanged
	}
	if was.ID != is.ID {
		if err := l.set(i, "call_id", quote(is.ID)); err != nil {
			return err
		}
	}
	if was.Args != is.Args {
		return l.set(i, "arguments", quote(is.Args))
	}
	return nil
}

func (l *itemList) changeResult(i int, was, is *session.Result) error {
	if l.items[i].CallID != was.CallID {
		return errChanged
	}
	if was.CallID != is.CallID {
		if err := l.set(i, "call_id", quote(is.CallID)); err != nil {
			return err
		}
	}
	if was.Child == is.Child {
		return nil
	}
	answer, err := openDocument(string(l.items[i].Output)) // a string that holds the JSON
	if err != nil {
		return errChanged
	}
	if value, _ := jsonedit.Raw(answer.was, "/"+childMember); !isCalled(was.Child, stringOf(value)) {
		return errChanged
	}
	answer.is, err = jsonedit.Set(answer.was, "/"+childMember, quote(is.Child))
	if err != nil {
		return err
	}
	return l.set(i, "output", []byte(column.Text(answer.column())))
}

// rest changes the ids that the provider gave to items, and a text of white space.
func (l *itemList) rest(before, after *session.Item) error {
	if before.Branch != after.Branch {
		return errors.New("such an event has no place for a branch")
	}
	for n := range before.Blocks {
		was, is := before.Blocks[n].ID, after.Blocks[n].ID
		if was == is {
			continue
		}
		if n >= len(l.items) || l.items[n].ID != was {
			return errChanged
		}
		var id []byte
		if is != "" {
			id = quote(is)
		}
		if err := l.set(n, "id", id); err != nil {
			return err
		}
	}
	if before.Body == nil || after.Body == nil || before.Body.Text == after.Body.Text {
		return nil
	}
	for i := range l.items {
		if l.items[i].Role != "" && strings.TrimSpace(before.Body.Text) == "" && textIn(l.items[i].Content) == before.Body.Text {
			return l.set(i, "content", []byte(`""`))
		}
	}
	return errChanged
}

var errChanged = errors.New("it does not hold what was read of it")

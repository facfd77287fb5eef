package springai

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// update is the difference of an event that a repair changed.
func (sc *schema) update(row eventlog.Row, before, after *session.Item, taken []int) ([]table.FieldChange, error) {
	if before.Agent != after.Agent || before.Role != after.Role || before.Kind != after.Kind {
		return nil, problem.New(problem.RolledBack, "", "record %s cannot become a message of another agent or kind: this kind of store has no column for that", before.Key)
	}
	var list []table.FieldChange
	change := func(column string, value func(stored any) (any, error)) error {
		stored := sc.events.value(row, column)
		now, err := value(stored)
		if err == nil {
			list = append(list, table.FieldChange{Name: sc.events.stored[column], Old: table.Kept(stored), New: now})
		}
		return err
	}
	var err error
	if rewritten(before, after, taken) {
		err = change("message_data", func(stored any) (any, error) { return reword(stored, before, after, taken) })
	}
	if err == nil && textChanged(before, after) {
		err = change("message_content", func(stored any) (any, error) {
			if text, _ := textOf(stored); text != before.Body.Text {
				return nil, notAsPlanned(before)
			}
			return like(stored, after.Body.Text), nil
		})
	}
	if err == nil && before.Branch != after.Branch {
		err = change("branch", func(any) (any, error) { return orNull(after.Branch), nil })
	}
	if archived := after.Flags.Has(session.Archived); err == nil && archived != before.Flags.Has(session.Archived) {
		err = change("archived", func(stored any) (any, error) { return truthLike(stored, archived), nil })
	}
	if err == nil && before.Position != after.Position && !sc.given {
		err = change("seq", func(stored any) (any, error) { return numberLike(stored, after.Position), nil })
	}
	return list, err
}

// textChanged reports whether the text of a message is another one. That of a
// TOOL is in its responses.
func textChanged(before, after *session.Item) bool {
	return before.Body != nil && after.Body != nil && before.Body.Text != after.Body.Text
}

// rewritten reports whether message_data changes.
func rewritten(before, after *session.Item, taken []int) bool {
	return len(taken) > 0 || !slices.Equal(before.Calls, after.Calls) || !slices.Equal(before.Results, after.Results)
}

// reword changes message_data value by value, so that every other byte of it
// stays. What is stored must say what was known of it.
func reword(stored any, before, after *session.Item, taken []int) (any, error) {
	text, _ := textOf(stored)
	d, wrong := parseData(text)
	left := slices.DeleteFunc(indexes(len(before.Results)), func(i int) bool { return slices.Contains(taken, i) })
	if wrong != "" || len(d.parts) != len(before.Calls)+len(before.Results) ||
		len(before.Calls) != len(after.Calls) || len(left) != len(after.Results) {
		return nil, notAsPlanned(before)
	}
	doc := []byte(text)
	var err error
	set := func(at int, member, stored, was, is string) {
		if err == nil && stored != was {
			err = notAsPlanned(before)
		}
		if err == nil {
			doc, err = rename(doc, pointer(at)+"/"+member, was, is)
		}
	}
	for i := range before.Calls {
		was, is := &before.Calls[i], &after.Calls[i]
		set(i, "id", d.parts[i].ID.text, was.ID, is.ID)
		set(i, "name", d.parts[i].Name.text, was.Name, is.Name)
		if was.Args != is.Args {
			set(i, "arguments", d.parts[i].Arguments.text, was.Args, is.Args)
		}
	}
	for n, i := range left {
		was, is := &before.Results[i], &after.Results[n]
		set(i, "id", d.parts[i].ID.text, was.CallID, is.CallID)
		set(i, "name", d.parts[i].Name.text, was.Name, is.Name)
		if was.Text != is.Text {
			set(i, "responseData", d.parts[i].Response.text, was.Text, is.Text)
		}
	}
	for _, i := range slices.Backward(slices.Sorted(slices.Values(taken))) {
		if err == nil {
			doc, err = jsonedit.Set(doc, pointer(i), nil)
		}
	}
	return like(stored, string(doc)), err
}

func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// rename gives a member of an element of message_data another text.
func rename(doc []byte, pointer, was, is string) ([]byte, error) {
	if was == is {
		return doc, nil
	}
	value, err := json.Marshal(is)
	if err == nil {
		doc, err = jsonedit.Set(doc, pointer, value)
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "", "message_data cannot be changed: %v", err)
	}
	return doc, nil
}

// pointer leads to an element of message_data.
func pointer(n int) string { return "/" + strconv.Itoa(n) }

func notAsPlanned(it *session.Item) error {
	return problem.New(problem.RolledBack, "check the store again", "record %s cannot be changed: it does not say what was known of it", it.Key)
}

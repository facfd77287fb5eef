package dockeragent

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// rewording gives one text of a stored message another value.
type rewording struct {
	pointer string
	in      func(m *chatMessage) *string
	was, is string
}

// rewordings lists what an item says in another way than it did. Texts are
// compared where they are loaded: an item whose text or arguments change has its
// body.
func rewordings(was, now *session.Item) ([]rewording, error) {
	if was.Role != now.Role || len(was.Calls) != len(now.Calls) || len(was.Results) != len(now.Results) {
		return nil, problem.New(problem.RolledBack, "", "record %s of %s cannot become a message of another form", idText(was.Key), was.Table)
	}
	all := []rewording{}
	for i := range was.Calls {
		a, b, call := &was.Calls[i], &now.Calls[i], fmt.Sprint("/tool_calls/", i)
		all = append(all,
			rewording{call + "/id", func(m *chatMessage) *string { return &m.ToolCalls[i].ID }, a.ID, b.ID},
			rewording{call + "/function/arguments", func(m *chatMessage) *string { return &m.ToolCalls[i].Function.Arguments }, a.Args, b.Args})
	}
	for i := range was.Results {
		all = append(all, rewording{"/tool_call_id", func(m *chatMessage) *string { return &m.ToolCallID }, was.Results[i].CallID, now.Results[i].CallID})
	}
	if was.Body != nil && now.Body != nil {
		all = append(all, rewording{"/content", func(m *chatMessage) *string { return &m.Content }, was.Body.Text, now.Body.Text})
	}
	return slices.DeleteFunc(all, func(r rewording) bool { return r.was == r.is }), nil
}

// reword changes a message at the calls of a known number, byte by byte. ok is
// false for one that does not say what was known of it, and for one in which
// docker agent would read something else afterwards than is meant.
func reword(list []rewording, calls int) rewrite {
	return func(stored driver.Value) (_ any, ok bool) {
		doc := []byte(textOf(stored))
		var meant, read chatMessage
		if json.Unmarshal(doc, &meant) != nil || len(meant.ToolCalls) != calls {
			return nil, false
		}
		for _, r := range list {
			text := r.in(&meant)
			if *text != r.was {
				return nil, false
			}
			*text = r.is
			value, _ := json.Marshal(r.is) // as docker agent encodes it; never fails on a string
			var err error
			if doc, err = jsonedit.Set(doc, r.pointer, value); err != nil {
				return nil, false
			}
		}
		if json.Unmarshal(doc, &read) != nil || !reflect.DeepEqual(meant, read) {
			return nil, false
		}
		if _, blob := stored.([]byte); blob {
			return doc, true
		}
		return string(doc), true
	}
}

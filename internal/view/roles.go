package view

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// roleNames are what an API calls the parts of a request.
type roleNames struct{ system, user, assistant, call, result string }

// wireRoles are the names by the shape of the request. Where calls and results
// are items of their own, the name is the item's type.
var wireRoles = [...]roleNames{
	rules.Grouped:  {system: "system", user: "user", assistant: "assistant", call: "assistant", result: "user"},
	rules.Contents: {system: "systemInstruction", user: "user", assistant: "model", call: "model", result: "user"},
	rules.OneEach:  {system: "system", user: "user", assistant: "assistant", call: "assistant", result: "tool"},
	rules.Flat:     {system: "system", user: "user", assistant: "assistant", call: "function_call", result: "function_call_output"},
}

// of is the role of the first message that an item becomes, "" for a role that
// nobody knows.
func (names *roleNames) of(it *session.Item) string {
	said := it.Text != 0 && !it.Flags.Has(session.BlankText)
	switch it.Role {
	case session.System:
		return names.system
	case session.User:
		if len(it.Results) > 0 {
			return names.result
		}
		return names.user
	case session.Assistant:
		if len(it.Calls) > 0 && !said {
			return names.call
		}
		return names.assistant
	case session.Tool:
		return names.result
	}
	return ""
}

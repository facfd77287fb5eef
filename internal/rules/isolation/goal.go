package isolation

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

// openingItems are the indexes of the messages that the child begins with, up to its first
// own answer: system messages, what the runtime and the caller say as the user, and
// what was copied there. It ends at a summary, which stands for what came before, and
// where another run of the child begins.
func openingItems(s *delegation.Spawn, copied []delegation.CopiedPair) []int {
	var list []int
	for i := range s.To.Items {
		it := &s.To.Items[i]
		switch {
		case it.Kind == session.Summary:
			return list
		case !it.OnWire() || it.Flags.Has(session.Blank):
			continue
		case len(list) > 0 && it.Invocation() != s.To.Items[list[0]].Invocation():
			return list
		case it.Role == session.Assistant && !slices.ContainsFunc(copied, func(c delegation.CopiedPair) bool { return c.Child == i }):
			return list
		}
		list = append(list, i)
	}
	return list
}

// isPrompt reports whether an item is what a caller says to its child, and nothing
// that every child begins with alike.
func isPrompt(it *session.Item) bool {
	return it.Role == session.User && !it.Flags.Has(session.Implicit) && !it.IsAnswer()
}

// spawnGoal is the text of the task that the delegation hands to the child: see Goal.
func spawnGoal(s *delegation.Spawn) string { return GoalText(s.Call()) }

// GoalText is the text of the task in the arguments of a call that delegates, "" where they
// do not have it or were not loaded. The model has only its digest.
func GoalText(call *session.Call) string {
	want := call.Delegation.Task
	for _, text := range argumentTexts(call.Args) {
		if want != 0 && session.DigestOf(text) == want {
			return text
		}
	}
	return ""
}

// argumentTexts are arguments, and the strings in them.
func argumentTexts(args string) []string {
	if args == "" {
		return nil
	}
	list := []string{args}
	dec := jsontext.NewDecoder(strings.NewReader(args), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return list
		}
		if token.Kind() == '"' {
			list = append(list, token.String())
		}
	}
}

// collapseSpaces is a text with single spaces for all white space: what a template around a
// text changes is no difference.
func collapseSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }

package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
)

// mixed draws a session whose messages hold texts, calls and results in any role.
func mixed() *rapid.Generator[*session.Tree] {
	id := rapid.SampledFrom([]string{"A", "B", "C", "A", ""})
	return rapid.Custom(func(t *rapid.T) *session.Tree {
		s := &session.Session{ID: "P", Model: "anthropic/claude", Thinking: session.No}
		for n := range rapid.IntRange(0, 8).Draw(t, "messages") {
			it := session.Item{
				Shared: &session.Shared{Table: "items"}, Key: fmt.Sprint(n), Position: int64(n), Role: session.Role(rapid.IntRange(1, 3).Draw(t, "role")),
				Body: &session.Body{Raw: []byte(fmt.Sprint("record ", n))},
			}
			if it.Role != session.Tool && rapid.Bool().Draw(t, "speaks") {
				it.Body.Text = fmt.Sprint("text ", n)
				it.Text = session.DigestOf(it.Body.Text)
			}
			if it.Role == session.Assistant {
				for range rapid.IntRange(0, 2).Draw(t, "calls") {
					it.Calls = append(it.Calls, session.Call{ID: id.Draw(t, "call"), Name: "read"})
				}
			}
			for range rapid.IntRange(0, 2).Draw(t, "results") {
				text := fmt.Sprint("output ", n, rapid.IntRange(0, 1).Draw(t, "output"))
				it.Results = append(it.Results, session.Result{CallID: id.Draw(t, "result"), Text: text, Digest: session.DigestOf(text)})
			}
			if it.Text == 0 && len(it.Calls)+len(it.Results) == 0 {
				it.Flags |= session.Blank
			}
			it.Meaning = session.DigestOf(fmt.Sprint(n))
			s.Items = append(s.Items, it)
		}
		return &session.Tree{Sessions: []*session.Session{s}}
	})
}

// TestRepairsOfPartsLeaveTheRestOfTheMessage: what is moved or taken out of a
// message is the part alone; texts stay in their order, and a second repair has
// nothing to do.
func TestRepairsOfPartsLeaveTheRestOfTheMessage(t *testing.T) {
	check(t, func(rt *rapid.T) {
		tree := mixed().Draw(rt, "tree")
		store := &session.Store{Writer: session.WriterDead}
		after, plan := repaired(rt, store, tree)
		if was, is := textsOf(tree), textsOf(after); !slices.Equal(was, is) {
			rt.Fatalf("texts and calls were %v, are %v\n%s\n%s\n%s", was, is, strings.Join(flatParts(tree), "\n"), strings.Join(flatParts(after), "\n"), edits(rt, plan))
		}
		if _, second := repaired(rt, store, after); len(second.Trees) > 0 {
			rt.Fatalf("a second repair has something to do: %s\n%s\n%s", edits(rt, second), strings.Join(flatParts(tree), "\n"), strings.Join(flatParts(after), "\n"))
		}
	})
}

// textsOf are the texts of a session and the number of its calls.
func textsOf(tree *session.Tree) []string {
	var list []string
	for i := range tree.Root().Items {
		it := &tree.Root().Items[i]
		if it.Text != 0 && it.Role != session.Tool {
			list = append(list, fmt.Sprint(it.Text))
		}
		for range it.Calls {
			list = append(list, "call")
		}
	}
	return list
}

func flatParts(tree *session.Tree) []string {
	var list []string
	for i := range tree.Root().Items {
		it := &tree.Root().Items[i]
		line := fmt.Sprint(i, " ", it.Role, " text ", it.Text != 0)
		for _, c := range it.Calls {
			line += " call " + c.ID
		}
		for _, r := range it.Results {
			line += " answers " + r.CallID + "=" + r.Text
		}
		list = append(list, line)
	}
	return list
}

package rules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
)

// sequence draws messages of all kinds in any order: few ids, so that they
// meet, and texts that all differ, so that each can be followed.
func sequence(t *rapid.T) []said {
	id := rapid.SampledFrom([]string{"A", "B", "C", "A", "B", ""})
	var list []said
	for n := range rapid.IntRange(0, 12).Draw(t, "messages") {
		text := rapid.SampledFrom([]string{fmt.Sprint("text ", n), fmt.Sprint("text ", n), "", " \n"}).Draw(t, "text")
		m := said{role: session.Role(rapid.IntRange(1, 4).Draw(t, "role")), text: text, blank: text == " \n"}
		switch m.role {
		case session.Assistant:
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				m.calls = append(m.calls, session.Call{
					ID: id.Draw(t, "id"), Name: rapid.SampledFrom([]string{"read", "write", "read"}).Draw(t, "tool"),
					Args: rapid.SampledFrom([]string{"{}", "{"}).Draw(t, "arguments"),
				})
			}
		case session.Tool:
			output := rapid.SampledFrom([]string{fmt.Sprint("output ", n), fmt.Sprint("output ", n), "the same", "No result provided", ""}).Draw(t, "output")
			m = answer(id.Draw(t, "answers"), output)
			m.result.IsError = rapid.Bool().Draw(t, "error")
		}
		list = append(list, m)
	}
	return list
}

// TestRepairsOfAnySequence: a repair is deterministic and leaves nothing for a
// second one, loses nothing, keeps the order of what was said, and never gives a
// real result away for a placeholder. With
// SESSCTL_LONG=1 it runs 100,000 times.
func TestRepairsOfAnySequence(t *testing.T) {
	checkMany(t, 1000, 100000, func(rt *rapid.T) {
		store := &session.Store{Writer: session.Writer(rapid.IntRange(0, 2).Draw(rt, "writer"))}
		list := sequence(rt)
		tree := treeOf(list)
		after, plan := repaired(rt, store, tree)
		_, again := repaired(rt, store, treeOf(list))
		if first, second := edits(rt, plan), edits(rt, again); first != second {
			rt.Fatalf("two plans for the same session:\n%s\n%s", first, second)
		}
		if _, second := repaired(rt, store, after); len(second.Trees) > 0 {
			rt.Fatalf("a second repair has something to do:\n%s\n%s\n%s", edits(rt, second), strings.Join(shown(list), "\n"),
				strings.Join(shown(messagesOf(after.Root())), "\n"))
		}
		left := map[string]bool{}
		for _, planned := range plan.Trees {
			for _, f := range planned.Fixes {
				for _, e := range f.Edits {
					if e.Op == session.Quarantine {
						left[e.Ref.Key] = true
					}
				}
			}
		}
		keeps(rt, list, messagesOf(after.Root()), left)
	})
}

func edits(t *rapid.T, plan any) string {
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// keeps makes sure that everything that was said is still there or in the
// receipt, in its order.
func keeps(t *rapid.T, before, after []said, left map[string]bool) {
	var was, is []string
	real := map[string]bool{} // texts of real results
	for i, m := range before {
		switch {
		case left[fmt.Sprint(i)]:
		case m.result != nil && !session.IsPlaceholder(m.result.Text):
			real[m.result.Text] = true
		case m.result == nil && strings.TrimSpace(m.text) != "":
			was = append(was, m.role.String()+m.text)
		}
		for _, c := range m.calls {
			was = append(was, c.Name)
		}
	}
	for _, m := range after {
		if m.result != nil {
			delete(real, m.result.Text)
		} else if strings.TrimSpace(m.text) != "" {
			is = append(is, m.role.String()+m.text)
		}
		for _, c := range m.calls {
			is = append(is, c.Name)
			if c.Args != "{}" && c.Args != `{"INVALID_JSON":"{"}` {
				t.Fatalf("arguments became %s", c.Args)
			}
		}
	}
	if !slices.Equal(was, is) {
		t.Fatalf("said before:\n%s\nsaid after:\n%s", strings.Join(was, "\n"), strings.Join(is, "\n"))
	}
	for text := range real {
		t.Fatalf("the result %q is neither in the session nor in the receipt", text)
	}
}

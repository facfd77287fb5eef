package pairing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
)

// conversation builds items from a short notation: "u" user, "a" assistant
// text, "a:x,y" an assistant turn that calls x and y, "t:x" a result for x,
// "t:x=2" one with another text, "t:x~" a placeholder for it, "t:x?" one that
// waits for approval. "r:x" is a user item with a result and "R:x" one with text
// besides, "a:x,<x" an assistant turn that holds a result, and "-" an id that is
// empty. "s:x" is an assistant turn with a call that the provider ran, "s:<x" one
// with its result.
func conversation(turns string) []session.Item {
	roles := map[string]session.Role{
		"u": session.User, "r": session.User, "R": session.User, "a": session.Assistant, "s": session.Assistant, "t": session.Tool,
	}
	var items []session.Item
	for turn := range strings.FieldsSeq(turns) {
		kind, rest, _ := strings.Cut(turn, ":")
		it := session.Item{Role: roles[kind]}
		if kind == "R" {
			it.Text = session.DigestOf("and a text")
		}
		for word := range strings.SplitSeq(rest, ",") {
			id, result := strings.CutPrefix(word, "<")
			switch {
			case word == "":
			case it.Role == session.Assistant && !result:
				it.Calls = append(it.Calls, session.Call{ID: strings.Trim(id, "-"), Server: kind == "s"})
			default:
				it.Results = append(it.Results, resultFrom(id, kind == "s"))
			}
		}
		items = append(items, it)
	}
	return items
}

func resultFrom(word string, server bool) session.Result {
	id, placeholder := strings.CutSuffix(word, "~")
	id, pending := strings.CutSuffix(id, "?")
	id, text, _ := strings.Cut(id, "=")
	return session.Result{
		CallID: strings.Trim(id, "-"), Digest: session.DigestOf("result" + text),
		Synthetic: placeholder, Pending: pending, Server: server,
	}
}

// outcome prints a pairing in the same short form.
func outcome(p *Pairing) string {
	var b strings.Builder
	for _, pair := range p.Pairs {
		fmt.Fprintf(&b, "%d.%d=%d%s ", pair.Call.Item, pair.Call.Nth, pair.Result.Item, [...]string{"", "late", "early", "inside"}[pair.Place])
	}
	for _, m := range p.Missing {
		fmt.Fprintf(&b, "missing:%d.%d%s ", m.Call.Item, m.Call.Nth, map[bool]string{true: "tail"}[m.Tail])
	}
	for _, o := range p.Orphans {
		fmt.Fprintf(&b, "orphan:%d ", o.Item)
	}
	for _, e := range p.Extras {
		kind := "conflict"
		switch {
		case e.Placeholder:
			kind = "shadow"
		case e.Real:
			kind = "real"
		case e.Same:
			kind = "same"
		}
		fmt.Fprintf(&b, "%s:%d/%d ", kind, e.Result.Item, p.Pairs[e.Pair].Call.Item)
	}
	return strings.TrimSpace(b.String())
}

func TestClaim(t *testing.T) {
	for _, tc := range []struct{ name, turns, want string }{
		{"plain", "u a:x t:x a", "1.0=2"},
		{"parallel, order free", "u a:x,y t:y t:x a", "1.0=3 1.1=2"},
		{"one of two missing", "u a:x,y t:x u", "1.0=2 missing:1.1"},
		{"unanswered at the tail", "u a:x,y t:x", "1.0=2 missing:1.1tail"},
		{"late after a user turn", "u a:x u t:x a", "1.0=3late"},
		{"late results of one id twice in a turn, in order", "u a:x,x u t:x t:x a", "1.0=3late 1.1=4late"},
		{"late after another pair", "u a:x a:y t:y t:x", "1.0=4late 2.0=3"},
		{"early", "u t:x a:x a", "2.0=1early"},
		{"orphan", "u a t:z", "orphan:2"},
		{"same twice", "u a:x t:x t:x a", "1.0=2 same:3/1"},
		{"two different", "u a:x t:x t:x=2 a", "1.0=2 conflict:3/1"},
		{"placeholder then real", "u a:x t:x~ t:x a", "1.0=3 shadow:2/1"},
		{"placeholder, real later", "u a:x t:x~ u t:x a", "1.0=4late shadow:2/1"},
		{"placeholder alone", "u a:x t:x~ a", "1.0=2"},
		{"two placeholders say the same, whatever their words", "u a:x t:x=1~ t:x=2~ a", "1.0=2 same:3/1"},
		{"waiting for approval", "u a:x t:x?", "1.0=2"},
		{"waiting, then the final result", "u a:x t:x? t:x a", "1.0=3 shadow:2/1"},
		{"waiting and a placeholder", "u a:x t:x~ t:x? a", "1.0=3 shadow:2/1"},
		{"a real result that no call can claim, beside a placeholder", "u t:x a:x t:x~ u a:x t:x", "2.0=3 5.0=6 real:1/2"},
		{"reused id, both answered", "u a:x t:x a:x t:x", "1.0=2 3.0=4"},
		{"reused id, second unanswered", "u a:x t:x a:x u", "1.0=2 missing:3.0"},
		{"reused id, first unanswered", "u a:x u a:x t:x", "3.0=4 missing:1.0"},
		{"reused id, result before both is nobody's", "u t:x a:x u a:x u", "missing:2.0 missing:4.0 orphan:1"},
		{"neighbours before greedy late matches", "u a:x u a:x t:x u t:x", "1.0=6late 3.0=4"},
		{"id twice in one turn", "u a:x,x t:x t:x=2 a", "1.0=2 1.1=3"},
		{"results in user items", "u a:x,y r:x r:y a", "1.0=2 1.1=3"},
		{"a tool item, then a user item with the rest and a text", "u a:x,y t:x R:y a", "1.0=2 1.1=3"},
		{"a result behind the user's text is late", "u a:x,y R:x r:y a", "1.0=2 1.1=3late"},
		{"no call is at the end behind the user's text", "u a:x,y R:x", "1.0=2 missing:1.1"},
		{"a call is at the end although user items hold results", "u a:x,y r:x", "1.0=2 missing:1.1tail"},
		{"a result in the message of its call", "u a:x,<x u", "1.0=1inside"},
		{"a result in a later message", "u a:x a:<x u", "1.0=2inside"},
		{"a result in an earlier message", "u a:<x a:x u", "2.0=1inside"},
		{"the right place goes before the message itself", "u a:x,<x t:x a", "1.0=2 same:1/1"},
		{"the real one inside goes before the placeholder behind it", "u a:x,<x t:x~ a", "1.0=1inside shadow:2/1"},
		{"a result inside is that of the call beside it, not of the next", "u a:x,<x a:x t:x", "1.0=1inside 2.0=3"},
		{"nobody's result inside a message", "u a:<z u", "orphan:1"},
		{"tools that the provider ran are passed over", "u s:x s:<x a:x t:x u", "3.0=4"},
		{"a lone call without an id", "u a:- t:z a", "1.0=2"},
		{"a lone result without an id", "u a:x t:- a", "1.0=2"},
		{"both without an id", "u a:- t:- a", "1.0=2"},
		{"one of two calls without an id", "u a:-,x t:z t:x a", "1.1=3 missing:1.0 orphan:2"},
		{"two results for a call without an id", "u a:- t:y t:z a", "missing:1.0 orphan:2 orphan:3"},
		{"a repeated result is no answer to a call without an id", "u a:x t:x a:- t:x a", "1.0=2 missing:3.0 same:4/1"},
		{"ids that differ", "u a:x t:z a", "missing:1.0 orphan:2"},
		{"nothing", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := outcome(ClaimResults(conversation(tc.turns), func(int) bool { return true }))
			if got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.turns, got, tc.want)
			}
		})
	}
}

func TestClaimPassesOverWhatReachesNoModel(t *testing.T) {
	items := conversation("u a:x a:l t:x a")
	items = append(items[:2], append([]session.Item{{Kind: session.SubSession}}, items[2:]...)...)
	got := ClaimResults(items, func(i int) bool { return i != 3 })
	if o := outcome(got); o != "1.0=4" {
		t.Errorf("got %s", o)
	}
}

// anyTurns draws conversations that no runtime would write.
func anyTurns() *rapid.Generator[string] {
	words := []string{
		"u", "a", "a:x", "a:x,y", "a:x,x", "t:x", "t:y", "t:x=2", "t:x~", "t:x?", "t:x,y", "t:z",
		"r:x", "r:x,y", "R:y", "a:x,<x", "a:<y", "a:-", "t:-", "s:x,<x", "s:x",
	}
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12), func(turns []string) string { return strings.Join(turns, " ") })
}

// TestClaimDoesNotMindWhatReachesNoModel: items that no request holds change
// nothing, wherever they stand.
func TestClaimDoesNotMindWhatReachesNoModel(t *testing.T) {
	unseen := []session.Item{
		{Kind: session.SubSession}, {Kind: session.Summary}, {Kind: session.Other},
		{Role: session.User, Flags: session.Archived}, {Role: session.Assistant, Flags: session.Skipped, Calls: []session.Call{{ID: "x"}}},
		{Role: session.Tool, Flags: session.Archived, Results: []session.Result{{CallID: "x"}}},
		{Role: session.Assistant, Calls: []session.Call{{ID: "leaked"}}}, // keep passes this one over
	}
	leaked := func(it *session.Item) bool { return len(it.Calls) == 1 && it.Calls[0].ID == "leaked" }
	rapid.Check(t, func(rt *rapid.T) {
		turns := anyTurns().Draw(rt, "turns")
		plain := conversation(turns)
		var mixed []session.Item
		var place []int // of each item of mixed in plain
		for i := range plain {
			for _, extra := range rapid.SliceOfN(rapid.SampledFrom(unseen), 0, 2).Draw(rt, "unseen") {
				mixed, place = append(mixed, extra), append(place, -1)
			}
			mixed, place = append(mixed, plain[i]), append(place, i)
		}
		got := ClaimResults(mixed, func(i int) bool { return !leaked(&mixed[i]) })
		got.renumber(place)
		if want := ClaimResults(plain, func(int) bool { return true }); outcome(got) != outcome(want) {
			rt.Fatalf("%s\n got %s\nwant %s", turns, outcome(got), outcome(want))
		}
	})
}

// renumber puts other indexes in the place of items.
func (p *Pairing) renumber(place []int) {
	for n := range p.Pairs {
		p.Pairs[n].Call.Item, p.Pairs[n].Result.Item = place[p.Pairs[n].Call.Item], place[p.Pairs[n].Result.Item]
	}
	for n := range p.Missing {
		p.Missing[n].Call.Item = place[p.Missing[n].Call.Item]
	}
	for n := range p.Orphans {
		p.Orphans[n].Item = place[p.Orphans[n].Item]
	}
	for n := range p.Extras {
		p.Extras[n].Result.Item = place[p.Extras[n].Result.Item]
	}
}

// TestClaimAccountsForEverything: each call and each result ends up in one place,
// and a real result gives way to a placeholder only where it stands before every
// call that it could answer.
func TestClaimAccountsForEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		turns := anyTurns().Draw(rt, "turns")
		items := conversation(turns)
		p := ClaimResults(items, func(int) bool { return true })
		calls, results := map[Occurrence]int{}, map[Occurrence]int{}
		for _, pair := range p.Pairs {
			calls[pair.Call]++
			results[pair.Result]++
			if a, b := callID(items, pair.Call), resultOf(items, pair.Result).CallID; a != b && a != "" && b != "" {
				rt.Fatalf("%s: pair %+v joins two ids", turns, pair)
			}
			if (pair.Place == Inside) != (items[pair.Result.Item].Role == session.Assistant) {
				rt.Fatalf("%s: pair %+v has a wrong place", turns, pair)
			}
		}
		for _, m := range p.Missing {
			calls[m.Call]++
		}
		for _, o := range p.Orphans {
			results[o]++
		}
		for _, e := range p.Extras {
			results[e.Result]++
			for i := range items[:e.Result.Item] {
				if e.Real && slices.ContainsFunc(items[i].Calls, func(c session.Call) bool { return !c.Server && c.ID == resultOf(items, e.Result).CallID }) {
					rt.Fatalf("%s: %+v gives way to a worse result", turns, e)
				}
			}
		}
		checkOnce(rt, turns, items, calls, results)
	})
}

func checkOnce(t *rapid.T, turns string, items []session.Item, calls, results map[Occurrence]int) {
	for i := range items {
		for n := range items[i].Calls {
			if got := calls[Occurrence{i, n}]; got != once(items[i].Calls[n].Server) {
				t.Errorf("%s: call %d.%d is named %d times", turns, i, n, got)
			}
		}
		for n := range items[i].Results {
			if got := results[Occurrence{i, n}]; got != once(items[i].Results[n].Server) {
				t.Errorf("%s: result %d.%d is named %d times", turns, i, n, got)
			}
		}
	}
}

// once is how often a call or a result is named: never when the provider ran it.
func once(server bool) int {
	if server {
		return 0
	}
	return 1
}

func callID(items []session.Item, at Occurrence) string { return items[at.Item].Calls[at.Nth].ID }

func resultOf(items []session.Item, at Occurrence) *session.Result {
	return &items[at.Item].Results[at.Nth]
}

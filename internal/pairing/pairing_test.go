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
// waits for approval.
func conversation(turns string) []session.Item {
	var items []session.Item
	for turn := range strings.FieldsSeq(turns) {
		role, rest, _ := strings.Cut(turn, ":")
		it := session.Item{Role: map[string]session.Role{"u": session.User, "a": session.Assistant, "t": session.Tool}[role]}
		for id := range strings.SplitSeq(rest, ",") {
			switch {
			case id == "":
			case role == "a":
				it.Calls = append(it.Calls, session.Call{ID: id})
			default:
				id, placeholder := strings.CutSuffix(id, "~")
				id, pending := strings.CutSuffix(id, "?")
				id, text, _ := strings.Cut(id, "=")
				it.Results = append(it.Results, session.Result{
					CallID: id, Digest: session.DigestOf("result" + text), Synthetic: placeholder, Pending: pending,
				})
			}
		}
		items = append(items, it)
	}
	return items
}

// outcome prints a pairing in the same short form.
func outcome(p *Pairing) string {
	var b strings.Builder
	for _, pair := range p.Pairs {
		fmt.Fprintf(&b, "%d.%d=%d%s ", pair.Call.Item, pair.Call.Nth, pair.Result.Item, [...]string{"", "late", "early"}[pair.Place])
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
		{"nothing", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := outcome(Claim(conversation(tc.turns), func(int) bool { return true }))
			if got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.turns, got, tc.want)
			}
		})
	}
}

func TestClaimPassesOverWhatReachesNoModel(t *testing.T) {
	items := conversation("u a:x a:l t:x a")
	items = append(items[:2], append([]session.Item{{Kind: session.SubSession}}, items[2:]...)...)
	got := Claim(items, func(i int) bool { return i != 3 })
	if o := outcome(got); o != "1.0=4" || !got.Clean() {
		t.Errorf("got %s, clean %v", o, got.Clean())
	}
}

// TestClaimAccountsForEverything: each call and each result ends up in one place,
// and a real result gives way to a placeholder only where it stands before every
// call that it could answer.
func TestClaimAccountsForEverything(t *testing.T) {
	words := []string{"u", "a", "a:x", "a:x,y", "a:x,x", "t:x", "t:y", "t:x=2", "t:x~", "t:x?", "t:x,y", "t:z"}
	rapid.Check(t, func(rt *rapid.T) {
		turns := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(rt, "turns"), " ")
		items := conversation(turns)
		p := Claim(items, func(int) bool { return true })
		calls, results := map[Occurrence]int{}, map[Occurrence]int{}
		for _, pair := range p.Pairs {
			calls[pair.Call]++
			results[pair.Result]++
			if callID(items, pair.Call) != resultOf(items, pair.Result).CallID {
				rt.Fatalf("%s: pair %+v joins two ids", turns, pair)
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
				if e.Real && slices.ContainsFunc(items[i].Calls, func(c session.Call) bool { return c.ID == resultOf(items, e.Result).CallID }) {
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
			if got := calls[Occurrence{i, n}]; got != 1 {
				t.Errorf("%s: call %d.%d is named %d times", turns, i, n, got)
			}
		}
		for n := range items[i].Results {
			if got := results[Occurrence{i, n}]; got != 1 {
				t.Errorf("%s: result %d.%d is named %d times", turns, i, n, got)
			}
		}
	}
}

func callID(items []session.Item, at Occurrence) string { return items[at.Item].Calls[at.Nth].ID }

func resultOf(items []session.Item, at Occurrence) *session.Result {
	return &items[at.Item].Results[at.Nth]
}

package pairing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// conversation builds items from a short notation: "u" user, "a" assistant
// text, "a:x,y" an assistant turn that calls x and y, "t:x" a result for x,
// "t:x=2" one with another text, "t:x~" a placeholder for it.
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
				id, text, _ := strings.Cut(id, "=")
				it.Results = append(it.Results, session.Result{CallID: id, Digest: session.DigestOf("result" + text), Synthetic: placeholder})
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
		if e.Placeholder {
			kind = "shadow"
		} else if e.Same {
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

package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// known is a store a.db with five sessions, and b.db with one.
func known() []view.Known {
	day := func(n int) time.Time { return time.Date(2026, 2, n, 9, 0, 0, 0, time.UTC) }
	return []view.Known{
		{Store: "a.db", ID: "1f0c9e2a-1111", Title: "Optimize my Dockerfile", Created: day(3), Root: true},
		{Store: "a.db", ID: "43b02aea-2222", Title: "Transferred task", Created: day(4)},
		{Store: "a.db", ID: "1f0c9e2a-3333", Title: "The same start", Created: day(5), Root: true},
		{Store: "a.db", ID: "9bd7326a-4444", Title: "README review", Created: day(1), Root: true},
		{Store: "a.db", ID: "9bd7326a-4444-5", Title: "A longer id", Created: day(1), Root: true},
		{Store: "b.db", ID: "77aa0000-6666", Title: "Elsewhere", Created: day(2), Root: true},
		{Store: "b.db", ID: "shop/ann/cart-of-a-day", Title: "Hers", Created: day(2)},
		{Store: "b.db", ID: "expert/ann/cart-of-a-day", Title: "Of a tool", Created: day(1)},
		{Store: "b.db", ID: "-5", Title: "An id like a number", Created: day(1)},
	}
}

func TestChoose(t *testing.T) {
	tests := []struct {
		name, want string
		problem    []string // words of the error and of what to do
	}{
		{name: "1f0c9e2a-1111", want: "1f0c9e2a-1111"},
		{name: "43", want: "43b02aea-2222"},
		{name: "9bd7326a-4444", want: "9bd7326a-4444"}, // an id wins over a beginning
		{name: "7", want: "77aa0000-6666"},
		{name: "-1", want: "1f0c9e2a-3333"}, // the newest without a parent
		{name: "-3", want: "77aa0000-6666"},
		{name: "-4", want: "9bd7326a-4444-5"}, // of equally old ones the later stored
		{name: "-6", problem: []string{"no session -6", "the store has 5 root sessions", "-1"}},
		{name: "1f", problem: []string{`2 sessions begin with "1f"`, "1f0c9e2a-3 (2026-02-05 \"The same start\"), 1f0c9e2a-1 (2026-02-03"}},
		{name: "1f0d", problem: []string{`no session "1f0d"`, "nearest: 1f0c9e2a-3 "}},
		{name: "readme", want: "9bd7326a-4444"},
		{name: "Dockerfile  OPTIMIZE", want: "1f0c9e2a-1111"}, // all words, in any order
		{name: "task", want: "43b02aea-2222"},                 // of a sub-session
		{name: "of a", want: "expert/ann/cart-of-a-day"},
		{name: "longer number", problem: []string{`no session "longer number"`}}, // of two titles
		{name: "er", problem: []string{`3 sessions have "er" in their titles`, "Type more words, or an id: "}},
		{name: "same optimize", problem: []string{`no session "same optimize"`, "nearest: 1f0c9e2a-1"}},
		{name: "cart-of-a-day", problem: []string{
			`2 sessions have the id "cart-of-a-day"`, `shop/ann/cart-of-a-day (2026-02-02 "Hers"), expert/ann/cart-of-a-day (`,
		}},
		{name: "expert/ann/cart-of-a-day", want: "expert/ann/cart-of-a-day"},
		{name: "day", problem: []string{`no session "day"`}},
		{name: "expert/bob/cart", problem: []string{"nearest: expert/ann/cart-of- (2026"}}, // whose it is stays whole
		{name: "-5", want: "-5"}, // an id wins over a number
		{name: "", problem: []string{`no session ""`}},
		{name: "\x1b[2J", problem: []string{`no session "\x1b[2J"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := view.ChooseSession(known(), tt.name)
			if got.ID != tt.want {
				t.Errorf("chose %q, want %q", got.ID, tt.want)
			}
			says(t, err, tt.problem)
		})
	}
}

func TestChooseAmongStores(t *testing.T) {
	list := append(known(), view.Known{Store: "b.db", ID: "43b02aea-2222"})
	_, err := view.ChooseSession(list, "43b02aea-2222")
	says(t, err, []string{"in a.db and in b.db", "Name the store"})
	_, err = view.ChooseSession(nil, "x")
	says(t, err, []string{`no session "x"`, "none"})
}

func TestOnlyRoot(t *testing.T) {
	got, err := view.OnlyRoot(known()[:2], "a.db")
	if got.ID != "1f0c9e2a-1111" || err != nil {
		t.Errorf("%q, %v", got.ID, err)
	}
	_, err = view.OnlyRoot(known(), "a.db")
	says(t, err, []string{"a.db holds 5 sessions", `1f0c9e2a-3333 (2026-02-05 "The same start")`})
	_, err = view.OnlyRoot(known()[1:2], "a.db")
	says(t, err, []string{"a.db holds no session", "sessctl stores"})
}

// says checks that the error is a usage problem with these words, or nil
// without any.
func says(t *testing.T, err error, words []string) {
	t.Helper()
	if words == nil {
		if err != nil {
			t.Errorf("error %v", err)
		}
		return
	}
	p, ok := err.(*problem.Error)
	if !ok || p.Class != problem.Usage {
		t.Fatalf("%v is no usage problem", err)
	}
	for _, w := range words {
		if !strings.Contains(p.What+"\n"+p.Next, w) {
			t.Errorf("%q and %q do not say %q", p.What, p.Next, w)
		}
	}
}

func TestHostileNames(t *testing.T) {
	list := []view.Known{{ID: "\x1b[2J-00000000000000", Title: "\x1b]0;x\x07" + strings.Repeat("long ", 30), Root: true}}
	_, err := view.ChooseSession(list, "q")
	says(t, err, []string{`"\x1b[2J-000`, `"\x1b]0;x\along`})
	if strings.ContainsAny(err.(*problem.Error).Next, "\x1b\x07") {
		t.Errorf("%q", err.(*problem.Error).Next)
	}
}

func TestSearchKeepsTheTreesThatTheNameMayMean(t *testing.T) {
	tree := treetest.Tree(t, "P \"Title\"\n  user\nC<P\n  user\n  user")
	search := view.Search{Name: "C"}
	search.Add("a.db", tree)
	want := []view.Known{{Store: "a.db", ID: "P", Top: "P", Title: "Title", Root: true}, {Store: "a.db", ID: "C", Top: "P", Tree: tree}}
	if diff := cmp.Diff(want, search.Known); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	search = view.Search{Name: "s"}
	for _, id := range []string{"s1", "s2", "s3", "s4", "s5", "x", "s"} {
		search.Add("a.db", treetest.Tree(t, id+"\n  user"))
	}
	kept := ""
	for _, k := range search.Known {
		if k.Tree != nil {
			kept += k.ID + " "
		}
	}
	if want := "s1 s2 s3 s4 s "; kept != want {
		t.Errorf("kept the trees of %q, want %q: few for a beginning, always that of the id", kept, want)
	}
}

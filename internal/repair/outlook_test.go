package repair

import (
	"fmt"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// The first change is named, and the first signed thinking at or behind it that
// a request will hold.
func TestTheFirstChangeOfASession(t *testing.T) {
	tests := []struct {
		name   string
		edits  []session.Edit
		signed []int // items that hold signed thinking
		want   string
	}{
		{"nothing", nil, []int{1}, "[]"},
		{"an id, and no thinking", []session.Edit{edited(2, "/calls/0 id=x")}, nil, "P:1"},
		{"thinking before it only", []session.Edit{edited(3, "/results/0 call=x")}, []int{1}, "P:2"},
		{"thinking in the changed item", []session.Edit{edited(2, "/calls/0 id=x")}, []int{1, 3}, "P:1 signed 1"},
		{"thinking behind it", []session.Edit{edited(2, "/calls/0 id=x")}, []int{3}, "P:1 signed 3"},
		{"thinking that leaves", []session.Edit{edited(4, "quarantine")}, []int{3}, "P:3"},
		{"thinking behind what leaves", []session.Edit{edited(1, "quarantine")}, []int{3}, "P:0 signed 3"},
		{"thinking that is not sent", []session.Edit{edited(2, "/calls/0 id=x")}, []int{4}, "P:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := treetest.Tree(t, "P\n  user\n  root c1()\n  root <c1\n  root \"done\"\n  root \"old\" archived")
			for _, i := range tt.signed {
				tree.Root().Items[i].Blocks = []session.Block{{Kind: session.ReasoningBlock, Signature: 7}}
			}
			tree.Root().Items[0].Blocks = []session.Block{{Kind: session.ReasoningBlock}}
			d := newDesk(tree, nil)
			if err := d.fix(tt.edits); err != nil {
				t.Fatal(err)
			}
			got := "[]"
			for _, c := range firstChanged(tree, d.tree()) {
				got = fmt.Sprint(c.Session, ":", c.Item)
				if c.Signed != nil {
					got += fmt.Sprint(" signed ", *c.Signed)
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// What only a request would have otherwise is no reason against a repair.
func TestFindingsThatRefuseATree(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  root \"done\"")
	for _, tt := range []struct {
		rule     *rules.Rule
		severity rules.Severity
		refused  bool
	}{
		{&rules.Rule{ID: "SC999"}, rules.Error, true},
		{&rules.Rule{ID: "SC999"}, rules.Warning, true},
		{&rules.Rule{ID: "SC999"}, rules.Info, false},
		{&rules.Rule{ID: "SC999", Profiled: true}, rules.Error, false},
		{&rules.Rule{ID: "SC999", Profiled: true, Safety: rules.Kept}, rules.Error, true},
	} {
		f := &check.Finding{Rule: tt.rule, Severity: tt.severity, Fingerprint: "new", Row: "items/2"}
		if got := introduced(tree, nil, []*check.Finding{f}); (got != nil) != tt.refused {
			t.Errorf("%s, %s: got %v", tt.rule.ID, tt.severity, got)
		}
		if got := introduced(tree, []*check.Finding{f}, []*check.Finding{f}); got != nil {
			t.Errorf("%s: it was there before", tt.rule.ID)
		}
	}
}

package repair

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		{"an item that moves in before thinking", []session.Edit{edited(4, "move 1")}, []int{1}, "P:1 signed 1"},
		{"thinking that moves", []session.Edit{edited(4, "move 1")}, []int{3}, "P:1 signed 3"},
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
			d := newDraft(tree, nil)
			if err := d.applyFix(tt.edits); err != nil {
				t.Fatal(err)
			}
			got := "[]"
			for _, c := range firstChanged(tree, d.buildTree()) {
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

// A change within an item stands before the signed thinking that follows in it,
// and not before the one that the item begins with.
func TestAChangeWithinAnItemWithThinking(t *testing.T) {
	const text, thinking, call = session.TextBlock, session.ReasoningBlock, session.CallBlock
	tests := []struct {
		name   string
		edit   string // of the item
		blocks []session.BlockKind
		signed bool
	}{
		{"arguments behind thinking", "/calls/0 wrap", []session.BlockKind{thinking, call}, false},
		{"an id before thinking", "/calls/0 id=x", []session.BlockKind{thinking, call, thinking}, true},
		{"a blank text behind thinking", "text=", []session.BlockKind{thinking, text, call}, false},
		{"a blank text before thinking", "text=", []session.BlockKind{text, thinking, call}, true},
		{"a blank text between thinking", "text=", []session.BlockKind{thinking, text, thinking, call}, true},
		{"the id of a part behind thinking", "/blocks/1 item_id=x", []session.BlockKind{thinking, call}, false},
		{"thinking itself", "scrub", []session.BlockKind{thinking, text, call}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := treetest.Tree(t, "P\n  user\n  root \"  \" think(\xff) c1([1])\n  root <c1")
			it := &tree.Root().Items[1]
			it.Calls[0].Form = session.ArgsValue
			for _, kind := range tt.blocks {
				b := session.Block{Kind: kind, Blank: kind == text}
				if kind == thinking {
					b.Signature = 7
				}
				it.Blocks = append(it.Blocks, b)
			}
			d := newDraft(tree, nil)
			if err := d.applyFix([]session.Edit{edited(2, tt.edit)}); err != nil {
				t.Fatal(err)
			}
			changes := firstChanged(tree, d.buildTree())
			if len(changes) != 1 || changes[0].Item != 1 || (changes[0].Signed != nil) != tt.signed {
				t.Errorf("got %+v, want one of item 1 and signed %t", changes, tt.signed)
			}
		})
	}
}

// Signed thinking that comes from another session stands behind other items there.
func TestThinkingThatMovesIntoAnotherSession(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  sub C\n  worker \"seen\"\nC<P\n  user\n  worker \"done\"")
	tree.Root().Items[2].Blocks = []session.Block{{Kind: session.ReasoningBlock, Signature: 7}}
	d := newDraft(tree, nil)
	move := edited(3, "move 4")
	move.To, move.After.Session = "C", "C"
	if err := d.applyFix([]session.Edit{move}); err != nil {
		t.Fatal(err)
	}
	at := 2
	want := []FirstChange{{Place: session.Place{Session: "P", Item: 2}}, {Place: session.Place{Session: "C", Item: 1}, Signed: &at, SignedIn: "P"}}
	if diff := cmp.Diff(want, firstChanged(tree, d.buildTree())); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// What only a request would have otherwise, or a warning that no repair takes back,
// is no reason against a repair.
func TestFindingsThatRefuseATree(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  root \"done\"")
	for _, tt := range []struct {
		rule     *rules.Rule
		severity rules.Severity
		refused  bool
	}{
		{&rules.Rule{ID: "SC999"}, rules.Error, true},
		{&rules.Rule{ID: "SC999"}, rules.Warning, false},
		{&rules.Rule{ID: "SC999", Safety: rules.Manual}, rules.Warning, true},
		{&rules.Rule{ID: "SC999"}, rules.Info, false},
		{&rules.Rule{ID: "SC999", Profiled: true}, rules.Error, false},
		{&rules.Rule{ID: "SC999", Profiled: true, Safety: rules.Kept}, rules.Error, true},
	} {
		f := &check.Finding{Defect: rules.Defect{Rule: tt.rule, Severity: tt.severity}, Fingerprint: "new", Row: "items/2"}
		if got := introducedFinding(tree, nil, []*check.Finding{f}); (got != nil) != tt.refused {
			t.Errorf("%s, %s: got %v", tt.rule.ID, tt.severity, got)
		}
		if got := introducedFinding(tree, []*check.Finding{f}, []*check.Finding{f}); got != nil {
			t.Errorf("%s: it was there before", tt.rule.ID)
		}
	}
}

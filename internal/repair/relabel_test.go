package repair

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// labelled is a session with branches, one of which is no label, and archived items.
func labelled(t testing.TB) *session.Tree {
	tree := treetest.Tree(t, `
P
  user "q" archived
  root c1()
  root <c1 "one"`)
	root := tree.Root()
	own := root.Items[1].Own()
	own.Branch, own.Scope, own.Invocation = "orch.a", "scope", "e-1"
	root.Faults = []session.Fault{
		{Kind: session.Undecodable, Ref: root.ItemRef(2), Item: 2, Field: "branch"},
		{Kind: session.BadTime, Ref: root.ItemRef(2), Item: 2, Field: "time"},
	}
	return tree
}

// labels lists where the items of a tree stand among branches.
func labels(tree *session.Tree) string {
	var b strings.Builder
	for i := range tree.Root().Items {
		it := &tree.Root().Items[i]
		fmt.Fprintf(&b, "%s %q %t\n", it.Key, it.Branch(), it.Flags.Has(session.Archived))
	}
	return b.String()
}

func TestAnEditSetsBranchesAndWhatIsArchived(t *testing.T) {
	const before = "1 \"\" true\n2 \"orch.a\" false\n3 \"\" false\n"
	tests := []struct {
		name, edit string
		item       int
		line, want string
		says       bool // it is another record then, as far as the ledger goes
	}{
		{"another branch", "branch=orch", 2, `2 "orch.a"`, `2 "orch"`, true},
		{"no branch", "branch", 2, `2 "orch.a"`, `2 ""`, true},
		{"a first branch", "branch=orch", 3, `3 ""`, `3 "orch"`, true},
		{"archived", "archived=true", 2, `"orch.a" false`, `"orch.a" true`, false},
		{"archived as it was", "archived=true", 1, `1 "" true`, `1 "" true`, false},
		{"sent again", "archived=false", 1, `1 "" true`, `1 "" false`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := labelled(t)
			d := newDraft(tree, nil)
			if err := d.applyFix([]session.Edit{edited(tt.item, tt.edit)}); err != nil {
				t.Fatal(err)
			}
			after := d.buildTree()
			if diff := cmp.Diff(strings.Replace(before, tt.line, tt.want, 1), labels(after)); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
			if diff := cmp.Diff(before, labels(tree)); diff != "" {
				t.Errorf("the tree that it began with changed:\n%s", diff)
			}
			meant := tree.Root().Items[tt.item-1].Meaning != after.Root().Items[tt.item-1].Meaning
			if says := len(d.rewritten) == 1; says != tt.says || meant != tt.says || len(d.sets) != 0 {
				t.Errorf("%d rewritings, another meaning: %t, %d sets for the adapter", len(d.rewritten), meant, len(d.sets))
			}
			if same := stateOf(tree) == stateOf(after); same != (tt.line == tt.want) {
				t.Errorf("planning takes both for one state: %t", same)
			}
		})
	}
}

func TestBranchesThatAreNotSetAreErrors(t *testing.T) {
	for words, what := range map[string]string{
		"2 branch=orch.a":   "already on that branch",
		"1 branch":          "already on that branch",
		"9 branch=orch":     "does not exist",
		"1 archived=maybe":  "true or false",
		"1 archived":        "true or false",
		"9 archived=true":   "does not exist",
		"2 /calls/0 branch": "no such part",
	} {
		var row int
		var edit string
		_, _ = fmt.Sscan(words, &row, &edit)
		_, edit, _ = strings.Cut(words, " ")
		if err := newDraft(labelled(t), nil).applyFix([]session.Edit{edited(row, edit)}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v, want %q", words, err, what)
		}
	}
}

func TestABranchMendsTheFaultOfItsOwn(t *testing.T) {
	d := newDraft(labelled(t), nil)
	if err := d.applyFix([]session.Edit{edited(3, "branch=orch")}); err != nil {
		t.Fatal(err)
	}
	if left := d.buildTree().Root().Faults; len(left) != 1 || left[0].Kind != session.BadTime {
		t.Errorf("faults left: %v", left)
	}
}

// An answer that a repair adds is seen by whoever sees the call.
func TestANewResultStandsOnTheBranchOfItsCall(t *testing.T) {
	tree := labelled(t)
	call := session.CallRef{Ref: tree.Root().ItemRef(1), ID: "c1", Name: "shell"}
	d := newDraft(tree, nil)
	err := d.applyFix([]session.Edit{{
		Op: session.Insert, To: "P", After: call.Ref, Call: &call,
		New: &session.NewItem{Kind: session.Message, Role: session.Tool, CallID: "c1", Text: "again"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	it := d.buildTree().Root().Items[2]
	if it.Table() != "" || it.Branch() != "orch.a" || it.Scope() != "scope" || it.Invocation() != "e-1" {
		t.Errorf("the new item is on branch %q, in scope %q, of invocation %q", it.Branch(), it.Scope(), it.Invocation())
	}
}

func TestVerifyComparesBranchesAndPositions(t *testing.T) {
	want := session.Item{Shared: &session.Shared{Table: "items", Branch: "orch"}, Key: "1", Position: 7}
	for _, tt := range []struct {
		name      string
		change    func(*session.Item)
		renumbers bool
		what      string
	}{
		{"another branch", func(it *session.Item) { it.Own().Branch = "orch.a" }, false, "branch"},
		{"archived", func(it *session.Item) { it.Flags |= session.Archived }, false, "flags"},
		{"another position", func(it *session.Item) { it.Position = 8 }, false, "position"},
		{"a position that the store gave anew", func(it *session.Item) { it.Position = 8 }, true, ""},
		{"another branch where the store renumbers", func(it *session.Item) { it.Own().Branch = ""; it.Position = 8 }, true, "branch"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := want
			tt.change(&got)
			v := verification{facts: &session.Store{Keys: session.Keys{Renumbers: tt.renumbers}}}
			if what := v.itemDifference(&want, &got, false); what != tt.what {
				t.Errorf("the difference is %q, want %q", what, tt.what)
			}
		})
	}
}

// Two fixes that set the branch of one item do not come in one round.
func TestABranchIsSetOnceARound(t *testing.T) {
	c := newClaims()
	c.claimEdits([]session.Edit{edited(2, "branch=orch")})
	for words, overlaps := range map[string]bool{"2 branch=other": true, "3 branch=orch": false, "2 archived=true": false, "2 scrub": true} {
		n, edit, _ := strings.Cut(words, " ")
		row := int(n[0] - '0')
		if got := c.conflictsWith([]session.Edit{edited(row, edit)}); got != overlaps {
			t.Errorf("%s overlaps: %t", words, got)
		}
	}
}

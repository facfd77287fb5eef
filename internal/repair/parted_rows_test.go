package repair

import (
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/treetest"
)

// In a store that keeps its rows, a result that leaves an item is a row of its own:
// the item's row says something else then, or is gone with the last result.
func TestResultsThatBecomeRows(t *testing.T) {
	tests := []struct {
		name  string
		edits []string
		after map[string]string // digests of rows
		kept  string
		want  Ledger
		err   string
	}{
		{
			name: "one of two", edits: []string{"/results/1 move 2"}, after: map[string]string{"1": "a", "2": "b", "3": "other", "new": "d"},
			kept: "items/3 both edited", want: Ledger{Before: 3, After: 4, Synthetic: 1, Edited: 1},
		},
		{
			name: "both", edits: []string{"/results/0 move 2", "/results/1 move 2"}, after: map[string]string{"1": "a", "2": "b", "new": "c", "newer": "d"},
			kept: "items/3 both left", want: Ledger{Before: 3, After: 4, Synthetic: 2, Quarantined: 1},
		},
		{
			name: "one that leaves", edits: []string{"/results/1 quarantine"}, after: map[string]string{"1": "a", "2": "b", "3": "other"},
			kept: "items/3#/results/1 both left; items/3 both edited", want: Ledger{Before: 3, After: 3, Edited: 1},
		},
		{name: "a row that still says both", edits: []string{"/results/1 move 2"}, after: map[string]string{"1": "a", "2": "b", "3": "c", "new": "d"}, err: "item 3 is unchanged"},
		{name: "a row that has to go", edits: []string{"/results/0 move 2", "/results/1 move 2"}, after: map[string]string{"1": "a", "2": "b", "3": "c", "new": "d"}, err: "item 3 still exists"},
		{name: "no new row", edits: []string{"/results/1 move 2"}, after: map[string]string{"1": "a", "2": "b", "3": "other"}, err: "0 new items are stored, and the plan adds 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := treetest.Tree(t, "P\n  user\n  root c1() c2()\n  root <c1 \"one\" <c2 \"two\"")
			tree.Root().Items[2].Body.Raw = []byte("both")
			plan := &Tree{Root: "P", Fixes: []Fix{{Rule: "SC104"}}}
			for _, e := range tt.edits {
				plan.Fixes[0].Edits = append(plan.Fixes[0].Edits, edited(3, e))
			}
			c, err := plan.executeFixes(tree, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.inRows()
			before := map[string]store.Sum{"P": {Items: map[string]string{"1": "a", "2": "b", "3": "c"}}}
			got, err := verifyBalance(before, map[string]store.Sum{"P": {Items: tt.after}}, c)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			var kept []string
			for _, k := range c.kept {
				kept = append(kept, strings.Join([]string{k.Row, k.Text, map[bool]string{true: "edited", false: "left"}[k.Edited]}, " "))
			}
			if err != nil || got != tt.want || strings.Join(kept, "; ") != tt.kept {
				t.Errorf("%+v, %v, kept %s", got, err, strings.Join(kept, "; "))
			}
		})
	}
}

// Where positions are times, what gets another place gets another time, and a new
// item the time of its place.
func TestTimesFollowPlaces(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user pos=10 at=7\n  root c1() pos=20 at=8\n  user pos=21 at=9")
	tree.Root().Tick = time.Microsecond
	before := tree.Root().Items
	d := newDraft(tree, nil)
	call := session.CallRef{Ref: tree.Root().ItemRef(1), ID: "c1"}
	if err := d.applyFix([]session.Edit{{
		Op: session.Insert, To: "P", After: call.Ref, Call: &call, New: &session.NewItem{Kind: session.Message, Role: session.Tool, CallID: "c1", Text: "x"},
	}}); err != nil {
		t.Fatal(err)
	}
	items := d.buildTree().Root().Items
	for i, want := range []struct{ position, micros int64 }{{10, 0}, {20, 0}, {21, 1}, {22, 1}} {
		from := before[min(i, 1)]
		if i == 3 {
			from = before[2]
		}
		if it := items[i]; it.Position != want.position || it.Time.Sub(from.Time).Microseconds() != want.micros {
			t.Errorf("item %d is at %d, %v after what it was or came of", i, it.Position, it.Time.Sub(from.Time))
		}
	}
}

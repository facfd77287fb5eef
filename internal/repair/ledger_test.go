package repair

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/treetest"
)

// A record holds other bytes if the plan edits it, and then it must.
func TestTheLedgerOfEdits(t *testing.T) {
	twin := departed{edit: session.Edit{Op: session.RemoveTwin, Ref: edited(2, "").Ref, Twin: edited(1, "").Ref}}
	two := map[string]string{"1": "a", "2": "a"}
	tests := []struct {
		name          string
		before, after map[string]string
		gone          []departed
		edited        []int
		want          Ledger
		err           string
	}{
		{name: "edited", before: two, after: map[string]string{"1": "b", "2": "a"}, edited: []int{1}, want: Ledger{Before: 2, After: 2, Edited: 1}},
		{name: "not edited", before: two, after: two, edited: []int{1}, err: "item 1 is unchanged"},
		{name: "edited without a reason", before: two, after: map[string]string{"1": "b", "2": "a"}, err: "the bytes of item 1 changed"},
		{name: "the other one edited", before: two, after: map[string]string{"1": "a", "2": "b"}, edited: []int{1}, err: "item "},
		{name: "edited and gone", before: two, after: map[string]string{"2": "a"}, edited: []int{1}, err: "item 1 is missing"},
		{name: "edited, but never there", before: two, after: two, edited: []int{3}, err: "0 items were changed, and the plan changes 1"},
		{name: "a twin of what is edited left", before: two, after: map[string]string{"1": "b"}, gone: []departed{twin}, edited: []int{1}, want: Ledger{Before: 2, After: 1, Removed: 1, Edited: 1}},
		{name: "a twin of what is not edited left", before: two, after: map[string]string{"1": "b"}, gone: []departed{twin}, err: "does not hold the same bytes"},
		{name: "a twin that differs in what nobody is sent", before: map[string]string{"1": "a/1", "2": "a/2"}, after: map[string]string{"1": "a/1"}, gone: []departed{twin}, want: Ledger{Before: 2, After: 1, Removed: 1}},
		{name: "a twin that says something else", before: map[string]string{"1": "a/1", "2": "b/1"}, after: map[string]string{"1": "a/1"}, gone: []departed{twin}, err: "does not hold the same bytes"},
		{name: "what nobody is sent is not edited", before: map[string]string{"1": "a/1"}, after: map[string]string{"1": "a/2"}, err: "the bytes of item 1 changed"},
		{name: "no twin left", before: map[string]string{"1": "c", "2": "a"}, after: map[string]string{"1": "b"}, gone: []departed{twin}, edited: []int{1}, err: "does not hold the same bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := &executed{gone: tt.gone, edited: recordSet{}}
			for _, n := range tt.edited {
				all.edited.addRecord(edited(n, "").Ref)
			}
			got, err := verifyBalance(map[string]store.Sum{"P": {Items: tt.before}}, map[string]store.Sum{"P": {Items: tt.after}}, all)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
			} else if err != nil || got != tt.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// The receipt keeps a record once, as it was stored, however often it is edited;
// one that is edited and leaves is kept as one that left.
func TestEditedRecordsAreKeptAsTheyWere(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  root \" \" c1({) c2()\n  root <c1 \"one\" <c2 \"two\"\n  root <c2 \"gone\"")
	items := tree.Root().Items
	for i, raw := range []string{"user", "calls", "results", "twice"} {
		items[i].Body.Raw = []byte(raw)
	}
	items[1].Calls[0].Form = session.ArgsBroken
	plan := &Tree{Root: "P"}
	for round, edits := range [][]session.Edit{
		{edited(2, "/calls/0 wrap"), edited(2, "/calls/1 id=x"), edited(3, "/results/1 move 1"), edited(4, "/results/0 call=x")},
		{edited(2, "/calls/0 id=y"), {Op: session.Set, Ref: session.Ref{Session: "P", Table: "items", Key: "3#results/1", Pointer: "/results/0"}, Field: "call", Value: new("x")}},
		{edited(4, "quarantine")},
	} {
		plan.Fixes = append(plan.Fixes, Fix{Round: round, Rule: "SC202", Fix: rules.Fix{Edits: edits}})
	}
	c, err := plan.executeFixes(tree, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, k := range c.kept {
		kept = append(kept, strings.Join([]string{k.Row, k.Text, map[bool]string{true: "edited", false: "left"}[k.Edited]}, " "))
	}
	if got, want := strings.Join(kept, "; "), "items/4 twice left; items/3 results edited; items/2 calls edited"; got != want {
		t.Errorf("kept %s\nwant %s", got, want)
	}
}

package repair

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// verify holds what a store now has of a tree against what the plan foretold:
// the same sessions with the same items, and a check that finds the same. rows
// says that records keep their keys and have positions; in a rewritten store
// they are numbered anew.
func verify(facts *session.Store, foretold, stored *session.Tree, rows bool) error {
	if len(foretold.Sessions) != len(stored.Sessions) {
		return fmt.Errorf("%d sessions are stored where the plan has %d", len(stored.Sessions), len(foretold.Sessions))
	}
	for _, want := range foretold.Sessions {
		got := stored.Session(want.ID)
		if got == nil {
			return fmt.Errorf("session %s is missing", want.ID)
		}
		if err := sameSession(want, got, rows); err != nil {
			return fmt.Errorf("session %s: %w", want.ID, err)
		}
	}
	want, got := check.Tree(facts, foretold, rules.All), check.Tree(facts, stored, rules.All)
	if len(want) != len(got) {
		return fmt.Errorf("a check finds %d things where the plan leaves %d", len(got), len(want))
	}
	places := map[string]int{}
	for i := range want {
		places[findingKey(want[i])]++
		places[findingKey(got[i])]--
	}
	for key, n := range places {
		if n != 0 {
			return fmt.Errorf("a check finds something else than the plan leaves: %s", key)
		}
	}
	return nil
}

func findingKey(f *check.Finding) string {
	return fmt.Sprint(f.Rule.ID, " ", f.Severity, " ", f.Session, ":", f.Item, " ", f.Call)
}

func sameSession(want, got *session.Session, rows bool) error {
	switch {
	case want.Parent != got.Parent:
		return fmt.Errorf("its parent is %q and not %q", got.Parent, want.Parent)
	case len(want.Items) != len(got.Items):
		return fmt.Errorf("it has %d items and not %d", len(got.Items), len(want.Items))
	case len(want.IndexRefs) != len(got.IndexRefs):
		return fmt.Errorf("it has %d index references and not %d", len(got.IndexRefs), len(want.IndexRefs))
	}
	for i := range want.IndexRefs {
		if want.IndexRefs[i].Index != got.IndexRefs[i].Index {
			return fmt.Errorf("%s is %d and not %d", want.IndexRefs[i].Field, got.IndexRefs[i].Index, want.IndexRefs[i].Index)
		}
	}
	for i := range want.Items {
		if !sameItem(&want.Items[i], &got.Items[i]) || rows && !sameRow(&want.Items[i], &got.Items[i]) {
			return fmt.Errorf("item %d (%s) is not what the plan has there", i, got.ItemRef(i).Row())
		}
	}
	return nil
}

// sameRow reports whether a record that was there is still the same one. A new
// item has no row in the plan.
func sameRow(want, got *session.Item) bool {
	return want.Position == got.Position &&
		(want.Table == "" || want.Table == got.Table && want.Key == got.Key && want.Meaning == got.Meaning)
}

// sameItem compares what outlines tell.
func sameItem(want, got *session.Item) bool {
	const flags = session.Implicit | session.Archived | session.Blank | session.Skipped | session.Dangling
	return want.Kind == got.Kind && want.Role == got.Role && want.Flags&flags == got.Flags&flags &&
		want.Agent == got.Agent && want.Child == got.Child && want.KeptFrom == got.KeptFrom &&
		(want.Text == got.Text || want.Kind != session.Message) &&
		slices.EqualFunc(want.Calls, got.Calls, func(a, b session.Call) bool { return a.ID == b.ID && a.Name == b.Name }) &&
		slices.EqualFunc(want.Results, got.Results, func(a, b session.Result) bool {
			return a.CallID == b.CallID && a.Digest == b.Digest && a.IsError == b.IsError && a.Synthetic == b.Synthetic
		})
}

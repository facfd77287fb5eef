package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
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
		if what := difference(&want.Items[i], &got.Items[i], rows); what != "" {
			return fmt.Errorf("the %s of item %d (%s) is not what the plan has there", what, i, got.ItemRef(i).Row())
		}
	}
	return nil
}

// sameTexts compares what new items say, which no digest tells: an adapter makes
// its own of what it stores.
func sameTexts(ctx context.Context, st store.Store, foretold, stored *session.Tree) error {
	part, said := &session.Tree{}, []*session.Item{}
	for _, want := range foretold.Sessions {
		got := *stored.Session(want.ID)
		items := got.Items
		got.Items = nil
		for i := range want.Items {
			if want.Items[i].Table == "" {
				got.Items = append(got.Items, items[i])
				said = append(said, &want.Items[i])
			}
		}
		part.Sessions = append(part.Sessions, &got)
	}
	if err := st.Fill(ctx, part); err != nil {
		return err
	}
	n := 0
	for _, s := range part.Sessions {
		for i := range s.Items {
			if text(&s.Items[i]) != text(said[n]) {
				return fmt.Errorf("the new item %s does not say what the plan has there", s.ItemRef(i).Row())
			}
			n++
		}
	}
	return nil
}

func text(it *session.Item) string {
	if len(it.Results) > 0 {
		return it.Results[0].Text
	}
	if it.Body == nil {
		return ""
	}
	return it.Body.Text
}

// difference names the first thing in which two outlines differ, "" when they
// are alike. A new item has no row in the plan.
func difference(want, got *session.Item, rows bool) string {
	const flags = session.Implicit | session.Archived | session.Blank | session.Skipped | session.Dangling
	stored := rows && want.Table != ""
	for _, part := range []struct {
		name string
		same bool
	}{
		{"row", !stored || want.Table == got.Table && want.Key == got.Key},
		{"meaning", !stored || want.Meaning == got.Meaning},
		{"position", !rows || want.Position == got.Position},
		{"kind", want.Kind == got.Kind},
		{"role", want.Role == got.Role},
		{"agent", want.Agent == got.Agent},
		{"flags", want.Flags&flags == got.Flags&flags},
		{"sub-session", want.Child == got.Child},
		{"kept tail", want.KeptFrom == got.KeptFrom},
		{"text", !stored || want.Text == got.Text},
		{"calls", slices.EqualFunc(want.Calls, got.Calls, func(a, b session.Call) bool { return a.ID == b.ID && a.Name == b.Name })},
		{"results", slices.EqualFunc(want.Results, got.Results, func(a, b session.Result) bool {
			return a.CallID == b.CallID && (!stored || a.Digest == b.Digest) && a.IsError == b.IsError && a.Synthetic == b.Synthetic
		})},
	} {
		if !part.same {
			return part.name
		}
	}
	return ""
}

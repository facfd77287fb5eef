package recording_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// tester is what *testing.T and *rapid.T share.
type tester interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// stored is the tree of a session, with bodies, as the adapter reads it; that of
// the first session for no id.
func stored(t tester, path, id string) *session.Tree {
	t.Helper()
	st, err := registry.Open(t.Context(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	for tree, err := range st.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if id == "" || tree.Root().ID == id {
			if err := st.Fill(t.Context(), tree); err != nil {
				t.Fatal(err)
			}
			return tree
		}
	}
	t.Fatalf("%s holds no session %s", path, id)
	return nil
}

// said writes what the sessions of a tree say, from its root on: a line for each
// item, with those of a sub-session below its reference.
func said(tree *session.Tree) string {
	var b strings.Builder
	writeSaid(&b, tree, tree.Root(), 0)
	return b.String()
}

func writeSaid(b *strings.Builder, tree *session.Tree, s *session.Session, depth int) {
	for i := range s.Items {
		it := &s.Items[i]
		fmt.Fprintf(b, "%s%s\n", strings.Repeat("  ", depth), sayItem(it))
		if child := tree.Session(it.Child()); it.Kind == session.SubSession && child != nil {
			writeSaid(b, tree, child, depth+1)
		}
	}
}

// interpretArguments puts the results of each answer into the order of their calls' ids. Of
// calls that run at the same time, several may be answered before the first of
// the messages is complete, and that event does not say which message it is.
func interpretArguments(tree *session.Tree) *session.Tree {
	for _, s := range tree.Sessions {
		var batch []int
		for i := range s.Items {
			switch {
			case s.Items[i].Role == session.Tool:
				batch = append(batch, i)
			case s.Items[i].Kind != session.SubSession:
				settleBatch(s.Items, batch)
				batch = nil
			}
		}
		settleBatch(s.Items, batch)
	}
	return tree
}

// settleBatch sorts the items at the given places among these.
func settleBatch(items []session.Item, at []int) {
	var results []session.Item
	for _, i := range at {
		results = append(results, items[i])
	}
	slices.SortStableFunc(results, func(a, b session.Item) int { return strings.Compare(a.Results[0].CallID, b.Results[0].CallID) })
	for n, i := range at {
		items[i] = results[n]
	}
}

func sayItem(it *session.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %q", it.Kind, it.Role, it.Agent())
	if it.Kind == session.SubSession {
		return b.String() + " " + it.Child()
	}
	fmt.Fprintf(&b, " %q", it.Body.Text)
	if it.Body.Reasoning != "" {
		fmt.Fprintf(&b, " reasoning=%q", it.Body.Reasoning)
	}
	for _, c := range it.Calls {
		fmt.Fprintf(&b, " call[%s %s %s]", c.ID, c.Name, c.Args)
	}
	for _, r := range it.Results {
		fmt.Fprintf(&b, " result[%s %q error=%t]", r.CallID, r.Text, r.IsError)
	}
	if it.Flags.Has(session.Implicit) {
		b.WriteString(" implicit")
	}
	if it.Flags.Has(session.Unfinished) {
		b.WriteString(" unfinished")
	}
	return b.String()
}

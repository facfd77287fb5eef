package canonical_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

const header = `{"type":"header","format":"sessctl.canonical/1"}` + "\n"

func source(text string) *store.Source {
	return &store.Source{Path: "s.ndjson", Stream: strings.NewReader(text), Bytes: int64(len(text))}
}

// fataler is what the helpers need of *testing.T, *testing.F and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func openStream(t fataler, text string) store.Store {
	t.Helper()
	st, err := canonical.Kind.Open(context.Background(), source(text), store.Options{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return st
}

// outlines reads all trees without bodies.
func outlines(t fataler, st store.Store) []*session.Tree {
	t.Helper()
	var trees []*session.Tree
	for tree, err := range st.Trees(context.Background()) {
		if err != nil {
			t.Fatalf("trees: %v", err)
		}
		trees = append(trees, tree)
	}
	return trees
}

// filled reads all trees with bodies.
func filled(t fataler, st store.Store) []*session.Tree {
	t.Helper()
	trees := outlines(t, st)
	for _, tree := range trees {
		if err := st.Fill(context.Background(), tree); err != nil {
			t.Fatalf("fill: %v", err)
		}
	}
	return trees
}

// export writes what a store holds as a stream.
func export(t fataler, st store.Store, opts canonical.WriteOptions) string {
	t.Helper()
	return hashLine(t, canonical.HeaderOf(st), filled(t, st), opts)
}

func hashLine(t fataler, h canonical.Header, trees []*session.Tree, opts canonical.WriteOptions) string {
	t.Helper()
	var out strings.Builder
	w, err := canonical.NewWriter(&out, h, opts)
	if err != nil {
		t.Fatalf("header: %v", err)
	}
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			if err := w.WriteSession(s); err != nil {
				t.Fatalf("session: %v", err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatalf("flush: %v", err)
	}
	return out.String()
}

// readOne reads the only session of a stream with these lines behind the header.
func readOne(t *testing.T, lines ...string) *session.Session {
	t.Helper()
	trees := filled(t, openStream(t, header+strings.Join(lines, "\n")))
	if len(trees) != 1 || len(trees[0].Sessions) != 1 {
		t.Fatalf("%d trees", len(trees))
	}
	return trees[0].Root()
}

var faultNames = map[session.FaultKind]string{
	session.StoreDamaged:  "StoreDamaged",
	session.SchemaUnknown: "SchemaUnknown",
	session.BadTime:       "BadTime",
	session.UnknownKind:   "UnknownKind",
	session.Undecodable:   "Undecodable",
	session.ParentCycle:   "ParentCycle",
	session.BadUnicode:    "BadUnicode",
	session.UnknownPart:   "UnknownPart",
}

// showFaults writes faults as "kind field item: detail", one a line.
func showFaults(faults []session.Fault) string {
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&b, "%s %s %s: %s\n", faultNames[f.Kind], f.Field, f.Ref.Row(), f.Detail)
	}
	return b.String()
}

package loom_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// opened is a workspace that was written and opened.
func opened(t *testing.T, write func(w *loomtest.Workspace)) *registry.Opened {
	t.Helper()
	w := loomtest.Create(filepath.Join(t.TempDir(), "workspace"))
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return openWorkspace(t, w.Folder)
}

func openWorkspace(t *testing.T, path string) *registry.Opened {
	t.Helper()
	o, err := registry.Open(t.Context(), path, "loom", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// sessions are all sessions of a workspace with their bodies, by id.
func sessions(t *testing.T, st store.Store) map[string]*session.Session {
	t.Helper()
	all := map[string]*session.Session{}
	for tree, err := range st.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Fill(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		for _, s := range tree.Sessions {
			all[s.ID] = s
		}
	}
	return all
}

// show writes the items of a session: "table: words" for each.
func show(s *session.Session) string {
	var out strings.Builder
	for i := range s.Items {
		it := &s.Items[i]
		fmt.Fprintf(&out, "%s:", it.Table())
		if it.Body.Text != "" {
			fmt.Fprintf(&out, " %s %q", it.Role, it.Body.Text)
		}
		for _, c := range it.Calls {
			fmt.Fprintf(&out, " %s %s(%s)", c.ID, c.Name, c.Args)
			if d := c.Delegation; d != nil {
				fmt.Fprintf(&out, " of %s waits=%t", d.Child, d.Blocking)
			}
		}
		for _, r := range it.Results {
			fmt.Fprintf(&out, " <%s %q", r.CallID, r.Text)
			if r.IsError {
				out.WriteString("!")
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// faults writes the faults of a session or store: "kind field: detail".
func faults(list []session.Fault) string {
	var out strings.Builder
	for _, f := range list {
		fmt.Fprintf(&out, "%d %s: %s\n", f.Kind, f.Field, f.Detail)
	}
	return out.String()
}

func fault(kind session.FaultKind, rest string) string { return fmt.Sprintf("%d %s\n", kind, rest) }

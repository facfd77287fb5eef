package repair_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// saboteur is an adapter that does something else than it is told.
type saboteur struct {
	store.Editor
	spoil func(tree *session.Tree)
	done  bool
}

func (s *saboteur) Write(ctx context.Context, change *store.Change) error {
	if !s.done {
		s.done = true
		wrong := *change
		wrong.After = copyOf(change.After)
		s.spoil(wrong.After)
		change = &wrong
	}
	return s.Editor.Write(ctx, change)
}

func copyOf(tree *session.Tree) *session.Tree {
	c := &session.Tree{}
	for _, s := range tree.Sessions {
		one := *s
		one.Items = slices.Clone(s.Items)
		c.Sessions = append(c.Sessions, &one)
	}
	return c
}

// TestWhatIsNotVerifiedIsRolledBack: an error of sessctl itself that loses,
// copies, moves or renames one item is found before the change is committed.
func TestWhatIsNotVerifiedIsRolledBack(t *testing.T) {
	last := func(tree *session.Tree) *session.Session { return tree.Sessions[len(tree.Sessions)-1] }
	for name, spoil := range map[string]func(*session.Tree){
		"an item is lost": func(tree *session.Tree) { s := last(tree); s.Items = s.Items[:len(s.Items)-1] },
		"an item is stored twice": func(tree *session.Tree) {
			s := last(tree)
			again := s.Items[len(s.Items)-1]
			again.Table, again.Key, again.Role, again.Position = "", "new-x", session.User, again.Position+1
			again.Kind, again.Calls, again.Results, again.Body = session.Message, nil, nil, &session.Body{Text: "again"}
			s.Items = append(s.Items, again)
		},
		"two items change places": func(tree *session.Tree) {
			s := last(tree)
			a, b := &s.Items[0], &s.Items[1]
			a.Position, b.Position = b.Position, a.Position
			*a, *b = *b, *a
		},
		"an agent gets another name": func(tree *session.Tree) { s := last(tree); s.Items[len(s.Items)-1].Agent = "nobody" },
		"an item goes to another session": func(tree *session.Tree) {
			from, to := last(tree), tree.Root()
			it := from.Items[len(from.Items)-1]
			from.Items = from.Items[:len(from.Items)-1]
			it.Position = to.Items[len(to.Items)-1].Position + 1
			to.Items = append(to.Items, it)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			leakyStore(t, path)
			before := agentDump(t, path)
			plan, kind, err := planFile(path)
			if err != nil {
				t.Fatal(err)
			}
			ed, err := kind.Edit(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			apply := repair.Apply{Backup: path + ".backup", Receipt: path + ".receipt.json", Prologue: kind.Prologue}
			receipt, err := apply.Run(t.Context(), &saboteur{Editor: ed, spoil: spoil}, plan)
			if problem.ClassOf(err) != problem.RolledBack || receipt != nil {
				t.Errorf("receipt %v, error %v", receipt, err)
			}
			if err := ed.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
				t.Errorf("something was changed: before (-), now (+):\n%s", diff)
			}
			if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

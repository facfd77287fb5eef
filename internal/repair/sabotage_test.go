package repair_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// saboteur is an adapter that does something else than it is told.
type saboteur struct {
	store.Editor
	spoil func(tree *session.Tree)
	roots []string // of the trees that it spoils; nil for all
	fail  error    // what it says when it has spoilt one
	tried int
}

func (s *saboteur) Write(ctx context.Context, change *store.Change) error {
	if s.roots == nil || slices.Contains(s.roots, change.After.Root().ID) {
		s.tried++
		if s.fail != nil {
			return errors.Join(s.Editor.Write(ctx, change), s.fail)
		}
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
			again.Own().Table, again.Key, again.Role, again.Position = "", "new-x", session.User, again.Position+1
			again.Kind, again.Calls, again.Results, again.Body = session.Message, nil, nil, &session.Body{Text: "again"}
			s.Items = append(s.Items, again)
		},
		"two items change places": func(tree *session.Tree) {
			s := last(tree)
			a, b := &s.Items[0], &s.Items[1]
			a.Position, b.Position = b.Position, a.Position
			*a, *b = *b, *a
		},
		"an agent gets another name": func(tree *session.Tree) {
			s := last(tree)
			s.Items[len(s.Items)-1].Own().Agent = "nobody"
		},
		"an item goes to another session": func(tree *session.Tree) {
			from, to := last(tree), tree.Root()
			it := from.Items[len(from.Items)-1]
			from.Items = from.Items[:len(from.Items)-1]
			it.Position = to.Items[len(to.Items)-1].Position + 1
			to.Items = append(to.Items, it)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, s := range killables() {
				if kind == "wal" || kind == "stream" {
					path := filepath.Join(t.TempDir(), "session.db")
					s.make(t, path)
					rolledBack(t, path, spoil, s.dump)
				}
			}
		})
	}
}

// rolledBack repairs a store with an adapter that spoils the result.
func rolledBack(t *testing.T, path string, spoil func(*session.Tree), dump func(t tester, path string) string) {
	t.Helper()
	before := dump(t, path)
	plan, kind, err := repairtest.Plan(path)
	if err != nil {
		t.Fatal(err)
	}
	ed, err := kind.Edit(t.Context(), registry.ToEdit(path))
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
	if diff := cmp.Diff(before, dump(t, path)); diff != "" {
		t.Errorf("something was changed: before (-), now (+):\n%s", diff)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestEditsThatAreNotThePlansAreRolledBack: an adapter that changes what a message
// says without a plan, or does not where the plan says so, is found out.
func TestEditsThatAreNotThePlansAreRolledBack(t *testing.T) {
	renamed := func(it *session.Item, id string) {
		it.Calls = slices.Clone(it.Calls)
		it.Calls[0].ID = id
	}
	for name, spoil := range map[string]func(*session.Session){
		"the call keeps its id":      func(s *session.Session) { renamed(&s.Items[3], "A") },
		"the call gets another id":   func(s *session.Session) { renamed(&s.Items[3], "B") },
		"another call gets a new id": func(s *session.Session) { renamed(&s.Items[1], "B") },
		"the result keeps its call": func(s *session.Session) {
			s.Items[4].Results = slices.Clone(s.Items[4].Results)
			s.Items[4].Results[0].CallID = "A"
		},
		"nothing is edited": func(s *session.Session) {
			renamed(&s.Items[3], "A")
			s.Items[4].Results = slices.Clone(s.Items[4].Results)
			s.Items[4].Results[0].CallID = "A"
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			reusingStore(t, path)
			rolledBack(t, path, func(tree *session.Tree) { spoil(tree.Root()) }, agentDump)
		})
	}
	t.Run("the plan itself is carried out", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "session.db")
		reusingStore(t, path)
		_, receipt, err := repairtest.Repair(path)
		if err != nil || receipt.Ledger != (repair.Ledger{Before: 6, After: 6, Edited: 2}) {
			t.Errorf("receipt %+v, error %v", receipt, err)
		}
	})
}

// reusingStore builds a database with a session whose second call has the id of
// the first.
func reusingStore(t *testing.T, path string) {
	t.Helper()
	db, err := agenttest.Create(path, 18)
	if err != nil {
		t.Fatal(err)
	}
	statements := []string{"insert into sessions(id, title, messages, created_at) values ('s', 's', '[]', '2026-02-14T09:00:00Z')"}
	const call = `{"role":"assistant","content":"","tool_calls":[{"id":"A","type":"function","function":{"name":"shell","arguments":"{}"}}]}`
	for i, m := range []string{
		`{"role":"user","content":"q"}`, call, `{"role":"tool","content":"one","tool_call_id":"A"}`,
		call, `{"role":"tool","content":"two","tool_call_id":"A"}`, `{"role":"assistant","content":"done"}`,
	} {
		statements = append(statements, fmt.Sprintf("insert into session_items(session_id, position, item_type, agent_name, message_json) values ('s', %d, 'message', 'root', '%s')", i, m))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	plain := openPlain(t, path)
	defer func() { _ = plain.Close() }()
	for _, statement := range statements {
		if _, err := plain.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestATreeThatFailsIsLeftOut: a session whose repair fails, whatever the reason, stays
// as it was, and all others are repaired; one undo takes that back.
func TestATreeThatFailsIsLeftOut(t *testing.T) {
	for name, tt := range map[string]struct {
		fail error
		why  string
	}{
		"what is stored is not what was planned": {nil, "the result would not be what was planned: session "},
		"the adapter refuses":                    {problem.New(problem.RolledBack, "do this", "no place for that"), "no place for that"},
		"an error of a library":                  {errors.New("odd value"), "odd value"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			leakyStore(t, path)
			before := agentDump(t, path)
			plan, kind, err := repairtest.Plan(path)
			if err != nil || len(plan.Trees) < 3 {
				t.Fatalf("%d trees, %v", len(plan.Trees), err)
			}
			var roots []string
			for _, tree := range []*repair.Tree{plan.Trees[0], plan.Trees[len(plan.Trees)-1]} {
				roots = append(roots, tree.Root)
			}
			ed, err := kind.Edit(t.Context(), registry.ToEdit(path))
			if err != nil {
				t.Fatal(err)
			}
			lose := func(tree *session.Tree) { s := tree.Sessions[len(tree.Sessions)-1]; s.Items = s.Items[:len(s.Items)-1] }
			bad := &saboteur{Editor: ed, spoil: lose, roots: roots, fail: tt.fail}
			apply := repair.Apply{Backup: path + ".backup", Receipt: path + ".receipt.json", Prologue: kind.Prologue}
			receipt, err := apply.Run(t.Context(), bad, plan)
			if err = errors.Join(err, ed.Close()); err != nil || receipt.State != repair.Done {
				t.Fatalf("receipt %v, error %v", receipt, err)
			}
			var left []string
			for _, out := range receipt.LeftOut {
				left = append(left, out.Root)
				if !strings.HasPrefix(out.Why, tt.why) {
					t.Errorf("why: %q", out.Why)
				}
			}
			if !slices.Equal(left, roots) {
				t.Errorf("left out: %v, want %v", left, roots)
			}
			again, _, err := repairtest.Plan(path)
			if err != nil || len(again.Trees) != len(roots) {
				t.Errorf("%d trees have something to do, want the %d that were left out (%v)", len(again.Trees), len(roots), err)
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
				t.Errorf("after the undo, before (-), now (+):\n%s", diff)
			}
		})
	}
}

// An error that is about the store or the disk, and not about a tree, ends the repair at
// once.
func TestWhatIsAboutNoTreeIsNotTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, path)
	before := agentDump(t, path)
	for _, fail := range []error{
		problem.New(problem.Busy, "", "in use"), problem.New(problem.Unreadable, "", "the disk is full"), context.Canceled,
	} {
		plan, kind, err := repairtest.Plan(path)
		if err != nil {
			t.Fatal(err)
		}
		ed, err := kind.Edit(t.Context(), registry.ToEdit(path))
		if err != nil {
			t.Fatal(err)
		}
		bad := &saboteur{Editor: ed, fail: fail}
		receipt, err := repair.Apply{Backup: path + ".backup", Receipt: path + ".receipt.json", Prologue: kind.Prologue}.Run(t.Context(), bad, plan)
		if !errors.Is(err, fail) || receipt != nil || bad.tried != 1 {
			t.Errorf("receipt %v, error %v after %d trees", receipt, err, bad.tried)
		}
		if err := ed.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
		t.Errorf("something was changed: before (-), now (+):\n%s", diff)
	}
}

package dockeragent_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// A child gets the messages that docker agent itself gave to children of the
// same calls.
func TestPrologueIsDockerAgents(t *testing.T) {
	paths, _ := filepath.Glob("../../../../shared/corpus/docker-agent/fixed/*.db")
	if len(paths) == 0 {
		t.Skip("no corpus beside the checkout")
	}
	children := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if wal, err := os.ReadFile(path + "-wal"); err == nil && len(wal) > 0 {
			continue // of the killed process, which has no children
		}
		target := filepath.Join(t.TempDir(), "copy.db")
		if err := os.WriteFile(target, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, tree := range stored(t, target) {
			for _, s := range tree.Sessions {
				children += holdPrologues(t, tree, s)
			}
		}
	}
	if children < 8 {
		t.Errorf("only %d children were compared", children)
	}
}

// holdPrologues compares the children of a session with what their calls give.
func holdPrologues(t *testing.T, tree *session.Tree, s *session.Session) int {
	t.Helper()
	compared := 0
	for i := range s.Items {
		for c := range s.Items[i].Calls {
			call := &s.Items[i].Calls[c]
			if call.Delegation == nil {
				continue
			}
			for _, child := range tree.Sessions {
				if child.Parent != s.ID || child.Task != call.Delegation.Task {
					continue
				}
				title, items := dockeragent.Kind.Prologue(call)
				if title != child.Title {
					t.Errorf("title %q, want %q", title, child.Title)
				}
				for n := range items {
					got, want := items[n], child.Items[n]
					got.Own().Table, got.Key, got.Position, got.Time = want.Table(), want.Key, want.Position, want.Time
					got.Flags, got.Size = got.Flags&^session.Synthetic, want.Size
					want.Body = &session.Body{Text: want.Body.Text}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("item %d (-docker agent +prologue):\n%s", n, diff)
					}
				}
				compared++
			}
		}
	}
	return compared
}

func TestPrologue(t *testing.T) {
	const goal = "You are a member of a team of agents. Your goal is to complete the following task:\n\n"
	tests := []struct{ name, args, title, system, user string }{
		{"transfer_task", `{"agent":"w","task":"a\nb"}`, "Transferred task", goal + "<task>\na\nb\n</task>", "Please proceed."},
		{"transfer_task", `{"agent":"w","task":"a","expected_output":7}`, "Transferred task", goal + "<task>\na\n</task>", "Please proceed."},
		{"transfer_task", `{"task":`, "Transferred task", goal + "<task>\n{\"task\":\n</task>", "Please proceed."},
		{"run_background_agent", `{"agent":"w","task":"a","expected_output":"o"}`, "Background agent task",
			goal + "<task>\na\n</task>\n\n<expected_output>\no\n</expected_output>", "Please proceed."},
		{"run_skill", `{"name":"review","task":"look at it"}`, "Skill: review",
			"You run the skill \"review\". Its text was not kept with this session. This is the task:\n\n<task>\nlook at it\n</task>", "look at it"},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.args, func(t *testing.T) {
			call := &session.Call{Name: tt.name, Args: tt.args, Delegation: session.DelegationFor(tt.name, tt.args)}
			title, items := dockeragent.Kind.Prologue(call)
			if title != tt.title || len(items) != 2 || items[0].Body.Text != tt.system || items[1].Body.Text != tt.user {
				t.Fatalf("%q, %q, %q", title, items[0].Body.Text, items[1].Body.Text)
			}
			if items[0].Role != session.System || items[1].Role != session.User || items[1].Flags != session.Implicit|session.Synthetic {
				t.Errorf("roles and flags: %+v", items)
			}
			holdTask(t, title, items, call.Delegation.Task)
		})
	}
}

// holdTask writes a child with a prologue and reads its task again.
func holdTask(t *testing.T, title string, items []session.Item, task session.Digest) {
	t.Helper()
	path := built(t, 29, func(db *agenttest.DB) { db.Root(agenttest.SessionRow{ID: "P"}).User("go") })
	before := treeOf(t, path)
	after := copied(before)
	after.Sessions = append(after.Sessions, &session.Session{ID: "C", Parent: "P", Title: title, Items: items})
	expectNumber(after.Sessions[1])
	for i := range items {
		items[i].Key = string(rune('a' + i))
	}
	child := written(t, begin(t, path), &store.Change{Before: before, After: after}).Session("C")
	if task != 0 && child.Task != task {
		t.Error("the task that is read is not the call's")
	}
	if child.Task == 0 || !child.LooksDelegated() || !child.Created.Equal(before.Root().Created) {
		t.Errorf("the child is read as %+v", child)
	}
	for i := range items {
		if child.Items[i].Text != items[i].Text || child.Items[i].Meaning != items[i].Meaning || child.Items[i].Flags != items[i].Flags {
			t.Errorf("item %d is read as %+v, was given as %+v", i, child.Items[i], items[i])
		}
	}
}

package dockeragent_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// What is written is what was asked for, in every generation that can be
// repaired, and undo gives back the very same database.
func TestRandomChanges(t *testing.T) {
	campaign.ShowsNoRace(t)
	for generation := 14; generation <= 29; generation++ {
		t.Run(fmt.Sprintf("generation %03d", generation), func(t *testing.T) {
			path := built(t, generation, func(db *agenttest.DB) {
				for seed := range uint64(5) {
					if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed+uint64(generation), 14)); err != nil {
						t.Fatal(err)
					}
				}
			})
			before := storetest.Dump(t, path)
			var journals [][]byte
			for n, tree := range stored(t, path) {
				r := &scrambler{rand.New(rand.NewPCG(uint64(generation), uint64(n))), copied(tree), generation, 0}
				for range 6 {
					r.change()
				}
				for _, s := range r.tree.Sessions {
					expectNumber(s)
				}
				e := begin(t, path)
				sums := sumsOf(t, e, idsOf(tree))
				holdAgainst(t, r.tree, written(t, e, &store.Change{Before: tree, After: r.tree}))
				heldContent(t, r.tree, sums, sumsOf(t, e, idsOf(r.tree)))
				journals = append(journals, finish(t, e))
			}
			if slices.Equal(before, storetest.Dump(t, path)) {
				t.Fatal("nothing was written")
			}
			slices.Reverse(journals)
			for _, j := range journals {
				undo(t, path, j)
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("undo left (-before +after):\n%s", diff)
			}
		})
	}
}

// scrambler makes changes of all kinds at random.
type scrambler struct {
	rand       *rand.Rand
	tree       *session.Tree
	generation int
	fresh      int
}

func (r *scrambler) session() *session.Session {
	return r.tree.Sessions[r.rand.IntN(len(r.tree.Sessions))]
}

func (r *scrambler) place(s *session.Session) int { return r.rand.IntN(len(s.Items) + 1) }

func (r *scrambler) insert(s *session.Session, items ...session.Item) {
	for i := range items {
		if items[i].Table() == "" {
			r.fresh++
			items[i].Key = fmt.Sprint("new-", r.fresh)
		}
	}
	s.Items = slices.Insert(s.Items, r.place(s), items...)
}

func (r *scrambler) change() {
	s := r.session()
	if len(s.Items) == 0 {
		return
	}
	i := r.rand.IntN(len(s.Items))
	it := s.Items[i]
	switch r.rand.IntN(7) {
	case 0:
		s.Items = slices.Delete(s.Items, i, i+1)
	case 1:
		s.Items = slices.Delete(s.Items, i, i+1)
		r.insert(r.session(), it)
	case 2:
		r.createBelow(s)
	case 3:
		r.insert(s, session.Item{
			Kind: session.Message, Role: session.Tool, Shared: &session.Shared{Agent: "root <&> co"}, Time: s.Created, Flags: session.Synthetic,
			Results: []session.Result{{CallID: "c1", Text: session.SyntheticPrefix + "no\nresult", IsError: true, Synthetic: true}},
			Body:    &session.Body{},
		})
	case 4:
		if it.Kind == session.Message {
			s.Items[i].Own().Agent = "renamed"
		}
	case 5:
		for i := range s.Items {
			if it := &s.Items[i]; it.Kind == session.Summary && r.generation >= 21 {
				it.Own().KeptFrom += 3
			}
		}
	case 6:
		s.Items[i] = rewordedItem(it)
	}
}

// newID is the id that a reworded call or result gets.
const newID = "a \"new\" <id>"

// rewordedItem is a message with another id or other arguments.
func rewordedItem(it session.Item) session.Item {
	it.Calls, it.Results = slices.Clone(it.Calls), slices.Clone(it.Results)
	for i := range it.Calls {
		it.Calls[i].ID, it.Calls[i].Args = newID, `{"INVALID_JSON":"a & b"}`
		it.Calls[i].Delegation = nil
	}
	for i := range it.Results {
		it.Results[i].CallID = newID
	}
	return it
}

// isReworded reports whether an item is one of those.
func isReworded(it *session.Item) bool {
	return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.ID == newID }) ||
		slices.ContainsFunc(it.Results, func(r session.Result) bool { return r.CallID == newID })
}

// createBelow creates a child with its prologue and one moved row.
func (r *scrambler) createBelow(s *session.Session) {
	args := `{"agent":"worker","task":"count <things> & \"more\"","expected_output":"a number"}`
	title, items := dockeragent.Kind.Prologue(&session.Call{Name: "transfer_task", Args: args})
	child := &session.Session{
		ID: fmt.Sprintf("made-%d-%s", r.fresh, s.ID), Parent: s.ID, Title: title, Created: r.tree.Root().Created,
		Task: session.DelegationFor("transfer_task", args).Task,
	}
	for i := range items {
		items[i].Time = s.Created
	}
	moved := s.Items[0]
	s.Items = s.Items[1:]
	r.insert(child, items...)
	if moved.Role == session.System { // a task of its own
		moved.Own().Agent = ""
		r.tree.Root().Items = append(r.tree.Root().Items, moved)
	} else {
		child.Items = append(child.Items, moved)
	}
	r.insert(s, session.Item{Kind: session.SubSession, Shared: &session.Shared{Child: child.ID}, Body: &session.Body{}})
	r.tree.Sessions = append(r.tree.Sessions, child)
}

// holdAgainst compares a tree that was read with the one that was asked for.
func holdAgainst(t *testing.T, want, got *session.Tree) {
	t.Helper()
	if len(got.Sessions) != len(want.Sessions) {
		t.Fatalf("%d sessions, want %d", len(got.Sessions), len(want.Sessions))
	}
	for _, w := range want.Sessions {
		g := got.Session(w.ID)
		if g == nil {
			t.Fatalf("session %s is missing", w.ID)
		}
		if g.Parent != w.Parent || g.Title != w.Title || !g.Created.Equal(w.Created) {
			t.Errorf("session %s: %q below %q at %s, want %q below %q at %s", w.ID, g.Title, g.Parent, g.Created, w.Title, w.Parent, w.Created)
		}
		if len(g.Items) != len(w.Items) {
			t.Fatalf("session %s has %d items, want %d", w.ID, len(g.Items), len(w.Items))
		}
		for i := range w.Items {
			if diff := cmp.Diff(asRead(w.Items[i], g.Items[i]), g.Items[i], alike); diff != "" {
				t.Fatalf("session %s, item %d (-want +got):\n%s", w.ID, i, diff)
			}
		}
	}
}

// asRead is an item as it should be read: a new one gets its key, its bytes and
// its digests then.
func asRead(want, got session.Item) session.Item {
	want.Flags = want.Flags&^(session.Dangling|session.Skipped) | got.Flags&(session.Dangling|session.Skipped)
	if want.Agent() == "renamed" || isReworded(&want) { // the agent is part of the meaning
		want.Meaning = got.Meaning
	}
	if isReworded(&want) && want.Table() != "" {
		body := *want.Body
		want.Size, want.Body = got.Size, &body
		body.Raw = got.Body.Raw
		want.Calls = slices.Clone(want.Calls)
		for i := range want.Calls { // the new arguments name another agent, or none
			want.Calls[i].Delegation = got.Calls[i].Delegation
		}
	}
	if want.Table() != "" {
		return want
	}
	body := *want.Body
	if got.Body != nil {
		body.Raw = got.Body.Raw
	}
	want.Own().Table, want.Key, want.Size, want.Body = got.Table(), got.Key, got.Size, &body
	if want.Role == session.Tool {
		want.Meaning, want.Text = got.Meaning, got.Text
	}
	want.Results = slices.Clone(want.Results)
	for i := range want.Results {
		want.Results[i].Digest = got.Results[i].Digest
	}
	return want
}

func sumsOf(t *testing.T, e store.Editor, ids []string) map[string]store.Sum {
	t.Helper()
	sums, err := e.Sums(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// heldContent makes sure that rows that stayed say what they said, but for those
// that were reworded.
func heldContent(t *testing.T, tree *session.Tree, before, after map[string]store.Sum) {
	t.Helper()
	reworded := map[string]bool{}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			reworded[s.Items[i].Key] = isReworded(&s.Items[i])
		}
	}
	now := map[string]string{}
	for _, s := range after {
		for key, sum := range s.Items {
			now[key] = sum
		}
	}
	for id, s := range before {
		for key, sum := range s.Items {
			if now[key] != "" && (now[key] != sum) != reworded[key] {
				t.Errorf("row %s of session %s says something else: %v, want %v", key, id, now[key] != sum, reworded[key])
			}
		}
	}
}

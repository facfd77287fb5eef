package kagent_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/kagent"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// tester is what testing and rapid have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// forest are all trees of a file, with bodies.
func forest(t tester, path string) []*session.Tree {
	t.Helper()
	opened, err := registry.Open(context.Background(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var list []*session.Tree
	for tree, err := range opened.Trees(context.Background()) {
		if err == nil {
			err = opened.Fill(context.Background(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tree)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	return list
}

// changedIn makes a change of every tree of a file, and gives back the journal. change
// gets trees to alter.
func changedIn(t tester, path string, change func(c *store.Change)) ([]byte, error) {
	t.Helper()
	befores, afters := forest(t, path), forest(t, path)
	editor, err := kagent.Kind.Edit(context.Background(), storetest.Source(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := editor.Begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := range befores {
		c := &store.Change{Before: befores[i], After: afters[i], Split: map[string]string{}}
		change(c)
		if reflect.DeepEqual(c.Before, c.After) {
			continue
		}
		if err := editor.Write(context.Background(), c); err != nil {
			return nil, errors.Join(err, editor.Close())
		}
	}
	journal, err := editor.Journal()
	if err := errors.Join(err, editor.Commit(context.Background()), editor.Close()); err != nil {
		t.Fatal(err)
	}
	return journal, nil
}

func takenBack(t tester, path string, journal []byte) {
	t.Helper()
	editor, err := kagent.Kind.Edit(context.Background(), storetest.Source(path))
	if err == nil {
		err = errors.Join(editor.Begin(context.Background()), editor.Revert(context.Background(), journal),
			editor.Commit(context.Background()), editor.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// splitter gives every call of a worker a session of its own, but the first of each.
type splitter struct {
	truth *kagenttest.Written
	homes map[string]string // the sessions of calls that have another one now, by the worker's task
	loose bool              // nobody could tell which request the headers in a marker are of
}

func (s *splitter) split(c *store.Change) {
	kept := map[string]bool{}
	for n, call := range s.truth.Calls {
		worker := c.Before.Session(call.Child)
		if call.Task == "" || worker == nil || worker.User != call.User || !s.separable(call) {
			continue
		}
		if !kept[call.Child] {
			kept[call.Child] = true
			continue
		}
		id := fmt.Sprintf("split-%d-", n)
		s.homes[call.Task] = id
		s.move(c, call, worker, id)
		for _, parent := range c.After.Sessions {
			for i := range parent.Items {
				relink(&parent.Items[i], call, id)
			}
		}
	}
}

// separable: the worker's run left events that name their invocation, and a result of
// the call names the session.
func (s *splitter) separable(call kagenttest.Worked) bool {
	return call.Named && len(call.Events) > 0 && len(call.Invocations) > 0 && call.Invocations[0] != ""
}

// move takes what came of a call into a new session.
func (s *splitter) move(c *store.Change, call kagenttest.Worked, worker *session.Session, id string) {
	made := &session.Session{ID: id, User: worker.User, Title: "title of " + id, Tick: time.Microsecond}
	moves := func(it session.Item) bool { return slices.Contains(call.Events, it.Key) || call.Marker == it.Key }
	from := c.After.Session(call.Child)
	for _, it := range from.Items {
		if moves(it) {
			made.Items = append(made.Items, it)
		}
	}
	from.Items = slices.DeleteFunc(slices.Clone(from.Items), moves)
	own := func(r session.Run) bool { return r.ID == call.Task }
	for _, r := range from.Runs {
		if own(r) {
			made.Runs = append(made.Runs, r)
		}
	}
	from.Runs = slices.DeleteFunc(slices.Clone(from.Runs), own)
	c.After.Sessions = append(c.After.Sessions, made)
	c.Split[id] = call.Child
}

// relink lets an item of the caller name the session that a call has now.
func relink(it *session.Item, call kagenttest.Worked, id string) {
	about := session.Question{Child: call.Child, Run: call.Task}
	it.Calls, it.Results = slices.Clone(it.Calls), slices.Clone(it.Results)
	for n := range it.Calls {
		if q := &it.Calls[n].Question; *q == about {
			q.Child = id
		}
	}
	for n := range it.Results {
		r := &it.Results[n]
		if r.CallID == call.Call && r.Child == call.Child && slices.Contains(call.Responses, it.Key) {
			r.Child = id
		}
		if r.Question == about {
			r.Question.Child = id
		}
	}
}

// child is the session that a call has to name.
func (s *splitter) child(call kagenttest.Worked) string {
	if id, moved := s.homes[call.Task]; moved {
		return id
	}
	return call.Child
}

// origin makes the ids of before out of those that a split gave.
func (s *splitter) origin() *strings.Replacer {
	var pairs []string
	for _, call := range s.truth.Calls {
		if id, moved := s.homes[call.Task]; moved {
			pairs = append(pairs, id, call.Child)
		}
	}
	return strings.NewReplacer(pairs...)
}

// TestSplits gives each call of random programs a session of its own: every place names
// it, nothing else differs, and the journal gives back what was stored.
func TestSplits(t *testing.T) {
	campaign.Checks(t, 30, 500)
	forms := sortedForms()
	rapid.Check(t, func(r *rapid.T) {
		form := kagenttest.Forms[rapid.SampledFrom(forms).Draw(r, "form")]
		program := kagenttest.Random(rapid.Uint64Range(0, 1<<20).Draw(r, "seed"))
		splits(r, t.TempDir(), program, form)
	})
}

// TestSplitScripts does it with scripts, so that all forms come.
func TestSplitScripts(t *testing.T) {
	scripts := []kagenttest.Program{
		kagenttest.Script("collapsed-11"), kagenttest.Script("nested"), kagenttest.Script("pod-shared"), kagenttest.Script("sequential"), kagenttest.Script("equal-requests"), kagenttest.Script("approvals-given"),
	}
	for i, form := range sortedForms() {
		program := scripts[i%len(scripts)]
		t.Run(program.Name+", "+form, func(t *testing.T) {
			if splits(t, t.TempDir(), program, kagenttest.Forms[form]) == 0 {
				t.Error("nothing was split")
			}
		})
	}
}

func splits(t tester, folder string, program kagenttest.Program, form kagenttest.Form) int {
	t.Helper()
	path := filepath.Join(folder, "kagent.db")
	truth, err := program.Build(path, form)
	if err != nil {
		t.Fatal(err)
	}
	before := storetest.Dump(t, path)
	s := &splitter{truth: truth, homes: map[string]string{}}
	journal, err := changedIn(t, path, s.split)
	if err != nil {
		t.Fatalf("%s: %v", program.Name, err)
	}
	s.places(t, path)
	after := slices.DeleteFunc(storetest.Dump(t, path), func(row string) bool {
		return strings.HasPrefix(row, "session ") && strings.Contains(row, "'title of split-")
	})
	for i := range after {
		after[i] = s.origin().Replace(after[i])
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Fatalf("%s: something else changed: %s", program.Name, diff)
	}
	takenBack(t, path, journal)
	if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
		t.Fatalf("%s: not as before: %s", program.Name, diff)
	}
	return len(s.homes)
}

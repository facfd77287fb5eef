// Package storetest is the conformance suite of store adapters: what package
// store promises, tested on the adapter's own sample stores. Every adapter's
// test calls Run.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// Sample is a store to test with.
type Sample struct {
	Name string
	// Make writes the store into the empty folder and returns its path.
	Make func(t *testing.T, folder string) string
}

// Run tests the adapter on every sample.
func Run(t *testing.T, kind store.Kind, samples ...Sample) {
	t.Helper()
	for _, sample := range samples {
		t.Run(sample.Name, func(t *testing.T) {
			folder := t.TempDir()
			s := suite{kind: kind, path: sample.Make(t, folder)}
			before := Snapshot(t, folder)
			t.Run("is detected as this kind and as no other", s.testDetection)
			t.Run("tells what it is", s.testFacts)
			t.Run("yields every session once, parents first", s.testPartition)
			t.Run("addresses every item by its own key", s.testKeys)
			t.Run("gives the same outlines every time, with one processor, too", s.testDeterminism)
			t.Run("fills bodies without changing outlines", s.testFill)
			t.Run("gives equal texts equal digests", s.testDigests)
			t.Run("lists the same sessions without contents", s.testBrief)
			t.Run("stops when the context ends", s.testCancellation)
			if diff := cmp.Diff(before, Snapshot(t, folder)); diff != "" {
				t.Errorf("reading changed the folder: %s", diff)
			}
		})
	}
}

type suite struct {
	kind store.Kind
	path string
}

func (s suite) openStore(t *testing.T, opts ...store.Options) *registry.Opened {
	t.Helper()
	o, err := registry.Open(t.Context(), s.path, s.kind.Name, nil, append(opts, store.Options{})[0])
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

func readTrees(t *testing.T, st store.Store) []*session.Tree {
	t.Helper()
	var list []*session.Tree
	for tree, err := range st.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tree)
	}
	return list
}

func (s suite) testDetection(t *testing.T) {
	o, err := registry.Open(t.Context(), s.path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o.Kind.Name != s.kind.Name {
		t.Errorf("taken for %s", o.Kind.Name)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	for _, other := range registry.Kinds {
		if other.Name == s.kind.Name {
			continue
		}
		if o, err := registry.Open(t.Context(), s.path, other.Name, nil, store.Options{}); err == nil {
			t.Errorf("%s accepts it too", other.Name)
			_ = o.Close()
		}
	}
}

func (s suite) testFacts(t *testing.T) {
	f := s.openStore(t).Facts()
	if f.Kind != s.kind.Name || f.Title != s.kind.Title || f.Path != s.path || f.Bytes <= 0 {
		t.Errorf("got %+v", f)
	}
}

func (s suite) testPartition(t *testing.T) {
	seen := map[string]bool{}
	for _, tree := range readTrees(t, s.openStore(t)) {
		above := map[*session.Session]bool{}
		for _, sess := range tree.Sessions {
			if seen[sess.ID] {
				t.Errorf("session %s comes twice", sess.ID)
			}
			seen[sess.ID] = true
			for _, child := range sess.Children {
				if above[child] {
					t.Errorf("child %s comes before its parent %s", child.ID, sess.ID)
				}
				if tree.Session(child.ID) != child {
					t.Errorf("child %s of %s is not in its tree", child.ID, sess.ID)
				}
			}
			above[sess] = true
		}
	}
	for _, tree := range readTrees(t, s.openStore(t)) {
		for _, sess := range tree.Sessions {
			if sess.Parent != "" && seen[sess.Parent] && tree.Session(sess.Parent) == nil {
				t.Errorf("%s is not in the tree of its parent %s", sess.ID, sess.Parent)
			}
			for i := range sess.Items {
				if c := sess.Items[i].Child(); c != "" && seen[c] && tree.Session(c) == nil {
					t.Errorf("%s refers to %s, which is in another tree", sess.ID, c)
				}
			}
		}
	}
}

func (s suite) testKeys(t *testing.T) {
	rows := map[string]bool{}
	for _, tree := range readTrees(t, s.openStore(t)) {
		for _, sess := range tree.Sessions {
			for i := range sess.Items {
				row := sess.ItemRef(i).Row()
				if rows[row] || sess.Items[i].Key == "" || sess.Items[i].Table() == "" {
					t.Errorf("key %q of session %s is empty or used twice", row, sess.ID)
				}
				rows[row] = true
				if i > 0 && sess.Items[i].Position < sess.Items[i-1].Position {
					t.Errorf("item %d of session %s is out of order", i, sess.ID)
				}
			}
			for _, f := range sess.Faults {
				if f.Item >= len(sess.Items) {
					t.Errorf("fault names item %d of %d in session %s", f.Item, len(sess.Items), sess.ID)
				}
			}
		}
	}
}

func (s suite) testDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4)) // adapters read with as many goroutines
	first, second := flatSessions(readTrees(t, s.openStore(t))), flatSessions(readTrees(t, s.openStore(t)))
	if diff := diffValues(first, second); diff != "" {
		t.Error(diff)
	}
	runtime.GOMAXPROCS(1)
	if diff := diffValues(first, flatSessions(readTrees(t, s.openStore(t)))); diff != "" {
		t.Errorf("with one processor: %s", diff)
	}
}

// testBrief compares what a list says of the sessions with what it says without contents. A store
// that does not count items may leave out sub-sessions, and the links and times of others.
func (s suite) testBrief(t *testing.T) {
	uncounted := s.openStore(t, store.Options{Brief: 1}).Facts().Uncounted
	list := func(opts store.Options) (lines []string) {
		for _, tree := range readTrees(t, s.openStore(t, opts)) {
			for _, sess := range tree.Sessions {
				line := fmt.Sprint(sess.Parent == "", sess.ID, sess.Title)
				if !uncounted || sess.Parent == "" {
					line += fmt.Sprint(sess.Created)
				}
				if !uncounted { // whose last record may tell another time than its item has
					line += fmt.Sprint(sess.Updated, sess.Parent, len(sess.Items))
				}
				for _, child := range sess.Children {
					if !uncounted {
						line += " " + child.ID
					}
				}
				lines = append(lines, line)
			}
		}
		if uncounted {
			slices.Sort(lines)
		}
		return lines
	}
	want, got := list(store.Options{}), list(store.Options{Brief: 1})
	want = slices.DeleteFunc(want, func(line string) bool {
		return uncounted && strings.HasPrefix(line, "false") && !slices.Contains(got, line)
	})
	if diff := diffValues(want, got); diff != "" {
		t.Error(diff)
	}
}

// flatSessions lists the sessions without their pointers to each other.
func flatSessions(list []*session.Tree) []session.Session {
	var all []session.Session
	for _, tree := range list {
		for _, sess := range tree.Sessions {
			c := *sess
			c.Children = nil
			c.Items = slices.Clone(sess.Items)
			all = append(all, c)
		}
	}
	return all
}

func (s suite) testFill(t *testing.T) {
	o := s.openStore(t)
	outlines, filled := flatSessions(readTrees(t, o)), readTrees(t, o)
	for _, tree := range filled {
		if err := o.Fill(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		for _, sess := range tree.Sessions {
			for i := range sess.Items {
				switch it := &sess.Items[i]; {
				case it.Body == nil:
					t.Errorf("%s has no body", sess.ItemRef(i).Row())
				case it.Kind == session.Message && it.SaysText() != (it.Body.Text != ""):
					t.Errorf("%s: its outline says something else than its text %q", sess.ItemRef(i).Row(), it.Body.Text)
				}
			}
		}
	}
	whole := s.openStore(t, store.Options{Bodies: func(*session.Session) bool { return true }})
	atOnce := readTrees(t, whole)
	for _, tree := range atOnce {
		if err := whole.Fill(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
	}
	if diff := diffValues(flatSessions(filled), flatSessions(atOnce)); diff != "" {
		t.Errorf("Bodies gives other trees: %s", diff)
	}
	if diff := diffValues(flatSessions(s.fillParts(t)), flatSessions(filled)); diff != "" {
		t.Errorf("Parts have other texts: %s", diff)
	}
	if diff := diffValues(withoutBodies(outlines), withoutBodies(flatSessions(filled))); diff != "" {
		t.Errorf("Fill changed the outlines: %s", diff)
	}
}

// fillParts fills trees a few items at a time, where the store can.
func (s suite) fillParts(t *testing.T) []*session.Tree {
	o := s.openStore(t)
	trees := readTrees(t, o)
	for _, tree := range trees {
		from, ok := o.Store.(store.PartFiller)
		if !ok {
			if err := o.Fill(t.Context(), tree); err != nil {
				t.Fatal(err)
			}
			continue
		}
		parts, err := from.FillParts(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range tree.Sessions {
			for _, some := range slices.AppendSeq([][]session.Item{nil}, slices.Chunk(of.Items, 3)) {
				part := *of
				part.Items = some
				if err := parts.Fill(&session.Tree{Sessions: []*session.Session{&part}}); err != nil {
					t.Fatal(err)
				}
				of.Raw = part.Raw
			}
		}
		if parts.Close != nil {
			if err := parts.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return trees
}

// withoutBodies takes out of sessions what Fill reads.
func withoutBodies(sessions []session.Session) []session.Session {
	for i := range sessions {
		s := &sessions[i]
		s.Raw = nil
		for j := range s.Items {
			it := &s.Items[j]
			it.Body, it.Calls, it.Results = nil, slices.Clone(it.Calls), slices.Clone(it.Results)
			for k := range it.Calls {
				it.Calls[k].Args = ""
			}
			for k := range it.Results {
				it.Results[k].Text = ""
			}
		}
	}
	return sessions
}

// diffValues is cmp.Diff, which takes its time for large values, of such as are mostly equal.
func diffValues(x, y any) string {
	if reflect.DeepEqual(x, y) {
		return ""
	}
	return cmp.Diff(x, y)
}

// testDigests holds that a text has one digest in the whole store, and that only
// the empty text has none.
func (s suite) testDigests(t *testing.T) {
	o := s.openStore(t)
	byText := map[string]session.Digest{}
	hold := func(where, text string, d session.Digest) {
		if (d == 0) != (text == "") {
			t.Errorf("%s: a text of %d bytes has the digest %d", where, len(text), d)
		}
		if known, ok := byText[text]; ok && known != d {
			t.Errorf("%s: a text has two digests", where)
		}
		byText[text] = d
	}
	for _, tree := range readTrees(t, o) {
		if err := o.Fill(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		for _, sess := range tree.Sessions {
			for i := range sess.Items {
				it := &sess.Items[i]
				if it.Kind == session.Message && it.Role == session.Assistant {
					hold(sess.ItemRef(i).Row(), it.Body.Text, it.Text)
				}
				for n := range it.Results {
					hold(fmt.Sprintf("%s result %d", sess.ItemRef(i).Row(), n), it.Results[n].Text, it.Results[n].Digest)
				}
			}
		}
	}
}

func (s suite) testCancellation(t *testing.T) {
	o := s.openStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range o.Trees(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		return
	}
	if len(readTrees(t, o)) > 0 {
		t.Error("the sequence ended without an error")
	}
}

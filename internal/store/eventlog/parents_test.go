package eventlog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// parented is linked with talks whose rows say which talk started them.
var parented = form{
	name: "talks with parents", scoped: true, schema: strings.Replace(linked.schema, "note text,", "note text, starter text,", 1),
	extend: func(l *eventlog.Layout) {
		link(l)
		l.Sessions.Parent, l.Sessions.Columns = "starter", append(l.Sessions.Columns, "starter")
	},
}

func startedBy(user, id, starter string) string {
	return fmt.Sprintf("insert into talks(app, user, id, note, starter) values('a', '%s', '%s', 'a note', '%s')", user, id, starter)
}

// Rows of talks make trees as lines do, and both at once.
func TestParents(t *testing.T) {
	u := func(id, starter string) string { return startedBy("u", id, starter) }
	cases := []struct {
		name, want string
		make       []string
	}{
		{"none", "p | c", []string{u("p", ""), talk("a", "u", "c")}},
		{"one", "x | p(c) c", []string{u("x", ""), u("c", "p"), u("p", "")}},
		{"a chain", "p(c) c(g) g", []string{u("p", ""), u("c", "p"), u("g", "c")}},
		{"a line names another child", "p(c,d) c d | x", []string{u("p", ""), u("c", "p"), u("x", ""), u("d", ""), asked("u", "p", "1", 1, "d")}},
		{"the row goes before a line", "p(c) c q", []string{u("p", ""), u("c", "p"), u("q", ""), asked("u", "q", "1", 1, "c")}},
		{"one that does not exist", "c", []string{u("c", "gone")}},
		{"one id under two owners", "a/u/p(a/u/c) a/u/c | a/v/p(a/v/c) a/v/c",
			[]string{u("p", ""), u("c", "p"), startedBy("v", "p", ""), startedBy("v", "c", "p")}},
		{"another owner's", "p | c", []string{u("p", ""), startedBy("v", "c", "p")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			trees := treesOf(t, parented.reading(t, parented.make(t, t.TempDir(), c.make...), false), true)
			if got := shown(trees); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	loop := treesOf(t, parented.reading(t, parented.make(t, t.TempDir(), u("p", "c"), u("c", "p")), false), false)
	if got := shown(loop); got != "p(c) c" || len(loop[0].Root().Faults) != 1 || loop[0].Root().Faults[0].Kind != session.ParentCycle {
		t.Errorf("a loop: %q, %v", got, loop[0].Root().Faults)
	}
}

// A repair writes parents: of talks that it splits off, and of those that get another one.
func TestParentsAreWritten(t *testing.T) {
	path := parented.make(t, t.TempDir(), startedBy("u", "p", ""), startedBy("u", "q", "p"), startedBy("u", "w", "p"),
		line("'w1'", "a", "u", "w", 1, "x"), line("'w2'", "a", "u", "w", 2, "y"))
	dump := storetest.Dump(t, path)
	e := parented.begin(t, path)
	read := func(ids ...string) []*session.Tree {
		st, err := e.Read(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		return treesOf(t, st, true)
	}
	before := read("p", "q", "w")[0]
	after := copyTree(before)
	w := after.Session("w")
	w.Parent = "q"
	made := &session.Session{ID: "made", Parent: "q", Title: "errand", Items: w.Items[1:]}
	w.Items = w.Items[:1]
	after.Session("q").Parent = ""
	after.Sessions = append(after.Sessions, made)
	change := &store.Change{Before: before, After: after, Split: map[string]string{"made": "w"}}
	if err := e.Write(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(read("p", "q", "w", "made")), "p | q(w,made) w made"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	journal := finishEdit(t, e)
	undo := parented.begin(t, path)
	if err := undo.Revert(t.Context(), journal); err != nil {
		t.Fatal(err)
	}
	finishEdit(t, undo)
	if diff := cmp.Diff(dump, storetest.Dump(t, path)); diff != "" {
		t.Errorf("after undo: %s", diff)
	}
}

// A store without parents refuses one, and does not lose it in silence.
func TestAParentThatNothingRecords(t *testing.T) {
	path := linked.make(t, t.TempDir(), talk("a", "u", "p"), talk("a", "u", "c"))
	st := linked.reading(t, path, false)
	before := treesOf(t, st, true)[0]
	after := copyTree(before)
	after.Sessions[0].Parent = "c"
	err := st.(store.Rehearser).Rehearse(t.Context(), &store.Change{Before: before, After: after})
	if err == nil || !strings.Contains(err.Error(), "and this store has none") {
		t.Errorf("got %v", err)
	}
}

// A record that names a child may leave where the child's own row says who started it.
func TestAParentKeepsATreeTogether(t *testing.T) {
	for starter, refused := range map[string]bool{"": true, "p": false} {
		path := parented.make(t, t.TempDir(), startedBy("u", "p", ""), startedBy("u", "c", starter), asked("u", "p", "1", 1, "c"), line("'2'", "a", "u", "p", 2, "x"))
		st := parented.reading(t, path, false)
		before := treesOf(t, st, true)[0]
		after := copyTree(before)
		after.Session("p").Items = after.Session("p").Items[1:]
		err := st.(store.Rehearser).Rehearse(t.Context(), &store.Change{Before: before, After: after})
		if (err != nil) != refused {
			t.Errorf("started by %q: %v", starter, err)
		}
	}
}

package browse_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/sessctl/sessctl/internal/browse"
	"github.com/sessctl/sessctl/internal/browse/browsetest"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// team is a session that leaked, with two levels of sub-agents, and others around it.
const team = `
P "Fix the build" agent=root
  user "please"
  root "I ask" T1>worker(do it) s1()
  worker "doing" at=3
  sub C
  root <T1 "done" <s1!
C<P "Transferred task" agent=worker
  system(do it)
  user implicit
  worker "doing" at=3
  worker "I ask on" T2>helper(look)
  sub D
  worker <T2 "seen"
  worker "done"
D<C "Look" agent=helper
  system(look)
  helper "an \u001b[31mescape" think(deep)
  helper "seen"
Q "Greeting 表演 e\u0301 👩‍👩‍👧"
  user "hello"
  root "good day"
R "Cut \u001b[2J off"
  user "go"
  root a1:shell()
`

// fake is a program whose stores are trees in memory.
type fake struct {
	trees   []*session.Tree
	facts   session.Store
	own     []*check.Finding // in the store itself
	stamp   string
	changed bool
	asked   []string
	slow    chan struct{} // holds the check until it is closed; nil for not at all
}

func newFake(t *testing.T) *fake {
	t.Helper()
	trees := treetest.Trees(t, strings.NewReplacer(`\u001b`, "\x1b", `\u0301`, "\u0301").Replace(team))
	for i, tree := range trees {
		tree.Root().Created = time.Date(2026, 2, 9-i, 12, 0, 0, 0, time.UTC)
	}
	return &fake{trees: trees, facts: session.Store{
		Kind: "docker-agent", Title: "docker agent", Children: session.Children{ChildrenClosed: true}, Writer: session.WriterDead, Runtime: dockeragent.Runtime,
	}}
}

func (f *fake) Facts() *session.Store                     { return &f.facts }
func (f *fake) Fill(context.Context, *session.Tree) error { return nil }
func (f *fake) Close() error                              { return nil }
func (f *fake) Trees(context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		for _, tree := range f.trees {
			if !yield(tree, nil) {
				return
			}
		}
	}
}

func (f *fake) List(context.Context, string) (*render.ListedStore, error) {
	list := &render.ListedStore{Store: &f.facts}
	for _, tree := range f.trees {
		list.Rows = append(list.Rows, render.RowOf(tree, nil, false))
	}
	return list, nil
}

func (f *fake) Check(ctx context.Context, _ string, tell func(*render.Row, []*check.Finding)) error {
	if f.slow != nil {
		select {
		case <-f.slow:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if len(f.own) > 0 {
		tell(nil, f.own)
	}
	_, err := check.Run(ctx, f, check.Options{Rules: catalogue.UsualRules(), EachTree: func(tree *session.Tree, found []*check.Finding) {
		tell(render.RowOf(tree, found, false), found)
	}})
	return err
}

func (f *fake) Read(_ context.Context, _, id, provider string) (view.Input, error) {
	f.asked = append(f.asked, "read "+id+" "+provider)
	var judge rules.Judge
	if p := rules.FindProfile(provider); p != nil {
		judge.Profiles = []*rules.Profile{p}
	}
	at := slices.IndexFunc(f.trees, func(t *session.Tree) bool { return t.Session(id) != nil })
	if at < 0 {
		return view.Input{}, problem.New(problem.Usage, "Read the store again.", "there is no session %s", id)
	}
	tree := f.trees[at]
	return view.Input{Store: &f.facts, Tree: tree, Session: id, Judge: judge, Findings: check.RunTree(&f.facts, tree, catalogue.UsualRules(), judge)}, nil
}

func (f *fake) Plan(_ context.Context, store string, ids []string, _ int) (*browse.Proposal, error) {
	f.asked = append(f.asked, "plan "+strings.Join(ids, ","))
	return &browse.Proposal{Store: store, Title: "Repair", Text: "the plan\n" + strings.Repeat("  a step\n", 40) + "the end", CarryOut: func(context.Context) (string, error) {
		f.changed = true
		return "it is done\nUndo with: sessctl undo /" + strings.Repeat("folder/", 30) + "s.db.receipt.json\n", nil
	}}, nil
}

func (f *fake) Undo(_ context.Context, store string, _ int) (*browse.Proposal, error) {
	return &browse.Proposal{Store: store, Title: "Undo", Text: "takes it back", CarryOut: func(context.Context) (string, error) {
		return "", problem.New(problem.Busy, "Close it.", "the store is in use")
	}}, nil
}

func (f *fake) Export(_ context.Context, _, id string, redact bool) (string, error) {
	if redact {
		return "", errors.New("the disk is full")
	}
	return id + ".ndjson", nil
}

func (f *fake) Stamp(string) string { return f.stamp }

func start(t *testing.T, f browse.Program, width, height int) *browsetest.User {
	t.Helper()
	return browsetest.Start(browse.New(t.Context(), browse.Options{Program: f, Stores: []string{"s.db"}}), width, height)
}

func TestKeys(t *testing.T) {
	tests := []struct {
		name  string
		keys  string // with spaces between
		shows []string
		hides []string
	}{
		{"the list with its health", "", []string{"▌ ✗ P ", "Fix the build", "1 leak-duplicate", "✓ Q ", `Cut \x1b[2J off`, "3 sessions"}, []string{"checked"}},
		{"the second session", "j enter", []string{"Greeting", "hello", "good day"}, []string{"1 finding"}},
		{"only damaged ones", "f", []string{"Fix the build", "Cut", "2 of 3 sessions, damaged"}, []string{"Greeting"}},
		{"only repairable ones", "f f", []string{"repairable"}, []string{"Greeting"}},
		{"all again", "f f f", []string{"Greeting", "3 sessions"}, nil},
		{"another order", "s s", []string{"Sorted by: title"}, nil},
		{"a filter while it is typed", "/ g r e", []string{"/gre█", "Greeting"}, []string{"Fix the build"}},
		{"a letter taken back", "/ g r x backspace enter", []string{`1 of 3 sessions, "gr"`}, []string{"Fix the build"}},
		{"a rule", "/ r u l e : s c 7 0 1 enter", []string{"Fix the build"}, []string{"Greeting"}},
		{"an agent", "/ a g e n t : h e l p e r enter", []string{"Fix the build"}, []string{"Greeting"}},
		{"the title of a sub-session", "/ t r a n s f e r enter", []string{"Fix the build"}, []string{"Greeting"}},
		{"nothing fits", "/ z z enter", []string{"no session to show", "0 of 3 sessions"}, nil},
		{"nothing to open", "/ z z enter enter space R u", []string{"no session to show"}, nil},
		{"a filter given up", "/ z z esc", []string{"Greeting"}, nil},
		{"marks", "space space", []string{"*✗ P", "*✓ Q", "2 marked"}, nil},
		{"a mark taken back", "space k space", []string{"▌ ✓ Q"}, []string{"marked"}},
		{"the keys", "?", []string{"Keys", "plan the repair of the marked sessions"}, nil},
		{"away from the keys", "? esc", []string{"Fix the build"}, []string{"suspend"}},

		{"a session with its agents", "enter", []string{"Fix the build › root P   session of root", "AGENTS", "▸✗ root", "worker", "helper", "▸ C  Transferred task", "[stored]"}, []string{"I ask on"}},
		{"what is under the cursor", "enter j", []string{"│ root", "arguments"}, nil},
		{"the next finding", "enter n", []string{"SC701 leak-duplicate", "the next request fails with", "Repair: "}, nil},
		{"no further finding", "enter n n n n n n", []string{"No finding names an item beyond this one."}, nil},
		{"the finding before", "enter end N", []string{"SC701 leak-duplicate"}, nil},
		{"a rule explained", "enter n e", []string{"SC701 leak-duplicate", "lines 1–"}, []string{"AGENTS"}},
		{"unfolded", "enter j j j right", []string{"I ask on", "┌ C", "▸ D"}, nil},
		{"folded again", "enter j j j right left", []string{"▸ C"}, []string{"I ask on"}},
		{"the sub-agent's own session", "enter j j j enter", []string{"root › worker C   session of worker", "I ask on", "▸    worker"}, []string{"please"}},
		{"back from it", "enter j j j enter esc", []string{"session of root", "please"}, []string{"I ask on"}},
		{"an agent of the tree", "enter t j j enter j", []string{"root › helper D   session of helper", `an \x1b[31mescape`, "deep"}, nil},
		{"in the tree", "enter t", []string{"▌▸✗ root", "t items"}, nil},
		{"away from the tree", "enter t esc", []string{"t agents"}, nil},
		{"the sub-agent that a call asks", "enter j enter", []string{"root › worker C   session of worker"}, nil},
		{"from an unfolded item", "enter j j j right j enter", []string{"root › worker C   session of worker"}, nil},
		{"no sub-agent here", "enter enter", []string{"No sub-agent was asked here"}, nil},
		{"the request", "enter tab", []string{"sent by root", "[request]", "request as sent to", "refused: SC701"}, nil},
		{"for another provider", "enter p", []string{"[request]", "for "}, nil},
		{"who saw what", "enter tab tab", []string{"seen by each agent", "C  session D  helper  3 of 15"}, nil},
		{"through the eyes of one", "enter b b", []string{"seen by worker in session C", "viewer: "}, nil},
		{"through all eyes again", "enter b B", []string{"seen by each agent"}, nil},
		{"no repair", "enter tab tab tab", []string{"[repaired]", "No repair changes this session."}, nil},
		{"lanes", "enter shift+tab shift+tab", []string{"[lanes]", "◆┄○"}, nil},
		{"borders", "enter shift+tab", []string{"[borders]", "went in"}, nil},
		{"the cursor stays on its item", "enter n tab", []string{"▌    2 assistant    2 worker"}, nil},
		{"the id", "enter y", []string{"Copied: P"}, nil},
		{"an export", "enter x", []string{"Written: P.ndjson"}, nil},
		{"an export that fails", "enter X", []string{"The disk is full."}, nil},

		{"a plan", "R", []string{"Repair of s.db", "the plan", "lines 1–27 of 42", "a apply"}, nil},
		{"the end of a plan", "R end", []string{"the end", "lines 16–42 of 42"}, nil},
		{"a plan without its steps", "R end f", []string{"the plan", "the end"}, []string{"a step"}},
		{"its steps again", "R f f", []string{"the plan", "a step"}, []string{"the end"}},
		{"asked before anything is changed", "R a", []string{"Type yes to change s.db: █"}, nil},
		{"another word", "R a y enter", []string{"Nothing was changed.", "the plan"}, nil},
		{"carried out", "R a y e s enter", []string{"it is done", "Repair of s.db: result", "s.db.receipt.json"}, []string{"a apply"}},
		{"carried out once only", "R a y e s enter a", []string{"it is done"}, []string{"Type yes"}},
		{"an undo that is refused", "u a y e s enter", []string{"The store is in use. Close it."}, nil},
		{"back from a plan", "R esc", []string{"Fix the build"}, []string{"the plan"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := start(t, newFake(t), 140, 30)
			u.Type(strings.Fields(tt.keys)...)
			frame := u.Frame()
			for _, text := range tt.shows {
				if !strings.Contains(frame, text) {
					t.Errorf("no %q", text)
				}
			}
			for _, text := range tt.hides {
				if strings.Contains(frame, text) {
					t.Errorf("there is %q", text)
				}
			}
			if t.Failed() {
				t.Log("\n" + frame)
			}
		})
	}
}

// TestKeysAreWhole: what a key does is told on a narrow screen, too.
func TestKeysAreWhole(t *testing.T) {
	u := start(t, newFake(t), 80, 30)
	u.Type("?")
	if frame := strings.Join(strings.Fields(u.Frame()), " "); strings.Contains(frame, "…") || !strings.Contains(frame, "or of all that are damaged") {
		t.Error("\n" + u.Frame())
	}
}

// Whatever keys are pressed and however large the screen is, a frame fits on it and holds nothing
// that a store could drive a terminal with.
func TestFramesFit(t *testing.T) {
	keys := "enter n tab tab tab tab tab tab j j j right enter t j enter b esc esc ? end esc R pgdown esc e esc t esc esc / z enter"
	for _, size := range [][2]int{{140, 40}, {110, 24}, {109, 24}, {80, 24}, {60, 10}, {41, 6}, {20, 4}, {1, 1}} {
		u := start(t, newFake(t), size[0], size[1])
		for _, key := range append([]string{""}, strings.Fields(keys)...) {
			if key != "" {
				u.Type(key)
			}
			content := u.Model.View().Content
			if n := strings.Count(content, "\n") + 1; n > max(size[1], 4) {
				t.Errorf("%v after %q: %d lines", size, key, n)
			}
			for line := range strings.Lines(ansi.Strip(content)) {
				if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > size[0] {
					t.Errorf("%v after %q: %d columns: %s", size, key, w, line)
				}
				if strings.ContainsRune(line, '\x1b') {
					t.Errorf("%v after %q: an escape of the store: %q", size, key, line)
				}
			}
		}
	}
}

func TestRepairIsPlannedForWhatIsMarked(t *testing.T) {
	f := newFake(t)
	u := start(t, f, 80, 24)
	u.Type("R", "esc", "space", "R", "esc", "j", "space", "R")
	if want := []string{"plan ", "plan P", "plan P,R"}; !slices.Equal(f.asked, want) {
		t.Errorf("%q, want %q", f.asked, want)
	}
}

func TestAfterAChangeEverythingIsReadAgain(t *testing.T) {
	f := newFake(t)
	u := start(t, f, 140, 30)
	u.Type("enter", "j", "j", "j", "enter", "R", "a", "y", "e", "s", "enter")
	if !f.changed || !slices.Equal(f.asked, []string{"read P ", "plan C", "read P "}) {
		t.Errorf("%v %q", f.changed, f.asked)
	}
	u.Type("esc")
	if !strings.Contains(u.Frame(), "session of root") {
		t.Error(u.Frame())
	}
}

// Ctrl-C stops a check and leaves the browser only when nothing runs.
func TestCtrlCStopsTheCheckFirst(t *testing.T) {
	f := newFake(t)
	f.slow = make(chan struct{})
	u := &browsetest.User{Model: browse.New(t.Context(), browse.Options{Program: f, Stores: []string{"s.db"}}), Holds: true}
	u.Do(u.Model.Init())
	if frame := u.Frame(); !strings.Contains(frame, "reading…") || strings.Contains(frame, "no session") {
		t.Error(frame)
	}
	for !strings.Contains(u.Frame(), "checked 0 of 3 (Ctrl-C stops that)") {
		u.DoHeld()
	}
	u.Type("ctrl+c")
	if u.Left || !strings.Contains(u.Frame(), "Stopping checking…") {
		t.Fatal(u.Frame())
	}
	for u.DoHeld() {
	}
	if !strings.Contains(u.Frame(), "Stopped.") || !strings.Contains(u.Frame(), "Greeting") {
		t.Error(u.Frame())
	}
	u.Holds = false
	if u.Type("ctrl+c"); !u.Left {
		t.Error("the second Ctrl-C does not leave")
	}
}

// A store that is being changed is left by Ctrl-C alone, which stops the change.
func TestCtrlCStopsAChange(t *testing.T) {
	u := start(t, stopped{newFake(t)}, 80, 24)
	u.Type("R", "a", "y", "e", "s")
	u.Holds = true
	u.Type("enter")
	for _, key := range []string{"q", "esc"} {
		if u.Type(key); u.Left || !strings.Contains(u.Frame(), "The store is being changed: Ctrl-C stops that.") {
			t.Error(key, u.Frame())
		}
	}
	if u.Type("u", "a", "ctrl+c"); u.Left || !strings.Contains(u.Frame(), "Stopping changing s.db…") {
		t.Error(u.Frame())
	}
	u.DoHeld()
	if frame := u.Frame(); !strings.Contains(frame, "It was stopped half way.") {
		t.Error(frame)
	}
}

// stopped is a program whose changes go on until they are stopped.
type stopped struct{ *fake }

func (s stopped) Plan(context.Context, string, []string, int) (*browse.Proposal, error) {
	return &browse.Proposal{Store: "s.db", Title: "Repair", Text: "the plan", CarryOut: func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", errors.New("it was stopped half way")
	}}, nil
}

func TestAStoreThatChangesIsSaid(t *testing.T) {
	f := newFake(t)
	u := &browsetest.User{Model: browse.New(t.Context(), browse.Options{Program: f, Stores: []string{"s.db"}, Watch: time.Millisecond}), Holds: true}
	u.Do(u.Model.Init())
	for range 30 {
		u.DoHeld()
	}
	if frame := u.Frame(); strings.Contains(frame, "changed") || !strings.Contains(frame, "1 leak-duplicate") {
		t.Fatal(frame)
	}
	f.stamp = "newer"
	for range 3 {
		u.DoHeld()
	}
	if frame := u.Frame(); !strings.Contains(frame, "3 sessions; s.db changed: r reads it again") {
		t.Error(frame)
	}
	u.Type("r")
	for range 30 {
		u.DoHeld()
	}
	if frame := u.Frame(); strings.Contains(frame, "changed") {
		t.Error(frame)
	}
}

func TestFindingsOfTheStoreItself(t *testing.T) {
	f := newFake(t)
	u := start(t, f, 80, 24)
	if u.Type("i"); !strings.Contains(u.Frame(), "Nothing was found in the stores themselves.") {
		t.Error(u.Frame())
	}
	f.own = []*check.Finding{{Defect: rules.Defect{Rule: catalogue.FindRule("SC001"), Severity: rules.Error, Message: "page 7 is damaged"}}}
	u.Type("esc", "r")
	if !strings.Contains(u.Frame(), "3 sessions; 1 finding about the store itself: i") {
		t.Error(u.Frame())
	}
	if u.Type("i"); !strings.Contains(u.Frame(), "error SC001") || !strings.Contains(u.Frame(), "page 7 is damaged.") {
		t.Error(u.Frame())
	}
}

// What a check tells that was given up, because the stores are read anew, does not count.
func TestACheckThatWasGivenUpTellsNothing(t *testing.T) {
	f := newFake(t)
	u := &browsetest.User{Model: browse.New(t.Context(), browse.Options{Program: f, Stores: []string{"s.db"}}), Holds: true}
	u.Do(u.Model.Init())
	for !strings.Contains(u.Frame(), "checked 0 of 3 (Ctrl-C stops that)") {
		u.DoHeld()
	}
	f.trees = f.trees[:1] // the others are gone now
	u.Type("r")
	for u.DoHeld() {
	}
	if frame := u.Frame(); !strings.Contains(frame, "✗ P") || !strings.Contains(frame, "\n1 session\n") {
		t.Error(frame)
	}
}

// Of two sessions that were asked for before one was there, the last one is shown.
func TestTheLastSessionThatWasAskedForIsShown(t *testing.T) {
	u := start(t, newFake(t), 80, 24)
	u.Holds = true
	u.Type("enter", "j", "enter")
	for u.DoHeld() {
	}
	u.Holds = false
	if frame := u.Frame(); !strings.Contains(frame, "› root Q ") {
		t.Error(frame)
	}
	if u.Type("esc"); !strings.Contains(u.Frame(), "sessctl browse") {
		t.Error(u.Frame())
	}
}

// A list that was read in brief knows neither what belongs together nor how much there is.
func TestACheckCorrectsABriefList(t *testing.T) {
	u := &browsetest.User{Model: browse.New(t.Context(), browse.Options{Program: brief{newFake(t)}, Stores: []string{"s.db"}}), Holds: true}
	u.Do(u.Model.Init())
	for !strings.Contains(u.Frame(), "checked 0 of") {
		u.DoHeld()
	}
	if frame := u.Frame(); !strings.Contains(frame, "Transferred task") || !strings.Contains(frame, "checked 0 of 4") {
		t.Error(frame)
	}
	for u.DoHeld() {
	}
	if frame := u.Frame(); strings.Contains(frame, "Transferred task") || !strings.Contains(frame, "3 sessions") {
		t.Error(frame)
	}
}

func TestErrorsTellNoPasswords(t *testing.T) {
	hide := func(text string) string { return strings.ReplaceAll(text, "disk", "…") }
	u := browsetest.Start(browse.New(t.Context(), browse.Options{Program: newFake(t), Stores: []string{"s.db"}, Hide: hide}), 80, 24)
	if u.Type("enter", "X"); !strings.Contains(u.Frame(), "The … is full.") {
		t.Error(u.Frame())
	}
}

func TestTheCursorStaysAtTheTopUntilItIsMoved(t *testing.T) {
	stores := []string{"b.db", "a.db"}
	u := browsetest.Start(browse.New(t.Context(), browse.Options{Program: newFake(t), Stores: stores}), 80, 24)
	if frame := u.Frame(); !strings.Contains(frame, "6 sessions") || !strings.Contains(strings.Split(frame, "\n")[2], "▌") {
		t.Error(frame)
	}
	u.Type("j")
	title, _, _ := strings.Cut(u.Frame(), "\n")
	u.Type("r")
	if frame := u.Frame(); !strings.HasPrefix(frame, title+"\n") || !strings.Contains(frame, "▌ ✗ P") {
		t.Errorf("%s\n%s", title, frame)
	}
}

// brief lists a sub-session as if it were none.
type brief struct{ *fake }

func (b brief) List(ctx context.Context, store string) (*render.ListedStore, error) {
	list, err := b.fake.List(ctx, store)
	list.Store = &session.Store{Condition: session.Condition{Brief: true, Uncounted: true}}
	list.Rows = append(list.Rows, &render.Row{ID: "C", Title: "Transferred task"})
	return list, err
}

// Where no store can be read there is nothing to browse.
func TestABrowserWithoutStoresLeaves(t *testing.T) {
	if u := start(t, &broken{newFake(t), 0}, 80, 24); !u.Left {
		t.Error(u.Frame())
	}
}

// A store that cannot be read any more stays on the screen, with the reason.
func TestAStoreThatCannotBeReadIsSaid(t *testing.T) {
	u := start(t, &broken{newFake(t), 1}, 60, 24)
	u.Type("r")
	if frame := u.Frame(); u.Left || !strings.Contains(strings.Join(strings.Fields(frame), " "), "read, whatever it is called. Name another one.") || !strings.Contains(frame, "✓ Q") {
		t.Error(frame)
	}
}

// broken is a program whose store can be listed so many times.
type broken struct {
	*fake
	times int
}

func (b *broken) List(ctx context.Context, store string) (*render.ListedStore, error) {
	if b.times--; b.times >= 0 {
		return b.fake.List(ctx, store)
	}
	return nil, problem.New(problem.Unreadable, "name another one", "the store s.db is no store that anybody could read, whatever it is called")
}

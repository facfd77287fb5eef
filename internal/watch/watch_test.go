package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// world is a store that is a file: each word in it is a finding. A word with a colon is of the session
// before that.
type world struct {
	t      *testing.T
	path   string
	events chan string
	checks atomic.Int32
	opts   Options
}

func newWorld(t *testing.T, content string) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "folder", "store"), events: make(chan string, 100)}
	w.write(content)
	w.opts = Options{
		Stores: []string{w.path}, Poll: 50 * time.Millisecond, Every: time.Hour, Now: time.Now, Counts: &Metrics{},
		Files:  func(path string) []string { return []string{path} },
		Sign:   func(string) func(context.Context) string { return nil },
		Glance: func(context.Context, string) (Glance, error) { return Glance{}, nil },
		Check: func(context.Context, string, Part) (*Look, error) {
			w.checks.Add(1)
			text, err := os.ReadFile(w.path)
			return looked(true, session.WriterDead, "a: "+string(text)), err
		},
		Emit: func(e Event) error { w.events <- told([]Event{e})[0]; return nil },
	}
	return w
}

func (w *world) write(content string) {
	w.t.Helper()
	err := os.MkdirAll(filepath.Dir(w.path), 0o700)
	if err == nil {
		err = os.WriteFile(w.path, []byte(content), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// start watches until the test ends.
func (w *world) start() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, w.opts) }()
	w.t.Cleanup(func() {
		stop()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				w.t.Error(err)
			}
		case <-time.After(5 * time.Second):
			w.t.Error("it does not end")
		}
		if len(w.events) > 0 {
			w.t.Errorf("not expected: %s", <-w.events)
		}
	})
}

func (w *world) expect(events ...string) {
	w.t.Helper()
	for _, want := range events {
		select {
		case got := <-w.events:
			if got != want {
				w.t.Fatalf("%q, want %q", got, want)
			}
		case <-time.After(10 * time.Second):
			w.t.Fatalf("nothing, want %q", want)
		}
	}
}

func TestABurstIsOneCheck(t *testing.T) {
	w := newWorld(t, "1")
	w.start()
	w.expect("watching", "found 1")
	for i := range 20 {
		w.write(strings.Repeat("1 ", i%2) + "2 3")
	}
	w.expect("found 2", "found 3")
	time.Sleep(300 * time.Millisecond)
	if n := w.checks.Load(); n > 3 {
		t.Errorf("%d checks", n)
	}
	time.Sleep(time.Second)
	if n := w.checks.Load(); n > 3 {
		t.Errorf("%d checks of a store that does not change", n)
	}
}

// The folder of a store may go and come back, with or without the system telling.
func TestFoldersComeAndGo(t *testing.T) {
	for name, always := range map[string]bool{"told": false, "polled": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "1")
			w.opts.Always = always
			w.start()
			w.expect("watching", "found 1")
			folder := filepath.Dir(w.path)
			if err := os.Rename(folder, folder+"2"); err != nil {
				t.Skip("an open folder cannot be renamed here: ", err)
			}
			w.expect("unreadable")
			w.write("1 2")
			w.expect("readable", "found 2")
			w.write("1 2 3")
			w.expect("found 3")
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			w.expect("unreadable")
			if err := os.Rename(folder+"2", folder); err != nil {
				t.Fatal(err)
			}
			w.expect("readable", "gone 2", "gone 3")
		})
	}
}

// Of a store that tells by marks what changed, sessions are checked one by one, and now and then all.
func TestMarksChooseSessions(t *testing.T) {
	w := newWorld(t, "x")
	sessions := map[string]string{"a": "1", "b": "2"}
	marks, parts := make(chan map[string]string, 1), make(chan Part, 10)
	marks <- sessions
	w.opts.Glance = func(context.Context, string) (Glance, error) {
		now := <-marks
		marks <- now
		return Glance{Marks: now}, nil
	}
	w.opts.Check = func(_ context.Context, _ string, of Part) (*Look, error) {
		now := <-marks
		marks <- now
		parts <- of
		if of.All {
			return looked(true, session.WriterDead, "a: "+now["a"], "b: "+now["b"]), nil
		}
		if now[of.Only] == "" {
			return nil, ErrNoSession
		}
		return looked(false, session.WriterDead, of.Only+": "+now[of.Only]), nil
	}
	w.opts.Every = 2 * time.Second
	set := func(now map[string]string) {
		<-marks
		marks <- now
		w.write("y")
	}
	w.start()
	w.expect("watching", "found 1", "found 2")
	set(map[string]string{"a": "1", "b": "2 3"})
	w.expect("found 3")
	set(map[string]string{"b": "2 3", "c": "4"})
	w.expect("found 4", "gone 1")
	for _, want := range []Part{{All: true}, {Only: "b"}, {Only: "c"}, {All: true}} {
		select {
		case got := <-parts:
			if got.Only != want.Only || got.All != want.All {
				t.Errorf("checked %q, want %q", got.Only, want.Only)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("not checked")
		}
	}
	w.expect("gone 4") // which the check of all does not list here
}

// Nobody takes what is told, or nothing can be read: it ends.
func TestWhatEndsIt(t *testing.T) {
	w := newWorld(t, "1")
	closed := errors.New("closed")
	w.opts.Emit = func(Event) error { return closed }
	if err := Run(t.Context(), w.opts); !errors.Is(err, closed) {
		t.Error(err)
	}
	w = newWorld(t, "1")
	w.path += "not"
	if err := Run(t.Context(), w.opts); !errors.Is(err, ErrNothing) || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A store whose trees are kept by the times of their sessions.
func TestKeeperKeepsWhatChanged(t *testing.T) {
	tree := func(id string, at int64) *session.Tree {
		s := &session.Session{ID: id}
		if at > 0 {
			s.Updated = time.Unix(at, 0)
		}
		return &session.Tree{Sessions: []*session.Session{s}}
	}
	s := &one{seen: seen{trees: map[string]Tree{"used": {InUse: true}}}}
	first := map[string]int64{}
	changed := map[string]bool{}
	keep := s.keeper(Part{All: true}, first, changed)
	for _, id := range []string{"a", "b", "used", "newer", "recent"} {
		keep(tree(id, 1), time.Unix(1, 0))
	}
	keep(tree("untimed", 0), time.Time{})
	s.heads = first
	s.recent = []string{"recent"}
	changed = map[string]bool{}
	keep = s.keeper(Part{}, map[string]int64{}, changed)
	for _, tt := range []struct {
		tree   *session.Tree
		newest int64
		want   bool
	}{
		{tree("a", 1), 1, false}, {tree("b", 2), 1, true}, {tree("used", 1), 1, true}, {tree("newer", 1), 2, true},
		{tree("untimed", 0), 0, true}, {tree("new", 1), 1, true}, {tree("recent", 1), 1, true},
	} {
		for range 2 { // it is asked again
			if got := keep(tt.tree, time.Unix(tt.newest, 0)); got != tt.want {
				t.Errorf("%s: %v", tt.tree.Root().ID, got)
			}
		}
	}
}

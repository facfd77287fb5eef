package cmd

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/browse"
	"github.com/sessctl/sessctl/internal/browse/browsetest"
	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// browsing is somebody who browses a store.
func browsing(t *testing.T, width, height int, stores ...string) *browsetest.User {
	t.Helper()
	p, _ := testProgram()
	p.config = &config.Config{FailOn: "error", MaxFindings: 100, Sources: map[string]string{}}
	return browsetest.Start(browse.New(t.Context(), browse.Options{Program: browser{program: p, changed: &atomic.Bool{}}, Stores: stores}), width, height)
}

// inDemo makes the current folder one with the sample database of `make demo`.
func inDemo(t *testing.T) {
	t.Helper()
	campaign.ShowsNoRace(t)
	folder := t.TempDir()
	demoStore(t, filepath.Join(folder, "session.db"))
	t.Chdir(folder)
	t.Setenv("TZ", "UTC")
}

// TestFrames holds what the browser draws of the sample database against testdata/browse; -update
// writes it.
func TestFrames(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "testdata", "browse"))
	if err != nil {
		t.Fatal(err)
	}
	inDemo(t)
	for _, size := range [][2]int{{80, 24}, {140, 40}} {
		u := browsing(t, size[0], size[1], "session.db")
		var got strings.Builder
		for _, keys := range []string{
			"", "?", "esc f s", "f f s s s s enter", "n", "e", "esc tab", "tab", "b b", "tab", "tab", "tab", "tab", "j enter", "j enter", "esc t", "j enter", "esc esc R", "f", "f end a",
		} {
			u.Type(strings.Fields(keys)...)
			fmt.Fprintf(&got, "=== %s\n%s\n", keys, regexp.MustCompile(` +\n`).ReplaceAllString(u.Frame()+"\n", "\n"))
		}
		path := filepath.Join(root, fmt.Sprintf("%dx%d.txt", size[0], size[1]))
		if flag.Lookup("update").Value.String() == "true" {
			if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
			t.Errorf("go test ./cmd -run TestFrames -update writes %s anew (-file +program):\n%s", path, diff)
		}
	}
}

// A repair made in the browser leaves the bytes that `repair --yes` leaves, of all that is damaged, of
// one session, and its undo those of before.
func TestBrowserRepairsAsTheCommandDoes(t *testing.T) {
	for name, tt := range map[string]struct {
		keys string
		args []string
	}{
		"everything":  {"R a y e s enter", nil},
		"one session": {"j space R a y e s enter", []string{"--session", "490f4dca"}},
		"where it is": {"j enter R a y e s enter", []string{"--session", "490f4dca"}},
	} {
		t.Run(name, func(t *testing.T) {
			inDemo(t)
			before := readAll(t, "session.db")
			for _, path := range []string{"browsed.db", "typed.db"} {
				if err := os.WriteFile(path, before, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := append([]string{"repair", "typed.db", "--yes"}, tt.args...)
			if code := Main(args, strings.NewReader(""), &strings.Builder{}, &strings.Builder{}, func(string) string { return "" }); code > exitFindings {
				t.Fatal(code)
			}
			u := browsing(t, 80, 24, "browsed.db")
			u.Type(strings.Fields(tt.keys)...)
			if !strings.Contains(u.Frame(), "✓ verified") {
				t.Fatal(u.Frame())
			}
			browsed, typed := readAll(t, "browsed.db"), readAll(t, "typed.db")
			if string(browsed) != string(typed) || string(browsed) == string(before) {
				t.Errorf("%d and %d bytes, which are not the same, or nothing was changed", len(browsed), len(typed))
			}
			u.Type("u", "a", "y", "e", "s", "enter")
			if frame := u.Frame(); !strings.Contains(frame, "Undone: ") {
				t.Error(frame)
			}
			if u = browsing(t, 80, 24, "browsed.db"); !strings.Contains(u.Frame(), "1 leak-no-child") {
				t.Error(u.Frame())
			}
		})
	}
}

func TestBrowserPlansForSeveralMarkedSessions(t *testing.T) {
	inDemo(t)
	u := browsing(t, 80, 40, "session.db")
	u.Type("space", "j", "space", "R")
	if frame := u.Frame(); !strings.Contains(frame, "8d72c79c  Optimize") || !strings.Contains(frame, "dd1a8567  Run the tests") || strings.Contains(frame, "490f4dca  Review") {
		t.Error(frame)
	}
	u.Type("a", "y", "e", "s", "enter")
	if frame := u.Frame(); !strings.Contains(frame, "✓ verified") {
		t.Error(frame)
	}
	u.Type("esc")
	if frame := u.Frame(); !strings.Contains(frame, "✓ 8d72c79c") || !strings.Contains(frame, "✗ 490f4dca") {
		t.Error(frame)
	}
}

// The browser's health of sessions is that of `ls`, and its findings are those of `check`.
func TestBrowserFindsWhatCheckFinds(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "damaged", "*.ndjson"))
	if err != nil || len(paths) < 50 {
		t.Fatal(len(paths), err)
	}
	p, _ := testProgram()
	p.config = &config.Config{Sources: map[string]string{}}
	b := browser{program: p, changed: &atomic.Bool{}}
	for _, path := range paths {
		silent, _ := b.silent(80)
		listed, err := silent.listStore(t.Context(), path, catalogue.UsualRules(), func(*session.Tree, *render.Row) bool { return true })
		if listed == nil {
			t.Fatal(path, err)
		}
		health := map[string][3]int{}
		for _, row := range listed.Rows {
			health[row.ID] = row.Health
		}
		var result *check.Result
		_ = silent.readStore(t.Context(), path, func(opened *registry.Opened) (err error) { // damage is an error
			result, err = check.Run(t.Context(), opened, check.Options{Rules: catalogue.UsualRules()})
			return err
		})
		want := map[string]int{}
		for _, f := range result.Findings {
			want[f.Fingerprint]++
		}
		got := map[string]int{}
		_ = b.Check(t.Context(), path, func(row *render.Row, found []*check.Finding) {
			if row != nil && row.Health != health[row.ID] {
				t.Errorf("%s %s: %v, and ls says %v", path, row.ID, row.Health, health[row.ID])
			}
			for _, f := range found {
				got[f.Fingerprint]++
			}
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-check +browser):\n%s", path, diff)
		}
	}
}

// A change that is stopped before it began says that nothing was changed.
func TestBrowserStopsAChange(t *testing.T) {
	inDemo(t)
	before := readAll(t, "session.db")
	p, _ := testProgram()
	p.config = &config.Config{Sources: map[string]string{}}
	plan, err := browser{program: p, changed: &atomic.Bool{}}.Plan(t.Context(), "session.db", nil, 80)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if said, err := plan.CarryOut(ctx); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("%q, %v", said, err)
	}
	if !bytes.Equal(before, readAll(t, "session.db")) {
		t.Error("the store was changed")
	}
}

func TestBrowserExports(t *testing.T) {
	inDemo(t)
	u := browsing(t, 80, 24, "session.db")
	u.Type("enter", "x", "X")
	if frame := u.Frame(); !strings.Contains(frame, "Written: 8d72c79c.redacted.ndjson") {
		t.Error(frame)
	}
	if whole, redacted := string(readAll(t, "8d72c79c.ndjson")), string(readAll(t, "8d72c79c.redacted.ndjson")); !strings.Contains(whole, "Optimization complete") || strings.Contains(redacted, "Optimization complete") {
		t.Error("an export has no texts, or a redacted one has them")
	}
	u.Type("x")
	if frame := u.Frame(); !strings.Contains(frame, "already exists") {
		t.Error(frame)
	}
}

// A finding that names a session and no item of it is shown at the head of the session, and at its
// place in the session around it.
func TestBrowserShowsFindingsOfWholeSessions(t *testing.T) {
	for name, tt := range map[string]struct {
		rule string
		keys string
	}{
		"sc706-own-parent.ndjson":              {"SC706", "enter"},
		"sc705-child-without-reference.ndjson": {"SC705", "enter n"},
	} {
		u := browsing(t, 140, 40, filepath.Join("..", "testdata", "damaged", name))
		u.Type(strings.Fields(tt.keys)...)
		if frame := u.Frame(); !regexp.MustCompile(`│ +(error|warning) ` + tt.rule).MatchString(frame) {
			t.Errorf("%s:\n%s", name, frame)
		}
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

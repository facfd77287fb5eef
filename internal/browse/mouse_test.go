package browse_test

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sessctl/sessctl/internal/browse/browsetest"
)

// placeOf is where a text stands on the screen.
func placeOf(t *testing.T, u *browsetest.User, text string) (x, y int) {
	t.Helper()
	for y, line := range strings.Split(u.Frame(), "\n") {
		if before, _, is := strings.Cut(line, text); is {
			return ansi.StringWidth(before), y
		}
	}
	t.Fatalf("no %q:\n%s", text, u.Frame())
	return 0, 0
}

func clickOn(t *testing.T, u *browsetest.User, texts ...string) {
	t.Helper()
	for _, text := range texts {
		x, y := placeOf(t, u, text)
		u.Tell(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	}
}

func turnOn(t *testing.T, u *browsetest.User, text string, button tea.MouseButton) {
	t.Helper()
	x, y := placeOf(t, u, text)
	u.Tell(tea.MouseWheelMsg{X: x, Y: y, Button: button})
}

func TestClicks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		width  int
		keys   string // before, with spaces between
		clicks []string
		shows  []string
		hides  []string
	}{
		{"a session", 80, "", []string{"Greeting"}, []string{"▌ ✓ Q"}, nil},
		{"the same once more", 80, "", []string{"Greeting", "Greeting"}, []string{"hello"}, nil},
		{"the first one, where the cursor is", 80, "", []string{"Fix the build"}, []string{"session of root"}, nil},
		{"the head of the list", 80, "", []string{"TITLE"}, []string{"▌ ✗ P"}, []string{"session of"}},
		{"below the list", 80, "", []string{"3 sessions"}, []string{"▌ ✗ P"}, []string{"session of"}},
		{"an item", 140, "enter", []string{"Transferred task"}, []string{"▌  3 ▸ C"}, []string{"I ask on"}},
		{"a sub-session, twice", 140, "enter", []string{"▸ C", "▸ C"}, []string{"session of worker"}, nil},
		{"a sub-session on a narrow screen", 80, "enter", []string{"Transferred task", "Transferred task"}, []string{"session of worker"}, nil},
		{"what is under the cursor", 140, "enter n", []string{"Repair: "}, []string{"SC701 leak-duplicate"}, []string{"session of worker"}},
		{"an agent", 140, "enter", []string{"helper"}, []string{"t items", "session of root"}, nil},
		{"an agent, twice", 140, "enter", []string{"helper", "helper"}, []string{"session of helper", "t agents"}, nil},
		{"an agent on a narrow screen, twice", 80, "enter t", []string{"helper", "helper"}, []string{"session of helper"}, nil},
		{"an item from the tree", 140, "enter t", []string{"I ask"}, []string{"t agents"}, nil},
		{"words at the foot", 140, "", []string{"s sort"}, []string{"Sorted by: "}, nil},
		{"the repair at the foot, and back", 80, "", []string{"R repair", "esc back"}, []string{"▌ ✗ P"}, []string{"the plan"}},
		{"the keys at the foot", 80, "", []string{"? keys"}, []string{"suspend"}, nil},
		{"between words at the foot", 80, "", []string{"  / filter"}, []string{"▌ ✗ P"}, []string{"/█"}},
		{"a plan", 80, "R", []string{"the plan"}, []string{"the plan"}, []string{"Type yes"}},
		{"apply at the foot", 80, "R", []string{"a apply"}, []string{"Type yes"}, nil},
		{"nothing where a yes is asked for", 80, "R", []string{"a apply", "a apply", "q leave", "a step"}, []string{"Type yes to change s.db: █"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			u := start(t, f, tt.width, 30)
			u.Type(strings.Fields(tt.keys)...)
			clickOn(t, u, tt.clicks...)
			frame := u.Frame()
			lacks := func(text string) bool { return !strings.Contains(frame, text) }
			has := func(text string) bool { return strings.Contains(frame, text) }
			if u.Left || f.changed || slices.ContainsFunc(tt.shows, lacks) || slices.ContainsFunc(tt.hides, has) {
				t.Errorf("want %q without %q:\n%s", tt.shows, tt.hides, frame)
			}
		})
	}
}

func TestTheWheel(t *testing.T) {
	u := start(t, newFake(t), 140, 12)
	turnOn(t, u, "Fix the build", tea.MouseWheelDown)
	if !strings.Contains(u.Frame(), "▌ ✗ R") {
		t.Errorf("the list:\n%s", u.Frame())
	}
	turnOn(t, u, "Cut", tea.MouseWheelUp)
	turnOn(t, u, "Cut", tea.MouseWheelLeft)
	u.Type("enter", "n")
	before := u.Frame()
	turnOn(t, u, "leak-duplicate", tea.MouseWheelDown)
	if strings.Contains(u.Frame(), "SC701 leak-duplicate") {
		t.Errorf("the text at the right:\n%s", u.Frame())
	}
	turnOn(t, u, "AGENTS", tea.MouseWheelDown)
	turnOn(t, u, "AGENTS", tea.MouseWheelUp)
	u.Tell(tea.MouseWheelMsg{X: 100, Y: 5, Button: tea.MouseWheelUp})
	if u.Frame() != before {
		t.Errorf("and back:\n%s\nwas\n%s", u.Frame(), before)
	}
	u.Tell(tea.MouseWheelMsg{X: 40, Y: 5, Button: tea.MouseWheelDown})
	if u.Frame() == before {
		t.Errorf("the items:\n%s", u.Frame())
	}
	u.Type("R")
	turnOn(t, u, "a step", tea.MouseWheelDown)
	if !strings.Contains(u.Frame(), "lines 4–") {
		t.Errorf("the plan:\n%s", u.Frame())
	}
}

// Wherever and however often one clicks, the browser stands, and changes nothing.
func TestClicksEverywhere(t *testing.T) {
	for _, size := range [][2]int{{140, 24}, {80, 24}, {20, 4}, {1, 1}} {
		for _, keys := range []string{"", "enter", "enter t", "enter tab", "R", "?", "/"} {
			f := newFake(t)
			for y := -1; y <= size[1]; y++ {
				u := start(t, f, size[0], size[1])
				u.Type(strings.Fields(keys)...)
				for _, x := range []int{-1, 0, size[0] / 6, size[0] / 2, size[0] - 1, size[0]} {
					for _, button := range []tea.MouseButton{tea.MouseLeft, tea.MouseLeft, tea.MouseRight, tea.MouseNone} {
						u.Tell(tea.MouseClickMsg{X: x, Y: y, Button: button})
						u.Tell(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
						u.Tell(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelUp})
						_ = u.Frame()
					}
				}
			}
			if f.changed {
				t.Errorf("%v after %q: something was changed", size, keys)
			}
		}
	}
}

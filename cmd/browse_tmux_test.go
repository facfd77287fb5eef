//go:build unix

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
)

// terminal is one of tmux, with a shell in a folder.
type terminal struct {
	t      *testing.T
	folder string
	lines  int // that ended
}

func openTerminal(t *testing.T, width, height int, env ...string) *terminal {
	t.Helper()
	campaign.ShowsNoRace(t)
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux, which shows what a terminal shows, is not installed")
	}
	term := &terminal{t: t, folder: t.TempDir()}
	t.Setenv("TMUX", "")
	t.Setenv("HOME", term.folder)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", term.socket(), "kill-server").Run() }) // which may be over
	term.tmux("-f", "/dev/null", "new-session", "-d", "-s", "keep", "sleep 300")
	args := []string{"new-session", "-d", "-s", "shown", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-c", term.folder}
	for _, e := range env {
		args = append(args, "-e", e)
	}
	term.tmux(append(args, "env PS1='$ ' ENV= sh")...)
	return term
}

func (term *terminal) socket() string { return filepath.Join(term.folder, "tmux") }

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", term.socket()}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (term *terminal) types(keys ...string) {
	term.t.Helper()
	term.tmux(append([]string{"send-keys", "-t", "shown"}, keys...)...)
}

// waitsFor waits until the screen shows a text.
func (term *terminal) waitsFor(text string) string {
	term.t.Helper()
	shown := ""
	for range 300 {
		if shown = term.tmux("capture-pane", "-p", "-t", "shown"); strings.Contains(shown, text) {
			return shown
		}
		time.Sleep(50 * time.Millisecond)
	}
	term.t.Fatalf("the screen never shows %q:\n%s", text, shown)
	return ""
}

// ends types a line that ends with a code, and returns what it prints.
func (term *terminal) ends(code int, line string) string {
	term.t.Helper()
	term.lines++
	end := fmt.Sprintf("line %d ended with ", term.lines)
	term.types("clear; "+line+"; echo "+end+"$?", "Enter")
	return term.waitsFor(end + strconv.Itoa(code))
}

func (term *terminal) read(name string) string {
	term.t.Helper()
	data, err := os.ReadFile(filepath.Join(term.folder, name))
	if err != nil {
		term.t.Fatal(err)
	}
	return string(data)
}

// The browser follows the size of its terminal, Ctrl-C leaves it, and the terminal is what it was.
func TestBrowserAtATerminal(t *testing.T) {
	term := openTerminal(t, 80, 24)
	buildDB(t, filepath.Join(term.folder, "session.db"), storing("nested"))
	term.types("stty -g > before; sessctl browse session.db; echo left with $?; stty -g > after", "Enter")
	term.waitsFor("leak-duplicate")
	term.types("Enter")
	if shown := term.waitsFor("[stored]"); strings.Contains(shown, "AGENTS") {
		t.Errorf("panes stand side by side on 80 columns:\n%s", shown)
	}
	term.tmux("resize-window", "-t", "shown", "-x", "140", "-y", "40")
	if shown := term.waitsFor("AGENTS"); !strings.Contains(shown, "grand") {
		t.Errorf("an agent is missing:\n%s", shown)
	}
	term.types("t", "j", "j", "Enter")
	term.waitsFor("session of grand")
	term.tmux("resize-window", "-t", "shown", "-x", "60", "-y", "12")
	term.waitsFor("? keys  q leave")
	term.types("C-c")
	term.waitsFor("left with 0")
	term.types("echo it is $((20+22))", "Enter")
	term.waitsFor("it is 42")
	if diff := cmp.Diff(term.read("before"), term.read("after")); diff != "" {
		t.Errorf("the terminal (-before +after):\n%s", diff)
	}
}

// What cannot be shown at all is an error as of any other command.
func TestBrowserOfNothing(t *testing.T) {
	term := openTerminal(t, 80, 24)
	if err := os.WriteFile(filepath.Join(term.folder, "notes.txt"), []byte("no store"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, says := range map[string]string{"notes.txt": "is not a session store", "gone.db": "there is no file gone.db"} {
		if shown := term.ends(3, "sessctl browse "+file); !strings.Contains(shown, says) {
			t.Errorf("%s:\n%s", file, shown)
		}
	}
}

func TestBrowserNeedsATerminal(t *testing.T) {
	term := openTerminal(t, 80, 24)
	buildDB(t, filepath.Join(term.folder, "session.db"), storing("leaky"))
	for _, line := range []string{"TERM=dumb sessctl browse session.db", "sessctl browse session.db > out", "sessctl browse session.db < /dev/null"} {
		if shown := term.ends(2, line); strings.Count(shown, "needs a terminal") != 1 {
			t.Errorf("%s:\n%s", line, shown)
		}
	}
}

func TestBrowserHasColourUnlessItIsUnwanted(t *testing.T) {
	colour := regexp.MustCompile(`\x1b\[([0-9;]*;)?3[0-7]m`)
	for env, want := range map[string]bool{"NO_COLOR=1": false, "NO_COLOR=": true} {
		term := openTerminal(t, 80, 24, env)
		buildDB(t, filepath.Join(term.folder, "session.db"), storing("leaky"))
		term.types("sessctl browse session.db", "Enter")
		term.waitsFor("✗")
		term.types("Enter")
		term.waitsFor("[stored]")
		term.types("n")
		term.waitsFor("SC701 leak-duplicate")
		if shown := term.tmux("capture-pane", "-e", "-p", "-t", "shown"); colour.MatchString(shown) != want {
			t.Errorf("%s: colour is %v:\n%q", env, !want, shown)
		}
	}
}

// A terminal that is closed while a repair runs leaves the store as it was or as planned, and no
// process.
func TestBrowserWhoseTerminalIsClosed(t *testing.T) {
	for _, wait := range []time.Duration{0, 5 * time.Millisecond, 30 * time.Millisecond, 200 * time.Millisecond} {
		t.Run(fmt.Sprint(wait), func(t *testing.T) {
			term := openTerminal(t, 80, 24)
			path, other := filepath.Join(term.folder, "session.db"), filepath.Join(t.TempDir(), "session.db")
			for _, p := range []string{path, other} {
				buildDB(t, p, storing("nested"))
			}
			old := dump(t, path)
			if code, _, stderr := run(t, "repair", other, "--yes"); code != 0 {
				t.Fatal(code, stderr)
			}
			term.types("sh -c 'echo $$ > pid; exec sessctl browse session.db'", "Enter")
			term.waitsFor("leak-duplicate")
			term.types("R")
			term.waitsFor("a apply")
			term.types("a", "y", "e", "s", "Enter")
			time.Sleep(wait)
			pid, err := strconv.Atoi(strings.TrimSpace(term.read("pid")))
			if err != nil {
				t.Fatal(err)
			}
			term.tmux("kill-session", "-t", "shown")
			for n := 0; syscall.Kill(pid, 0) == nil; n++ {
				if n == 200 {
					t.Fatal("the process goes on")
				}
				time.Sleep(50 * time.Millisecond)
			}
			if now := dump(t, path); now != old && now != dump(t, other) {
				t.Error("the store is neither what it was nor what was planned")
			}
			if code, _, stderr := run(t, "repair", path, "--yes"); code != 0 {
				t.Errorf("%d: %s", code, stderr)
			}
		})
	}
}

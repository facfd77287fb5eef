package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// pseudoTerminal opens both ends of a new terminal: what a person sees and
// types at, and what the program has.
func pseudoTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	var unlock, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// screen collects what a terminal shows, and types once when the question is
// there.
type screen struct {
	person *os.File
	typed  string

	mu    sync.Mutex
	shown bytes.Buffer
}

func (s *screen) watch(done chan<- struct{}) {
	defer close(done)
	buffer, typed := make([]byte, 4096), false
	for {
		n, err := s.person.Read(buffer)
		s.mu.Lock()
		s.shown.Write(buffer[:n])
		asked := bytes.Contains(s.shown.Bytes(), []byte("[y/N] "))
		s.mu.Unlock()
		if err != nil { // the program's end is closed
			return
		}
		if asked && !typed {
			typed = true
			_, _ = s.person.WriteString(s.typed)
		}
	}
}

// atTerminal runs sessctl at a terminal where somebody types an answer.
func atTerminal(t *testing.T, home, typed string, args ...string) (shown string, code int) {
	t.Helper()
	person, program := pseudoTerminal(t)
	s, done := &screen{person: person, typed: typed}, make(chan struct{})
	go s.watch(done)
	c := exec.Command("sessctl", args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = home, program, program, program
	c.Env = []string{"HOME=" + home, "COLUMNS=80", "NO_COLOR=1"}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	_ = c.Run() // the exit code tells
	_ = program.Close()
	<-done
	return strings.ReplaceAll(s.shown.String(), "\r\n", "\n"), c.ProcessState.ExitCode()
}

func TestRepairAsksAtATerminal(t *testing.T) {
	campaign.ShowsNoRace(t)
	const ctrlC, ctrlD = "\x03", "\x04"
	tests := []struct {
		name, typed string
		code        int
		applied     bool
		says        string
	}{
		{"yes", "y\n", 0, true, "Undo with: sessctl undo "},
		{"no", "n\n", 1, false, "declined; nothing was changed"},
		{"nothing", "\n", 1, false, "declined; nothing was changed"},
		{"the end of the input", ctrlD, 1, false, "declined; nothing was changed"},
		{"an interruption", ctrlC, 130, false, "interrupted; nothing was changed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			buildDB(t, filepath.Join(home, "session.db"), storing("leaky"))
			before := storetest.Snapshot(t, home)
			shown, code := atTerminal(t, home, tt.typed, "repair", "session.db")
			if code != tt.code || !strings.Contains(shown, tt.says) {
				t.Errorf("code %d, want %d:\n%s", code, tt.code, shown)
			}
			if !strings.Contains(shown, `worker: "I read it first." + shell`) || !strings.Contains(shown, "\nBackup: ~/session.db.sessctl-") ||
				!regexp.MustCompile(`\nUndo:   sessctl undo \S+/session\.db\.sessctl-\S+\.receipt\.json\nMake these changes\? \[y/N\] `).MatchString(shown) {
				t.Errorf("what the messages say, where the backup will be or how to go back is missing:\n%s", shown)
			}
			diff := cmp.Diff(before, storetest.Snapshot(t, home))
			if tt.applied == (diff == "") {
				t.Errorf("changed: %v, want %v:\n%s", diff != "", tt.applied, diff)
			}
		})
	}
}

func TestRepairDoesNotAskWithYesOrForMachines(t *testing.T) {
	campaign.ShowsNoRace(t)
	home := t.TempDir()
	buildDB(t, filepath.Join(home, "session.db"), storing("leaky"))
	if shown, code := atTerminal(t, home, "", "repair", "session.db", "--format", "json"); code != 1 || strings.Contains(shown, "[y/N]") {
		t.Errorf("--format json: code %d\n%s", code, shown)
	}
	if shown, code := atTerminal(t, home, "", "repair", "session.db", "--yes"); code != 0 || strings.Contains(shown, "[y/N]") {
		t.Errorf("--yes: code %d\n%s", code, shown)
	}
}

func TestUndoAsksAtATerminal(t *testing.T) {
	campaign.ShowsNoRace(t)
	home := t.TempDir()
	buildDB(t, filepath.Join(home, "session.db"), storing("leaky"))
	if shown, code := atTerminal(t, home, "", "repair", "session.db", "--yes"); code != 0 {
		t.Fatalf("code %d\n%s", code, shown)
	}
	repaired := storetest.Snapshot(t, home)
	shown, code := atTerminal(t, home, "n\n", "undo")
	if code != 1 || !strings.Contains(shown, "~/session.db was repaired at 2") || !strings.Contains(shown, "declined; nothing was changed") {
		t.Errorf("no: code %d\n%s", code, shown)
	}
	if diff := cmp.Diff(repaired, storetest.Snapshot(t, home)); diff != "" {
		t.Errorf("declined, and changed:\n%s", diff)
	}
	shown, code = atTerminal(t, home, "y\n", "undo")
	if code != 0 || !strings.Contains(shown, "Undone: 1 session in ~/session.db is as it was before the repair.") {
		t.Errorf("yes: code %d\n%s", code, shown)
	}
	if shown, code = atTerminal(t, home, "", "undo", "--yes"); code != 3 {
		t.Errorf("once more: code %d\n%s", code, shown)
	}
}

package cmd_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// sizedDisk is a file system of a size, in a folder.
func sizedDisk(t *testing.T, kilobytes int) (folder string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	folder = t.TempDir()
	if err := syscall.Mount("sessctl", folder, "tmpfs", 0, "size="+strconv.Itoa(kilobytes)+"k"); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}

// On a disk that is too small nothing is changed, and nothing is left behind.
func TestRepairOnAFullDisk(t *testing.T) {
	campaign.ShowsNoRace(t)
	_, source := leakyHome(t) // 13 pages
	tests := []struct {
		name      string
		kilobytes int
		says      []string
	}{
		{"no room to begin", 60, []string{"session.db was not changed: the disk is full", "Free some space in "}},
		{"no room for the backup", 120, []string{"the backup ", "cannot be written, so nothing was changed: the disk is full", "--output"}},
		{"no room for the receipt", 140, []string{"the receipt ", "cannot be written: no space left on device. Nothing was changed. Free some space in "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := sizedDisk(t, tt.kilobytes)
			path := filepath.Join(home, "session.db")
			copyStore(t, source, path)
			before := contents(t, home)
			code, _, stderr := sessctl(t, home, "repair", path, "--yes")
			if code != 3 || !says(stderr, tt.says...) {
				t.Errorf("code %d, %s", code, stderr)
			}
			unchanged(t, before, home)
		})
	}
	for _, kilobytes := range []int{40, 80, 112} {
		t.Run("no room for the copy in "+strconv.Itoa(kilobytes), func(t *testing.T) {
			home := sizedDisk(t, kilobytes)
			code, _, stderr := sessctl(t, home, "repair", source, "--output", "copy.db")
			if code != 3 || !says(stderr, "copy.db", "Free some space in ", "or name a file in another folder") || says(stderr, ".sessctl-") {
				t.Errorf("code %d, %s", code, stderr)
			}
			unchanged(t, nil, home)
		})
	}
}

// mountReadOnly makes a file system for reading only of a folder.
func mountReadOnly(t *testing.T, folder string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a folder for reading only")
	}
	for _, flags := range []uintptr{syscall.MS_BIND, syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY} {
		if err := syscall.Mount(folder, folder, "", flags, ""); err != nil {
			t.Skip("nothing can be mounted here: ", err)
		}
		if flags == syscall.MS_BIND {
			t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
		}
	}
}

// A report that cannot be written takes nothing from the run but its exit code.
func TestReportsWhereNothingCanBeWritten(t *testing.T) {
	campaign.ShowsNoRace(t)
	home, path := leakyHome(t)
	mountReadOnly(t, home)
	elsewhere := t.TempDir()
	code, stdout, stderr := sessctl(t, elsewhere, "check", path, "--report", "json="+filepath.Join(home, "lost.json"), "--report", "json=kept.json")
	if code != 3 || !says(stderr, "lost.json could not be written: read-only file system. The findings above are complete.") || !says(stdout, "error SC701") {
		t.Errorf("a report: code %d, %s%s", code, stdout, stderr)
	}
	if got := listing(t, elsewhere); !slices.Equal(got, []string{"kept.json"}) {
		t.Errorf("the other report: %v", got)
	}
	code, _, stderr = sessctl(t, elsewhere, "check", path, "--write-baseline", filepath.Join(home, "known.json"))
	if code != 3 || !says(stderr, "known.json cannot be written: read-only file system. Name a file in a folder that you may write to.") {
		t.Errorf("a baseline: code %d, %s", code, stderr)
	}
}

// Without the right to write, nothing is changed, and --output helps.
func TestRepairOfWhatCannotBeWritten(t *testing.T) {
	campaign.ShowsNoRace(t)
	home, path := leakyHome(t)
	mountReadOnly(t, home)
	before := contents(t, home)
	elsewhere := t.TempDir()
	if code, _, stderr := sessctl(t, elsewhere, "repair", path, "--yes"); code != 3 || !says(stderr, "the file is not writable (read-only file system). Repair a copy: sessctl repair ") {
		t.Errorf("in place: code %d, %s", code, stderr)
	}
	if code, _, stderr := sessctl(t, elsewhere, "repair", path, "--output", filepath.Join(home, "copy.db")); code != 3 || !says(stderr, "copy.db cannot be written: read-only file system. Name a file in a folder that you may write to.") {
		t.Errorf("copy beside it: code %d, %s", code, stderr)
	}
	if code, _, stderr := sessctl(t, elsewhere, "repair", path, "--output", "copy.db"); code != 0 {
		t.Errorf("copy elsewhere: code %d, %s", code, stderr)
	}
	unchanged(t, before, home)
	if got := listing(t, elsewhere); !slices.Equal(got, []string{"copy.db", "copy.db.receipt.json"}) {
		t.Errorf("beside the copy: %v", got)
	}
}

// Who has the database open is named by pid, in either journal mode, doing
// nothing at all; for an undo as well.
func TestAnIdleProcessIsNamed(t *testing.T) {
	campaign.ShowsNoRace(t)
	modes := []struct {
		name       string
		options    []agenttest.Option
		statements []string
	}{
		{"WAL", nil, []string{touch}},
		{"WAL, has only read", nil, []string{"select count(*) from sessions"}},
		{"rollback journal", []agenttest.Option{agenttest.RollbackJournal()}, nil},
		{"rollback journal, reads", []agenttest.Option{agenttest.RollbackJournal()}, []string{"begin", "select count(*) from sessions"}},
	}
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, "session.db")
			buildDB(t, path, storing("leaky"), mode.options...)
			refused := func(args ...string) {
				t.Helper()
				stop := held(t, path, mode.statements...)
				before := contents(t, home)
				code, _, stderr := sessctl(t, home, args...)
				if code != 5 || !says(stderr, "is in use", "holder (pid ", "othing was changed") {
					t.Errorf("%v: code %d, %s", args, code, stderr)
				}
				unchanged(t, before, home)
				stop()
			}
			refused("repair", path, "--yes")
			refused("undo", repaired(t, home, path))
		})
	}
}

// Between the plan and the answer at the prompt, the world goes on.
func TestTheStoreChangesAtThePrompt(t *testing.T) {
	campaign.ShowsNoRace(t)
	const says1 = "update session_items set message_json = replace(message_json, 'Done.', 'done.')"
	tests := []struct {
		name   string
		happen func(t *testing.T, path string)
		says   []string
		left   bool // the change is there
	}{
		{"a process opens it", func(t *testing.T, path string) { held(t, path, "select count(*) from sessions") }, []string{"is in use by holder (pid ", "nothing was changed"}, false},
		{"a session changes", func(t *testing.T, path string) { alter(t, path, says1) }, []string{"changed after the plan was made", "That session was not changed"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, path := leakyHome(t)
			old := dump(t, path)
			shown, code := atPrompt(t, home, func() { tt.happen(t, path) }, "repair", "session.db")
			if code != 5 || !says(shown, tt.says...) {
				t.Errorf("code %d\n%s", code, shown)
			}
			if changed := dump(t, path) != old; changed != tt.left {
				t.Errorf("changed: %v, want %v", changed, tt.left)
			}
			for _, name := range listing(t, home) {
				if strings.Contains(name, "sessctl") {
					t.Errorf("%s was left behind", name)
				}
			}
		})
	}
}

// atPrompt runs sessctl at a terminal where something happens before somebody
// says yes.
func atPrompt(t *testing.T, home string, happen func(), args ...string) (shown string, code int) {
	t.Helper()
	person, program := pseudoTerminal(t)
	c := exec.Command("sessctl", args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = home, program, program, program
	c.Env = []string{"HOME=" + home, "COLUMNS=80", "NO_COLOR=1"}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close() // so that reading ends with the process
	asked := readTo(person, "[y/N] ")
	happen()
	_, _ = person.WriteString("y\n")
	rest, _ := io.ReadAll(person) // the end of a terminal is an error
	_ = c.Wait()                  // the exit code tells
	return strings.ReplaceAll(asked+string(rest), "\r\n", "\n"), c.ProcessState.ExitCode()
}

// readTo reads up to an ending, or to the end.
func readTo(r io.Reader, ending string) string {
	var text strings.Builder
	buffer := make([]byte, 1)
	for !strings.HasSuffix(text.String(), ending) {
		n, err := r.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			break
		}
	}
	return text.String()
}

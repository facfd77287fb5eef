//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// held starts a holder. It ends with the test, or when stop is called.
func held(t *testing.T, path string, statements ...string) (stop func()) {
	t.Helper()
	c := exec.Command("holder", append([]string{path}, statements...)...)
	c.Stderr = os.Stderr
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = input.Close()
		_ = c.Wait()
	}
	t.Cleanup(stop)
	if line, err := bufio.NewReader(output).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the holder says %q (%v)", line, err)
	}
	return stop
}

// touch is a committed change of a database; spill is one that was not, but is
// larger than the cache, so that the file itself has changed.
const touch = "update session_items set agent_name = agent_name where id = 1"

var spill = []string{"pragma cache_size = 2", "begin", "update session_items set message_json = message_json || '    '"}

// states are how a store is found. Each makes it from a closed database.
var states = []struct {
	name     string
	rollback bool // journal mode
	make     func(t *testing.T, path string)
	files    string // that stand there, "" for the database alone
	code     int
}{
	{name: "closed", make: func(*testing.T, string) {}},
	{name: "closed, rollback mode", rollback: true, make: func(*testing.T, string) {}},
	{name: "a -wal and a stale -shm", files: "-shm -wal", make: func(t *testing.T, path string) {
		held(t, path, touch)()
	}},
	{name: "a -wal alone", files: "-wal", make: func(t *testing.T, path string) {
		held(t, path, touch)()
		if err := os.Remove(path + "-shm"); err != nil {
			t.Fatal(err)
		}
	}},
	{name: "a writer that waits", files: "-shm -wal", make: func(t *testing.T, path string) {
		held(t, path, touch)
	}},
	{name: "a writer in a transaction", files: "-shm -wal", make: func(t *testing.T, path string) {
		held(t, path, touch, "begin immediate", "delete from session_items")
	}},
	{name: "a hot rollback journal", rollback: true, files: "-journal", make: func(t *testing.T, path string) {
		held(t, path, spill...)()
	}},
	{name: "BEGIN EXCLUSIVE, WAL mode", files: "-shm -wal", make: func(t *testing.T, path string) {
		held(t, path, touch, "begin exclusive")
	}},
	{name: "BEGIN EXCLUSIVE, rollback mode", rollback: true, code: 5, make: func(t *testing.T, path string) {
		held(t, path, "begin exclusive")
	}},
}

// reading are the commands that only read.
func reading(path string) [][]string {
	return [][]string{
		{"check", path}, {"check", "--deep", "--format", "json", path}, {"ls", path}, {"view", path, "-1"},
		{"view", path, "-1", "--model-input"}, {"export", path}, {"export", path, "--redact"}, {"stores"},
	}
}

// No command leaves a trace: not in the folder of the store, whatever state it
// is in, and not where private copies are made.
func TestReadingChangesNothing(t *testing.T) {
	campaign.ShowsNoRace(t)
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			t.Parallel()
			home, temp := t.TempDir(), t.TempDir()
			path := filepath.Join(home, ".cagent", "session.db") // where `sessctl stores` looks
			buildState(t, path, state.rollback)
			state.make(t, path)
			before := storetest.Snapshot(t, home)
			if got := neighbours(t, path); got != state.files {
				t.Fatalf("beside the database stand %q, want %q", got, state.files)
			}
			var running sync.WaitGroup
			for _, args := range reading(path) {
				want := state.code
				if args[0] == "stores" {
					want = 0 // it shows what is wrong with a store
				}
				running.Go(func() { execute(t, "sessctl", home, temp, nil, want, args) })
			}
			running.Wait()
			if diff := cmp.Diff(before, storetest.Snapshot(t, home)); diff != "" {
				t.Errorf("the folder changed (-before +after):\n%s", diff)
			}
			empty(t, temp)
		})
	}
}

// Another user who may only read sees the same, and changes nothing either.
func TestReadingAsAnotherUser(t *testing.T) {
	campaign.ShowsNoRace(t)
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	base, err := os.MkdirTemp("/tmp", "sessctl-test-") // a test's own folder is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	program, temp := filepath.Join(base, "sessctl"), filepath.Join(base, "temp")
	copyProgram(t, program)
	for _, err := range []error{os.Chmod(base, 0o755), os.Mkdir(temp, 0o700), os.Chown(temp, 65534, 65534)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			home := filepath.Join(base, strings.ReplaceAll(t.Name(), "/", "-"))
			path := filepath.Join(home, "session.db")
			buildState(t, path, state.rollback)
			state.make(t, path)
			for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
				_ = os.Chmod(path+suffix, 0o444) // some do not exist
			}
			if err := os.Chmod(home, 0o555); err != nil {
				t.Fatal(err)
			}
			before := storetest.Snapshot(t, home)
			execute(t, program, home, temp, nobody, state.code, []string{"check", path})
			if diff := cmp.Diff(before, storetest.Snapshot(t, home)); diff != "" {
				t.Errorf("the folder changed (-before +after):\n%s", diff)
			}
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
			_, stderr := execute(t, program, home, temp, nobody, 3, []string{"check", path})
			if !strings.Contains(strings.Join(strings.Fields(stderr), " "), "permission denied. Run sessctl as the user who owns the file.") {
				t.Errorf("got %s", stderr)
			}
			empty(t, temp)
		})
	}
}

// buildState makes a database of some size, with nothing wrong in it.
func buildState(t *testing.T, path string, rollback bool) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	var options []agenttest.Option
	if rollback {
		options = append(options, agenttest.RollbackJournal())
	}
	buildDB(t, path, func(db *agenttest.DB) error {
		for range 40 {
			if _, err := agenttest.WriteFixed(db, delegation(strings.Repeat("a title ", 100))); err != nil {
				return err
			}
		}
		return nil
	}, options...)
}

// neighbours are the endings of the files beside a database.
func neighbours(t *testing.T, path string) string {
	t.Helper()
	files, err := filepath.Glob(path + "-*")
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = strings.TrimPrefix(files[i], path)
	}
	return strings.Join(files, " ")
}

// execute runs the program as a process of its own, which must end with a code.
func execute(t *testing.T, program, home, temp string, as *syscall.SysProcAttr, want int, args []string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	c := exec.Command(program, args...)
	c.Dir, c.Stdout, c.Stderr, c.SysProcAttr = home, &out, &err, as
	c.Env = []string{"HOME=" + home, "TMPDIR=" + temp, "COLUMNS=80"}
	_ = c.Run() // the exit code tells
	if got := c.ProcessState.ExitCode(); got != want {
		t.Errorf("%s: code %d, want %d: %s", strings.Join(args, " "), got, want, err.String())
	}
	if want != 5 && want != 3 && out.Len() == 0 {
		t.Errorf("%s printed nothing", strings.Join(args, " "))
	}
	return out.String(), err.String()
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := exec.LookPath("sessctl")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func empty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		t.Errorf("%v is left (%v)", entries, err)
	}
}

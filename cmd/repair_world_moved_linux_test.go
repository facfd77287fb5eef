package cmd_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// moves are what somebody does with a store while the program works on it. ready is
// another healthy database, twin one with the same content as the store.
var moves = map[string]func(path, ready, twin string) error{
	"another database over it": func(path, ready, _ string) error { return os.Rename(ready, path) },
	"its like over it":         func(path, _, twin string) error { return os.Rename(twin, path) },
	"deleted":                  func(path, _, _ string) error { return os.Remove(path) },
	"moved away":               func(path, _, _ string) error { return os.Rename(path, path+".moved") },
	"swapped": func(path, ready, _ string) error {
		return errors.Join(os.Rename(path, path+".moved"), os.Rename(ready, path))
	},
	"another log": func(path, ready, _ string) error { return os.Rename(ready+"-wal", path+"-wal") },
	"its folder":  func(path, _, _ string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".moved") },
}

// stopped runs the program, holds it some time after a file has appeared, and lets
// something happen before it goes on. happened is false if it had ended before.
func stopped(t *testing.T, home, file string, later time.Duration, happen func(), args ...string) (code int, text string, happened bool) {
	t.Helper()
	var out strings.Builder
	c := exec.Command("sessctl", args...)
	c.Dir, c.Stdout, c.Stderr = home, &out, &out
	c.Env = []string{"HOME=" + home, "COLUMNS=200", "NO_COLOR=1"}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // the exit code tells
		close(ended)
	}()
	for running := true; running; {
		select {
		case <-ended:
			running = false
			continue
		default:
		}
		if found, _ := filepath.Glob(filepath.Join(home, file)); len(found) == 0 && file != "" {
			continue
		}
		time.Sleep(later)
		running = false
		if c.Process.Signal(syscall.SIGSTOP) == nil {
			untilStopped(c.Process.Pid)
			select {
			case <-ended:
			default:
				happen()
				happened = true
			}
			_ = c.Process.Signal(syscall.SIGCONT)
		}
	}
	<-ended
	return c.ProcessState.ExitCode(), out.String(), happened
}

// untilStopped waits until a process that got SIGSTOP stands, or has ended.
func untilStopped(pid int) {
	for {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if _, state, _ := strings.Cut(string(stat), ") "); err != nil || strings.HasPrefix(state, "T") || strings.HasPrefix(state, "Z") {
			return
		}
	}
}

// TestTheStoreIsMovedWhileItIsRepaired holds the program at any moment of a repair or an
// undo, moves files, and compares what it tells in the end with what is there.
func TestTheStoreIsMovedWhileItIsRepaired(t *testing.T) {
	campaign.ShowsNoRace(t)
	source, ready := filepath.Join(t.TempDir(), "session.db"), filepath.Join(t.TempDir(), "ready.db")
	leaky := func(db *agenttest.DB) error {
		for range 40 {
			if _, err := agenttest.WriteLeaky(db, delegation(strings.Repeat("a title ", 100))); err != nil {
				return err
			}
		}
		return nil
	}
	buildDB(t, source, leaky)
	buildDB(t, ready, storing("leaky"))
	old := dump(t, source)
	home := t.TempDir()
	copyStore(t, source, filepath.Join(home, "session.db"))
	done := filepath.Join(home, "session.db")
	repaired(t, home, done)
	whole := dump(t, done)
	copyStore(t, ready, done)
	repaired(t, home, done)
	readyRepaired := dump(t, done)
	var names []string
	for name := range moves {
		names = append(names, name)
	}
	slices.Sort(names)
	files := []string{"", ".sessctl-*", "session.db.sessctl-*", "session.db-wal", "session.db.sessctl-*.receipt.json"}
	random := rand.New(rand.NewPCG(3, 4))
	rounds, happened, untrue := campaign.Rounds(60, 600), 0, 0
	for n := range rounds {
		name, file := names[n%len(names)], files[random.IntN(len(files))]
		later := time.Duration(random.IntN(60)) * time.Millisecond / time.Duration(1+3*random.IntN(2))
		undo := random.IntN(3) == 0
		base := t.TempDir()
		home := filepath.Join(base, "home")
		if err := errors.Join(os.Mkdir(home, 0o700), os.Mkdir(filepath.Join(base, "ready"), 0o700), os.Mkdir(filepath.Join(base, "keep"), 0o700)); err != nil {
			t.Fatal(err)
		}
		path, other, twin, keep := filepath.Join(home, "session.db"), filepath.Join(base, "ready", "other.db"), filepath.Join(base, "ready", "twin.db"), filepath.Join(base, "keep", "session.db")
		copyStore(t, source, path)
		copyStore(t, ready, other)
		writeLog(t, ready, other+"-wal")
		args, before, after := []string{"repair", path, "--yes"}, old, whole
		if undo {
			args, before, after = []string{"undo", repaired(t, home, path)}, whole, old
			if file == "session.db.sessctl-*" || file == "session.db.sessctl-*.receipt.json" {
				file = "session.db-wal"
			}
		}
		copyStore(t, path, twin)
		if err := os.Link(path, keep); err != nil {
			t.Fatal(err)
		}
		over := false // all is done and looked at, and only the last words are missing
		code, text, did := stopped(t, home, file, later, func() {
			for _, receipt := range receipts(t, path) {
				content, _ := os.ReadFile(receipt)
				end := map[bool]string{false: "done", true: "undone"}[undo]
				over = over || strings.Contains(string(content), `"state":"`+end) || strings.Contains(string(content), `"record":"`+end)
			}
			_ = moves[name](path, other, twin)
		}, args...)
		if did && !over {
			happened++
		}
		if over && code == 0 {
			continue
		}
		if wrong := lie(t, path, keep, before, []string{after, readyRepaired}, code, text); wrong != "" {
			untrue++
			t.Errorf("%v, %s %v after %q: %s\n%s", args[0], name, later, file, wrong, text)
		}
	}
	t.Logf("%d rounds, moved in %d of them before the end, %d told truthfully", rounds, happened, rounds-untrue)
}

// lie says in what a program that ended with a code and a text has not told the truth, ""
// if it has. keep is another name of the file that the store was; after is what it says
// when all is done, and what another one says that took its place before anything was.
func lie(t *testing.T, path, keep, before string, after []string, code int, text string) string {
	t.Helper()
	own, here := state(t, keep, ""), state(t, path, path+"-wal")
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		here = "no file"
	}
	switch {
	case code == 0 && !slices.Contains(after, here):
		return "told as done, and what is there is something else"
	case code == 0:
		return ""
	case says(text, "Nothing was changed") || says(text, "nothing was changed"):
		if own != before {
			return "told as unchanged, and changed"
		}
	case says(text, "there is no file"), says(text, "no such file or directory"):
		if here != "nothing" || own != before {
			return "told as not there, and is"
		}
		return ""
	case says(text, "in the file that was there before"):
		if own != after[0] || here == after[0] {
			return "told as done in the old file, and is not"
		}
	case says(text, "before that", "use the wrong log"):
		if state(t, path, "") != after[0] {
			return "told as done, and is not"
		}
	default:
		return "nothing is told of what became of it"
	}
	if code != 5 && !errors.Is(err, fs.ErrNotExist) {
		return "not exit code 5"
	}
	return ""
}

// state is what a database says that is opened with a log, or none.
func state(t *testing.T, path, log string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return "nothing"
	}
	aside := filepath.Join(t.TempDir(), "aside.db")
	copyStore(t, path, aside)
	if _, err := os.Stat(log); err == nil {
		copyStore(t, log, aside+"-wal")
	}
	return dump(t, aside)
}

// writeLog writes the log of another database, with a commit in it.
func writeLog(t *testing.T, model, to string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "logged.db")
	copyStore(t, model, path)
	stop := held(t, path, touch)
	copyStore(t, path+"-wal", to)
	stop()
}

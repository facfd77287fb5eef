//go:build unix

package copilot_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// held locks a file as Copilot CLI does, until the test ends.
func held(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// killed is a session with a call that has no result.
func killed(t *testing.T) (home, file string) {
	t.Helper()
	for seed := uint64(0); ; seed++ {
		home, file = built(t, t.TempDir(), seed, 0.6)
		if found := storetest.Findings(t, home); slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, "warning SC101") }) {
			return home, file
		}
	}
}

// TestWriters: a process that holds the lock lives; a lock that nobody holds was left by one that was killed; of
// 1.0.24 there is only the number of the process.
func TestWriters(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what is known of processes is Linux's")
	}
	home, file := killed(t)
	folder := filepath.Dir(file)
	writer := func() session.Writer {
		_, sessions := storetest.Opened(t, home)
		return sessions[filepath.Base(folder)].Writer
	}
	if w := writer(); w != session.WriterDead {
		t.Errorf("without a note: %s", w)
	}
	note := func(name string) {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	note(fmt.Sprintf("inuse.%d.lock", os.Getpid()))
	if w := writer(); w != session.WriterUnknown {
		t.Errorf("the number of a process that runs: %s", w)
	}
	note(fmt.Sprintf("inuse.%d.hold", os.Getpid()))
	if w := writer(); w != session.WriterDead {
		t.Errorf("a lock that nobody holds: %s", w)
	}
	lock := held(t, filepath.Join(folder, fmt.Sprintf("inuse.%d.hold", os.Getpid())))
	if w := writer(); w != session.WriterLive {
		t.Errorf("a lock that is held: %s", w)
	}
	if found := storetest.Findings(t, home); slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, "SC101") && !strings.HasPrefix(f, "info") }) {
		t.Errorf("the result can still come: %q", found)
	}
	_ = lock.Close()
	if err := os.Remove(filepath.Join(folder, fmt.Sprintf("inuse.%d.hold", os.Getpid()))); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "inuse.1.hold"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w := writer(); w != session.WriterUnknown {
		t.Errorf("a pipe in place of the lock: %s", w)
	}
}

// TestALiveSessionIsRefused: a process that opens the session between the plan and the repair keeps it as it is.
func TestALiveSessionIsRefused(t *testing.T) {
	home, file := killed(t)
	plan, kind, err := repairtest.Plan(home)
	if err != nil || plan.IsEmpty() {
		t.Fatalf("%v, %+v", err, plan)
	}
	before := snapshot(t, filepath.Dir(file))
	held(t, filepath.Join(filepath.Dir(file), "inuse.1.hold"))
	receipt, err := applied(t, home, kind, plan)
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Class != problem.Busy {
		t.Errorf("%+v, %v", receipt, err)
	}
	after := snapshot(t, filepath.Dir(file))
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s changed", name)
		}
	}
}

// applied carries out a plan.
func applied(t *testing.T, home string, kind store.Kind, plan *repair.Plan) (*repair.Receipt, error) {
	t.Helper()
	ed, err := kind.Edit(t.Context(), registry.ToEdit(home))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ed.Close() }()
	apply := repair.Apply{Backup: home + ".backup", Receipt: home + ".receipt.json"}
	return apply.Run(t.Context(), ed, plan)
}

// script names the file that a test of this package appends to where it is the process that writes.
const script = "SESSCTL_TEST_SCRIPT"

// TestTheWriter is no test but the process that another one starts: it appends a line at a time, each in two pieces.
func TestTheWriter(t *testing.T) {
	if os.Getenv(script) == "" {
		t.Skip("another test starts it")
	}
	text, err := os.ReadFile(os.Getenv(script) + ".more")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitAfterSeq(string(text), "\n") {
		for _, piece := range []string{line[:len(line)/2], line[len(line)/2:]} {
			f, err := os.OpenFile(os.Getenv(script), os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = f.WriteString(piece)
			}
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
}

// TestAWriterThatAppends: checks and repairs beside a process that appends, and has no lock, change nothing of what it
// writes: every line is there in the end, but for those that a repair took out.
func TestAWriterThatAppends(t *testing.T) {
	campaign.ShowsNoRace(t)
	for seed := range uint64(campaign.Rounds(10, 60)) {
		home, file := built(t, t.TempDir(), seed, 1)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
		half := len(lines) / 2
		more := strings.Join(lines[half:], "") + "\n"
		if err := errors.Join(os.WriteFile(file, []byte(strings.Join(lines[:half], "")), 0o600), os.WriteFile(file+".more", []byte(more), 0o600)); err != nil {
			t.Fatal(err)
		}
		process := exec.Command(os.Args[0], "-test.run=^TestTheWriter$")
		process.Env = append(os.Environ(), script+"="+file)
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- process.Wait() }()
		for running := true; running; {
			select {
			case err := <-ended:
				if running = false; err != nil {
					t.Fatal(err)
				}
			default:
				o, err := registry.Open(t.Context(), home, "", nil, store.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, err := range o.Trees(t.Context()) {
					if err != nil {
						t.Error(err)
					}
				}
				_ = o.Close()
				if _, _, err := repairtest.RepairInUse(home); err != nil && problem.ClassOf(err) != problem.Busy {
					t.Errorf("seed %d: %v", seed, err)
				}
				_, _ = os.RemoveAll(home+".backup"), os.Remove(home+".receipt.json")
			}
		}
		after, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			var l struct{ ID, Type string }
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(after), l.ID) {
				t.Errorf("seed %d: a line of the type %s is lost", seed, l.Type)
			}
		}
	}
}

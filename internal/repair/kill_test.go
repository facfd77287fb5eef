//go:build unix

package repair_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// The variables that make this test binary a process to be killed.
const (
	doVariable   = "SESSCTL_TEST_DO"      // repair or undo
	killVariable = "SESSCTL_TEST_KILL_AT" // the number of the step at which it kills itself, 0 for never
	waitVariable = "SESSCTL_TEST_WAIT"    // set: each step waits for a byte on standard input
)

func TestMain(m *testing.M) {
	if do := os.Getenv(doVariable); do != "" {
		os.Exit(act(do, os.Args[1]))
	}
	os.Exit(m.Run())
}

// act repairs a store or takes that back, and prints the steps on its way. It keeps to one
// thread, for which the system's calls can be counted.
func act(do, path string) int {
	runtime.LockOSThread()
	at, _ := strconv.Atoi(os.Getenv(killVariable))
	n := 0
	atStep := func(step string) {
		fmt.Println(step)
		if os.Getenv(waitVariable) != "" {
			_, _ = os.Stdin.Read(make([]byte, 1))
		}
		if n++; n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	repair.AtStep(atStep)
	filelog.AtStep = atStep
	var err error
	if do == "undo" {
		_, err = repairtest.Undo(path, path+".receipt.json")
	} else {
		_, _, err = repairtest.Repair(path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err, next(err))
		return 1
	}
	return 0
}

// next is what an error says to do.
func next(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Next
	}
	return ""
}

// process is this test binary, which does something to a store. It returns the
// steps that it reported.
func process(t *testing.T, do, path string, killAt int) (steps []string, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), doVariable+"="+do, killVariable+"="+strconv.Itoa(killAt))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		status, ok := err.(*exec.ExitError)
		killed = ok && status.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		if !killed {
			t.Fatalf("%s: %v: %s", do, err, stderr.String())
		}
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), killed
}

// images does something to a store in a process, and keeps what is in the folder of the
// store before each step: what a process leaves that is killed there.
func images(t *testing.T, do, path string) (steps, folders []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), doVariable+"="+do, waitVariable+"=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		folder := filepath.Join(t.TempDir(), "image")
		if err := os.CopyFS(folder, os.DirFS(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		steps, folders = append(steps, lines.Text()), append(folders, folder)
		if _, err := in.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v: %s", do, err, stderr.String())
	}
	return steps, folders
}

// TestKilledAtEveryStep takes what a repair, and then an undo, leaves on the disk when it is
// killed before each of their steps: the store is the old or the new one, and can be brought
// back. Some of the steps are killed indeed, in the long form all.
func TestKilledAtEveryStep(t *testing.T) {
	for name, s := range killables() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store", "session.db")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			s.make(t, path)
			before := s.dump(t, path)
			steps, repairing := images(t, "repair", path)
			after := s.dump(t, path)
			if len(steps) < 8 || before == after {
				t.Fatalf("the steps are %q", steps)
			}
			undo, undoing := images(t, "undo", path)
			if d := cmp.Diff(before, s.dump(t, path)); d != "" {
				t.Fatalf("after the undo, want (-), got (+):\n%s", d)
			}
			put := func(folder string) {
				if err := errors.Join(os.RemoveAll(filepath.Dir(path)), os.Rename(folder, filepath.Dir(path))); err != nil {
					t.Fatal(err)
				}
			}
			for n, step := range steps {
				put(repairing[n])
				s.cleanAfterKill(t, path, "repair, "+step, before, after)
			}
			for n, step := range undo {
				put(undoing[n])
				notesTheUndo(t, path, step)
				s.cleanAfterKill(t, path, "undo, "+step, before, after)
			}
			every := campaign.Stride(3, 1)
			for n := every / 2; n < len(steps); n += every {
				path := filepath.Join(t.TempDir(), "session.db")
				s.make(t, path)
				if _, killed := process(t, "repair", path, n+1); !killed {
					t.Fatalf("not killed at %s", steps[n])
				}
				s.cleanAfterKill(t, path, "repair, "+steps[n], before, after)
			}
			for n := every / 2; n < len(undo); n += every {
				path := filepath.Join(t.TempDir(), "session.db")
				s.make(t, path)
				process(t, "repair", path, 0)
				if _, killed := process(t, "undo", path, n+1); !killed {
					t.Fatalf("not killed at %s of the undo", undo[n])
				}
				notesTheUndo(t, path, undo[n])
				s.cleanAfterKill(t, path, "undo, "+undo[n], before, after)
			}
		})
	}
}

// notesTheUndo makes sure that the receipt says what became of an undo that was
// killed: that it may be done from its commit on, and that it is at the next use.
func notesTheUndo(t *testing.T, path, step string) {
	t.Helper()
	state := func() string {
		r, err := repair.ReadReceipt(path + ".receipt.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return r.State
	}
	want := repair.Done
	if strings.HasPrefix(step, "commit") || step == "close" {
		want = repair.Undoing
	}
	if got := state(); got != want {
		t.Errorf("killed at %s of the undo, the receipt is %s, want %s", step, got, want)
	}
	if step != "committed" && step != "close" {
		return
	}
	if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n != 0 || state() != repair.Undone {
		t.Errorf("killed at %s of the undo, the next one: %d sessions, %v, the receipt is %s", step, n, err, state())
	}
}

// TestKilledWhileTheReceiptIsWritten cuts the last record of a receipt off at every
// place: whether its batch was committed or not, an undo leads to the old state or
// is refused, and it is never refused where the batch was not committed.
func TestKilledWhileTheReceiptIsWritten(t *testing.T) {
	defer repair.SmallBatches()()
	path := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, path)
	before := agentDump(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	var written []byte
	commits := 0
	repair.AtStep(func(step string) {
		if step == "commit" {
			if commits++; commits == 3 {
				written, _ = os.ReadFile(path + ".receipt.json")
				cancel()
			}
		}
	})
	defer repair.AtStep(func(string) {})
	plan, kind, err := repairtest.Plan(path)
	if err != nil {
		t.Fatal(err)
	}
	ed, err := kind.Edit(ctx, registry.ToEdit(path))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := (repair.Apply{Receipt: path + ".receipt.json", Prologue: kind.Prologue}).Run(ctx, ed, plan); err == nil || len(r.Batches) != 2 {
		t.Fatalf("receipt %+v, error %v", r, err)
	}
	if err := ed.Close(); err != nil {
		t.Fatal(err)
	}
	repair.AtStep(func(string) {})
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	committed := written[:bytes.LastIndexByte(written[:len(written)-1], '\n')+1] // two batches
	undo := func(receipt []byte) (int, error) {
		for name, data := range map[string][]byte{path: stored, path + ".receipt.json": receipt} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return repairtest.Undo(path, path+".receipt.json")
	}
	step := max(1, (len(written)-len(committed))/campaign.Rounds(30, 300))
	for size := len(committed); size <= len(written); size += step {
		if n, err := undo(written[:size]); err != nil || n == 0 || agentDump(t, path) != before {
			t.Fatalf("cut off at %d of %d: undo of %d sessions: %v", size-len(committed), len(written)-len(committed), n, err)
		}
	}
	after := ""
	header := bytes.IndexByte(written, '\n') + 1
	for size := header; size < len(committed); size += step { // something else cut it off
		n, err := undo(written[:size])
		if after == "" {
			after = agentDump(t, path)
		}
		if problem.ClassOf(err) != problem.Busy || n != 0 || agentDump(t, path) != after || !strings.Contains(err.Error(), "its end is missing") {
			t.Fatalf("cut off at %d of %d: undo of %d sessions: %v", size, len(written), n, err)
		}
	}
}

// cleanAfterKill holds the store against both states, and takes a new one back.
func (s killable) cleanAfterKill(t *testing.T, path, when, before, after string) {
	t.Helper()
	now := s.dump(t, path)
	switch now {
	case before:
	case after:
		if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n == 0 {
			t.Fatalf("killed at %s: undo of %d sessions: %v", when, n, err)
		}
		if d := cmp.Diff(before, s.dump(t, path)); d != "" {
			t.Fatalf("killed at %s: after the undo, want (-), got (+):\n%s", when, d)
		}
		return
	default:
		if s.files { // each of them is the old or the new one
			if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n == 0 {
				t.Fatalf("killed at %s: undo of %d sessions: %v", when, n, err)
			}
			now = s.dump(t, path)
		}
		if now == before {
			break
		}
		t.Fatalf("killed at %s: the store is neither old nor new:\n%s", when, cmp.Diff(before, now))
	}
	if receipt, err := os.Stat(path + ".receipt.json"); err == nil && receipt.Size() == 0 { // it could not be removed
		if _, err := repairtest.Undo(path, path+".receipt.json"); err == nil || !strings.Contains(err.Error(), "before it changed anything") {
			t.Fatalf("killed at %s: undo of a receipt that was not written: %v", when, err)
		}
	} else if err == nil {
		if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n != 0 {
			t.Fatalf("killed at %s: undo of what was never committed: %d sessions, %v", when, n, err)
		}
	}
	removeLeftovers(path)
	if _, _, err := repairtest.Repair(path); err != nil {
		t.Fatalf("killed at %s: the next repair fails: %v", when, err)
	}
	if d := cmp.Diff(after, s.dump(t, path)); d != "" {
		t.Fatalf("killed at %s: after the next repair, want (-), got (+):\n%s", when, d)
	}
}

// removeLeftovers removes what a killed repair leaves beside the store.
func removeLeftovers(path string) {
	_ = os.RemoveAll(path + ".backup")
	_ = os.Remove(path + ".receipt.json")
}

// TestKilledAtAnyMoment kills repairs after random times.
func TestKilledAtAnyMoment(t *testing.T) {
	rounds := campaign.Rounds(12, 400)
	model := filepath.Join(t.TempDir(), "model.db")
	leakyStore(t, model)
	before := agentDump(t, model)
	start := time.Now()
	process(t, "repair", model, 0)
	whole := time.Since(start)
	after := agentDump(t, model)
	for n := range rounds {
		path := filepath.Join(t.TempDir(), "session.db")
		leakyStore(t, path)
		cmd := exec.Command(os.Args[0], path)
		cmd.Env = append(os.Environ(), doVariable+"=repair")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait := whole * time.Duration(n+1) / time.Duration(rounds)
		time.Sleep(wait)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		killable{dump: agentDump}.cleanAfterKill(t, path, wait.String(), before, after)
	}
}

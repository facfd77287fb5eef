package repair_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// atSteps calls fn at the nth step of a name.
func atSteps(t *testing.T, name string, nth int, fn func()) {
	t.Helper()
	repair.AtStep(func(step string) {
		if step == name {
			if nth--; nth == 0 {
				fn()
			}
		}
	})
	t.Cleanup(func() { repair.AtStep(func(string) {}) })
}

// In a folder that others may write, somebody puts another file in the place of the
// receipt while the repair runs, or before it. Nothing is written into that, and
// what has no receipt is not committed.
func TestAReceiptInAFolderOfOthers(t *testing.T) {
	link := func(t *testing.T, path, target string) {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	file := func(t *testing.T, path, _ string) {
		if err := os.WriteFile(path+".new", []byte("theirs"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(t *testing.T, path, _ string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	longer := func(t *testing.T, path, _ string) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString("more")
		_ = f.Close()
	}
	folder := func(t *testing.T, path, _ string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, step string
		do         func(t *testing.T, path, target string)
		class      problem.Class
	}{
		{"a link before it has its name", "name the receipt", link, problem.Usage},
		{"a link before it is written", "write the receipt", link, problem.Usage},
		{"a link before the commit", "commit", link, problem.Busy},
		{"another file before the commit", "commit", file, problem.Busy},
		{"a folder before the commit", "commit", folder, problem.Busy},
		{"it is gone before the commit", "commit", gone, problem.Busy},
		{"it is longer before the commit", "commit", longer, problem.Busy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			target := filepath.Join(t.TempDir(), "precious")
			if err := os.WriteFile(target, []byte("precious"), 0o644); err != nil {
				t.Fatal(err)
			}
			leakyStore(t, path)
			before := agentDump(t, path)
			receipt := path + ".receipt.json"
			atSteps(t, tt.step, 1, func() { tt.do(t, receipt, target) })
			_, r, err := repairtest.Repair(path)
			if problem.ClassOf(err) != tt.class || r != nil || !strings.Contains(err.Error(), receipt) {
				t.Errorf("receipt %v, error %v", r, err)
			}
			if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
				t.Errorf("something was changed: before (-), now (+):\n%s", diff)
			}
			info, err := os.Stat(target)
			if data, _ := os.ReadFile(target); err != nil || string(data) != "precious" || info.Mode().Perm() != 0o644 {
				t.Errorf("the target holds %q, %v (%v)", data, info, err)
			}
			if left, _ := filepath.Glob(filepath.Dir(path) + "/.sessctl*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A later batch that loses the receipt is not committed; what was before stays, and
// the message leads to the backup.
func TestAReceiptThatGoesBetweenBatches(t *testing.T) {
	defer repair.SmallBatches()()
	path := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, path)
	atSteps(t, "commit", 2, func() { _ = os.Remove(path + ".receipt.json") })
	_, r, err := repairtest.Repair(path)
	if problem.ClassOf(err) != problem.Busy || r == nil || len(r.Batches) != 1 {
		t.Errorf("receipt %+v, error %v", r, err)
	}
}

// An undo notes nothing in a file that is not the receipt that it read.
func TestAReceiptThatIsReplacedDuringAnUndo(t *testing.T) {
	for _, step := range []string{"note the undo", "commit"} {
		t.Run(step, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			leakyStore(t, path)
			if _, _, err := repairtest.Repair(path); err != nil {
				t.Fatal(err)
			}
			after, target := agentDump(t, path), path+".target"
			if err := os.WriteFile(target, []byte("precious"), 0o644); err != nil {
				t.Fatal(err)
			}
			receipt := path + ".receipt.json"
			atSteps(t, step, 1, func() {
				_ = os.Remove(receipt)
				_ = os.Symlink(target, receipt)
			})
			if n, err := repairtest.Undo(path, receipt); err == nil || n != 0 {
				t.Errorf("undo of %d sessions", n)
			}
			if data, _ := os.ReadFile(target); string(data) != "precious" || agentDump(t, path) != after {
				t.Errorf("the target holds %q, or the store changed", data)
			}
		})
	}
}

// What root writes about another user's store is that user's, and only that user's;
// what a third one wrote is not carried out.
func TestWhoseAReceiptIs(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	path := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, path)
	if err := os.Chown(path, 12345, 12346); err != nil {
		t.Fatal(err)
	}
	_, r, err := repairtest.Repair(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(r.Path())
	if err != nil {
		t.Fatal(err)
	}
	if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 12345 || stat.Gid != 12346 || info.Mode() != 0o600 {
		t.Errorf("the receipt is of %d:%d, %v", stat.Uid, stat.Gid, info.Mode())
	}
	if err := os.Chown(r.Path(), 54321, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := repairtest.Undo(path, r.Path()); problem.ClassOf(err) != problem.Busy || !strings.Contains(err.Error(), "belongs to another user (id 54321)") {
		t.Errorf("got %v", err)
	}
	if err := os.Chown(r.Path(), 12345, 0); err != nil {
		t.Fatal(err)
	}
	if n, err := repairtest.Undo(path, r.Path()); err != nil || n == 0 {
		t.Errorf("undo of %d sessions: %v", n, err)
	}
}

// The room for the last note may be missing. Then the message does not deny what
// was done, and the undo works.
func TestTheLastNoteFindsNoRoom(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	const page = 4096
	folder := t.TempDir()
	if err := syscall.Mount("sessctl", folder, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	path, filler := filepath.Join(folder, "session.db"), filepath.Join(folder, "filler")
	leakyStore(t, path, agenttest.RollbackJournal()) // a -wal would make room when it goes
	before := agentDump(t, path)
	var size int64
	filling := false
	repair.AtStep(func(step string) {
		if info, err := os.Stat(path + ".receipt.json"); step == "commit" && err == nil && size == 0 {
			size = info.Size()
		}
		if step == "committed" && filling {
			_ = os.WriteFile(filler, make([]byte, 8<<20), 0o600) // until the disk is full
		}
	})
	t.Cleanup(func() { repair.AtStep(func(string) {}) })
	named := func(tool string) (*repair.Receipt, error) {
		plan, kind, err := repairtest.Plan(path)
		if err != nil {
			t.Fatal(err)
		}
		ed, err := kind.Edit(t.Context(), registry.ToEdit(path))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = ed.Close() }()
		return repair.Apply{Receipt: path + ".receipt.json", Prologue: kind.Prologue, Tool: tool}.Run(t.Context(), ed, plan)
	}
	if _, err := named("x"); err != nil {
		t.Fatal(err)
	}
	if _, err := repairtest.Undo(path, path+".receipt.json"); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(path + ".receipt.json")
	filling = true
	r, err := named(strings.Repeat("x", 1+int(page-size%page)))
	if problem.ClassOf(err) != problem.Unreadable || r == nil || r.State != repair.Done ||
		!strings.Contains(err.Error(), "is done and verified; only the receipt ") {
		t.Fatalf("receipt %+v, error %v", r, err)
	}
	_ = os.Remove(filler)
	filling = false
	if n, err := repairtest.Undo(path, r.Path()); err != nil || n == 0 {
		t.Fatalf("undo of %d sessions: %v", n, err)
	}
	if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
		t.Errorf("before (-), after the undo (+):\n%s", diff)
	}
}

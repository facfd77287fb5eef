package repair_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
)

// smallDisk mounts a file system in memory, which resize gives another size in bytes.
func smallDisk(t *testing.T) (folder string, resize func(size int64)) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	mount := func(options string) error {
		return exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder).Run()
	}
	if err := mount("size=64m"); err != nil {
		if os.Getenv("SESSCTL_MUST_MOUNT") != "" {
			t.Fatalf("a file system cannot be mounted: %v", err)
		}
		t.Skipf("to mount a file system takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", folder).Run(); err != nil {
			t.Error(err)
		}
	})
	return folder, func(size int64) {
		if err := mount(fmt.Sprintf("remount,size=%d", size)); err != nil {
			t.Fatal(err)
		}
	}
}

// copyStore copies a store with the files beside it, and counts the bytes that they take.
func copyStore(t *testing.T, from, to string) (taken int64) {
	t.Helper()
	const block = 4096
	names, err := filepath.Glob(from + "*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			place := to + strings.TrimPrefix(path, from)
			if e.IsDir() {
				return os.Mkdir(place, 0o700)
			}
			text, err := os.ReadFile(path)
			taken += (int64(len(text)) + block - 1) / block * block
			return errors.Join(err, os.WriteFile(place, text, 0o600))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return taken
}

// TestFullDisk repairs, and takes a repair back, on a disk with more and more room: the store
// is the old or the new one, or what the receipt leads back from; and what is said of it is so.
func TestFullDisk(t *testing.T) {
	for name, s := range killables() {
		t.Run(name, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), "model.db")
			s.make(t, model)
			if s.files {
				claudeSessions(t, model, map[uint64]int{4: 3, 5: 3, 6: 2, 7: 3})
				padTranscripts(t, model)
			}
			before := s.dump(t, model)
			repaired := filepath.Join(t.TempDir(), "model.db")
			copyStore(t, model, repaired)
			if _, _, err := repairtest.Repair(repaired); err != nil {
				t.Fatal(err)
			}
			after := s.dump(t, repaired)
			failed, rounds := 0, int64(campaign.Rounds(8, 150))
			step := (copyStore(t, model, filepath.Join(t.TempDir(), "copy"))*2/rounds/4096 + 1) * 4096
			for room, done := int64(0), 0; done < 2; room += step {
				when := fmt.Sprintf("with room for %d bytes", room)
				folder, resize := smallDisk(t)
				path := filepath.Join(folder, "session.db")
				resize(copyStore(t, model, path) + room)
				_, receipt, err := repairtest.Repair(path)
				if resize(64 << 20); err == nil && receipt != nil {
					done++
					s.undoneOnAFullDisk(t, path, room/3, resize, before, after)
					continue
				}
				failed++
				if now := s.dump(t, path); err == nil || now != before && (strings.Contains(err.Error(), "not changed") || strings.Contains(next(err), "othing was changed")) {
					t.Errorf("%s: %v", when, err)
				}
				s.cleanAfterKill(t, path, when, before, after)
				if room > 16<<20 {
					t.Fatalf("%s: %v", when, err)
				}
			}
			if failed == 0 {
				t.Error("there was always room")
			}
		})
	}
}

// TestFailedWrites lets one after another of the changes of files fail, alone or with all
// behind it, in a repair and in an undo.
func TestFailedWrites(t *testing.T) {
	defer func(fault func(op, path string) error) { atomicfile.Fault = fault }(atomicfile.Fault)
	reasons := []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO}
	for _, name := range []string{"claude code", "wal"} {
		s := killables()[name]
		t.Run(name, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), "model.db")
			s.make(t, model)
			before := s.dump(t, model)
			count := func() *int {
				n := 0
				atomicfile.Fault = func(string, string) error { n++; return nil }
				return &n
			}
			path := filepath.Join(t.TempDir(), "model.db")
			copyStore(t, model, path)
			repairs := count()
			if _, _, err := repairtest.Repair(path); err != nil {
				t.Fatal(err)
			}
			after, undos := s.dump(t, path), count()
			if _, err := repairtest.Undo(path, path+".receipt.json"); err != nil || *undos == 0 {
				t.Fatal(*undos, err)
			}
			for n := 1; n <= *repairs+*undos; n += campaign.Stride(3, 1) {
				for _, rest := range []bool{false, true} {
					when := fmt.Sprintf("change %d of %d and %d, all behind it %t", n, *repairs, *undos, rest)
					path := filepath.Join(t.TempDir(), "session.db")
					copyStore(t, model, path)
					at := 0
					atomicfile.Fault = func(string, string) error {
						if at++; at == n || rest && at > n {
							return reasons[n%len(reasons)]
						}
						return nil
					}
					_, receipt, err := repairtest.Repair(path)
					if n > *repairs {
						_, err = repairtest.Undo(path, path+".receipt.json")
					}
					atomicfile.Fault = func(string, string) error { return nil }
					now := s.dump(t, path)
					if said := fmt.Sprintf("%v %s", err, next(err)); n <= *repairs && now != before && err != nil && receipt == nil && (strings.Contains(said, "not changed") || strings.Contains(said, "othing was changed")) {
						t.Errorf("%s: it changed: %s", when, said)
					}
					if now == after || n <= *repairs || now == before {
						s.cleanAfterKill(t, path, when, before, after)
					} else if _, err := repairtest.Undo(path, path+".receipt.json"); err != nil || s.dump(t, path) != before {
						t.Errorf("%s: the next undo: %v", when, err)
					}
				}
			}
		})
	}
}

// padTranscripts makes transcripts longer than a block, each longer than those before it: a
// change finds room for the first ones only.
func padTranscripts(t *testing.T, folder string) {
	t.Helper()
	length := 0
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		text, err := os.ReadFile(path)
		length += 15_000
		padded := strings.Replace(string(text), "{", `{"padding":"`+strings.Repeat("x", length)+`",`, 1)
		return errors.Join(err, os.WriteFile(path, []byte(padded), 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// undoneOnAFullDisk takes a repair back with little room, and then with enough.
func (s killable) undoneOnAFullDisk(t *testing.T, path string, room int64, resize func(int64), before, after string) {
	t.Helper()
	var used int64
	err := filepath.WalkDir(filepath.Dir(path), func(_ string, e os.DirEntry, err error) error {
		if info, statErr := e.Info(); err == nil && statErr == nil && !e.IsDir() {
			used += (info.Size() + 4095) / 4096 * 4096
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	resize(used + room/4096*4096)
	_, err = repairtest.Undo(path, path+".receipt.json")
	resize(64 << 20)
	switch now := s.dump(t, path); {
	case err == nil && now == before:
		return
	case err == nil:
		t.Errorf("an undo with room for %d bytes was no undo", room)
	case now != before && now != after && !s.files:
		t.Errorf("an undo with room for %d bytes left neither state: %v", room, err)
	}
	if _, err := repairtest.Undo(path, path+".receipt.json"); err != nil {
		t.Errorf("the undo after one with room for %d bytes: %v", room, err)
	} else if now := s.dump(t, path); now != before {
		t.Errorf("the undo after one with room for %d bytes was none", room)
	}
}

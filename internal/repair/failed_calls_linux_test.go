package repair_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
)

// TestFailedCalls lets one after another of the calls by which a process changes files fail,
// SQLite's own among them, in a repair and in an undo: alone, or with all behind it.
func TestFailedCalls(t *testing.T) {
	campaign.ShowsNoRace(t)
	if err := exec.Command("strace", "-o", os.DevNull, "true").Run(); err != nil {
		if os.Getenv("SESSCTL_MUST_TRACE") != "" {
			t.Fatal(err)
		}
		t.Skipf("to let calls fail takes strace: %v", err)
	}
	for name, s := range killables() {
		if name != "wal" && name != "rollback journal" && !campaign.Long() {
			continue // the others are files of SQLite as well, or pass TestFailedWrites
		}
		t.Run(name, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), "model.db")
			s.make(t, model)
			before := s.dump(t, model)
			repaired := filepath.Join(t.TempDir(), "session.db")
			copyStore(t, model, repaired)
			process(t, "repair", repaired, 0)
			after := s.dump(t, repaired)
			failed := 0
			for _, do := range []string{"repair", "undo"} {
				if !campaign.Long() && (do == "repair") != (name == "wal") {
					continue
				}
				for _, calls := range []string{"pwrite64", "fsync,fdatasync", "ftruncate,fallocate", "unlink,unlinkat,rename,renameat,link,linkat"} {
					for n := 1; ; n += campaign.Stride(11, 1) {
						path := filepath.Join(t.TempDir(), "session.db")
						copyStore(t, map[string]string{"repair": model, "undo": repaired}[do], path)
						inject := fmt.Sprintf("%s:error=%s:when=%d%s", calls, []string{"ENOSPC", "EDQUOT", "EIO"}[n%3], n, []string{"", "+"}[n/3%2])
						said, injected := failing(t, do, path, inject)
						if !injected {
							break
						}
						failed++
						when := do + " with " + inject
						now := s.dump(t, path)
						if was := map[string]string{"repair": before, "undo": after}[do]; now != was && (strings.Contains(said, "not changed") || strings.Contains(said, "othing was changed")) {
							t.Errorf("%s: it changed: %s", when, said)
						}
						if !t.Failed() {
							s.cleanAfterKill(t, path, when, before, after)
						}
					}
				}
			}
			least := 4 // of one command
			if campaign.Long() {
				least = 8
			}
			if t.Logf("%d calls failed", failed); failed < least {
				t.Errorf("only %d calls failed", failed)
			}
		})
	}
}

// failing is a process whose calls fail as strace's -e inject says it. It returns what the
// process said of its own failure, and whether any call failed.
func failing(t *testing.T, do, path, inject string) (said string, injected bool) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace="+inject[:strings.Index(inject, ":")], "-e", "inject="+inject, os.Args[0], path)
	cmd.Env = append(os.Environ(), doVariable+"="+do)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	calls, failure := os.ReadFile(log)
	if failure != nil || err != nil && !strings.Contains(err.Error(), "exit status 1") {
		t.Fatalf("%v, %v: %s", err, failure, stderr.String())
	}
	return stderr.String(), bytes.Contains(calls, []byte("(INJECTED)"))
}

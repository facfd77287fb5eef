//go:build unix

package cmd_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// A repair that is killed leaves the old state, or the new one with a receipt
// that takes it back, and its leavings stop neither the undo nor the next
// repair. It is killed when a file appears, and somewhat later; what is tested
// holds wherever that falls.
func TestAKilledRepairLeavesTheOldStateOrTheNewOne(t *testing.T) {
	campaign.ShowsNoRace(t)
	source := filepath.Join(t.TempDir(), "session.db")
	buildDB(t, source, func(db *agenttest.DB) error {
		for range 60 {
			if _, err := agenttest.WriteLeaky(db, delegation(strings.Repeat("a title ", 100))); err != nil {
				return err
			}
		}
		return nil
	})
	fresh := func() (home, path string) {
		home = t.TempDir()
		path = filepath.Join(home, "session.db")
		copyStore(t, source, path)
		return home, path
	}
	old := dump(t, source)
	home, path := fresh()
	repaired(t, home, path)
	whole := dump(t, path)

	for _, file := range []string{".sessctl-*", "session.db.sessctl-*", "session.db-wal", "session.db.sessctl-*.receipt.json"} {
		for _, later := range []time.Duration{0, 2 * time.Millisecond, 20 * time.Millisecond} {
			t.Run(file+" "+later.String(), func(t *testing.T) {
				home, path := fresh()
				killed(t, home, file, later, "repair", path, "--yes")
				switch state := dump(t, path); {
				case state == old:
				case state != whole || len(receipts(t, path)) != 1:
					t.Fatalf("neither the old state nor the new one with a receipt; there are %v", listing(t, home))
				}
				for _, receipt := range receipts(t, path) {
					if code, _, stderr := run(t, "undo", receipt); code != 0 {
						t.Errorf("undo: code %d, %s", code, stderr)
					}
				}
				if dump(t, path) != old {
					t.Error("the undo does not give the old state")
				}
				if code, _, stderr := run(t, "repair", path, "--yes"); code != 0 {
					t.Errorf("the next repair: code %d, %s", code, stderr)
				}
				if dump(t, path) != whole {
					t.Error("the next repair does not give the new state")
				}
				for _, name := range listing(t, home) {
					if strings.HasPrefix(name, ".sessctl-") {
						t.Errorf("%s, with a copy of the store, is left after the next repair", name)
					}
				}
			})
		}
	}
}

// killed runs the program and kills it some time after a file has appeared.
func killed(t *testing.T, home, file string, later time.Duration, args ...string) {
	t.Helper()
	c := exec.Command("sessctl", args...)
	c.Dir, c.Env = home, []string{"HOME=" + home}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // the store tells
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return
		default:
		}
		if found, _ := filepath.Glob(filepath.Join(home, file)); len(found) > 0 {
			time.Sleep(later)
			_ = c.Process.Kill() // it may have ended before
			<-ended
			return
		}
	}
}

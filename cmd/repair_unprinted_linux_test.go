package cmd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
)

// sessctlIntoFull runs the program with its output going to a device that is full.
func sessctlIntoFull(t *testing.T, home string, args ...string) (code int, stderr string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = full.Close() }()
	var errors bytes.Buffer
	c := exec.Command("sessctl", args...)
	c.Dir, c.Stdout, c.Stderr = home, full, &errors
	c.Env = []string{"HOME=" + home, "COLUMNS=80", "NO_COLOR=1"}
	_ = c.Run() // the exit code tells
	return c.ProcessState.ExitCode(), errors.String()
}

// A repair or an undo that is done says so, and how to go back, also where its output
// cannot be written; one whose plan cannot be shown changes nothing.
func TestWhatIsDoneIsSaidWhereTheOutputIsFull(t *testing.T) {
	campaign.ShowsNoRace(t)
	home, path := leakyHome(t)
	before := dump(t, path)
	code, stderr := sessctlIntoFull(t, home, "repair", path, "--yes")
	if code != 3 || !says(stderr, "nothing was changed: the plan could not be printed: no space left on device") {
		t.Errorf("text: code %d: %s", code, stderr)
	}
	if dump(t, path) != before || len(receipts(t, path)) > 0 {
		t.Fatal("a plan that nobody saw was carried out")
	}
	code, stderr = sessctlIntoFull(t, home, "repair", path, "--yes", "--format", "json")
	list := receipts(t, path)
	if len(list) != 1 || dump(t, path) == before {
		t.Fatalf("nothing was repaired: %s", stderr)
	}
	if code != 3 || !says(stderr, "is done and verified; only the report of it could not be printed: no space left on device", "The backup is "+path, "sessctl undo ~/"+filepath.Base(list[0])) {
		t.Errorf("JSON: code %d: %s", code, stderr)
	}
	code, stderr = sessctlIntoFull(t, home, "undo", list[0])
	if code != 3 || !says(stderr, "as before the repair", "only the report of it could not be printed") {
		t.Errorf("undo: code %d: %s", code, stderr)
	}
	if dump(t, path) != before {
		t.Error("the undo left a difference")
	}
}

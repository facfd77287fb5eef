package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/render"
)

// TestBuiltProgramKnowsItsCommit builds the program as people do. Where no version
// control is, as in a release's source archive, there is no commit to be known.
func TestBuiltProgramKnowsItsCommit(t *testing.T) {
	git := exec.Command("git", "log", "-1", "--format=%H")
	git.Dir = "../.."
	head, err := git.Output()
	if err != nil {
		t.Skipf("no git checkout: %v", err)
	}
	commit := strings.TrimSpace(string(head))
	program := filepath.Join(t.TempDir(), "sessctl")
	for name, build := range map[string][]string{
		"make build": {"make", "build", "BIN=" + program, "VERSION=v1.2.3"},
		"go build":   {"go", "build", "-buildvcs=true", "-o", program, "."},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(build[0]); err != nil {
				t.Skipf("no %s: %v", build[0], err)
			}
			if info, err := os.Stat("../../.git"); name == "go build" && (err != nil || !info.IsDir()) {
				t.Skip("Go tells no commit in a worktree that git made beside a checkout")
			}
			run := exec.Command(build[0], build[1:]...)
			run.Dir = "../.."
			run.Env = append(os.Environ(), "MAKEFLAGS=")
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err := exec.Command(program, "version", "--format", "json").Output()
			if err != nil {
				t.Fatal(err)
			}
			var got render.Build
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if got.Commit != commit || got.Version == "(devel)" || strings.HasPrefix(got.Version, "v") {
				t.Errorf("want commit %s and a version: %+v", commit, got)
			}
			if _, err := time.Parse("2006-01-02T15:04:05Z", got.Date); err != nil {
				t.Errorf("the date is not in UTC: %v", err)
			}
		})
	}
}

package cmd

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/render"
)

func TestVersionOfEveryWayOfBuilding(t *testing.T) {
	const commit, date = "443f47e2c1", "2026-11-21T18:40:00Z"
	settings := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: commit}, {Key: "vcs.time", Value: date}}
	tests := map[string]struct {
		linked render.Build
		main   string
		vcs    []debug.BuildSetting
		want   render.Build
	}{
		"a release":                           {linked: built("1.2.3", commit, date), main: "(devel)", want: built("1.2.3", commit, date)},
		"make build at a tag":                 {linked: built("v1.2.3", commit, date), main: "(devel)", want: built("1.2.3", commit, date)},
		"go build in a checkout":              {main: "v1.2.4-0.20261121184000-443f47e2c1aa+dirty", vcs: settings, want: built("1.2.4-0.20261121184000-443f47e2c1aa+dirty", commit, date)},
		"go install of a version":             {main: "v1.2.3", want: built("1.2.3", "", "")},
		"go build without version control":    {main: "(devel)", want: built("(devel)", "", "")},
		"the linker's word before the stamp":  {linked: built("1.2.3", "aaaa", date), main: "v9", vcs: settings, want: built("1.2.3", "aaaa", date)},
		"a program that was built as a test ": {want: built("(devel)", "", "")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.want.Name, tt.want.Go, tt.want.Platform = "sessctl", "go1.26.8", runtime.GOOS+"/"+runtime.GOARCH
			info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: tt.main}, Settings: tt.vcs}
			if diff := cmp.Diff(tt.want, describe(tt.linked, info)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func built(version, commit, date string) render.Build {
	return render.Build{Tool: render.Tool{Version: version}, Commit: commit, Date: date}
}

// TestBuiltProgramKnowsItsCommit builds the program as people do. Where no version
// control is, as in a release's source archive, there is no commit to be known.
func TestBuiltProgramKnowsItsCommit(t *testing.T) {
	campaign.ShowsNoRace(t)
	git := exec.Command("git", "log", "-1", "--format=%H")
	git.Dir = ".."
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
			if info, err := os.Stat("../.git"); name == "go build" && (err != nil || !info.IsDir()) {
				t.Skip("Go tells no commit in a worktree that git made beside a checkout")
			}
			run := exec.Command(build[0], build[1:]...)
			run.Dir = ".."
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

package cmd

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			if diff := cmp.Diff(tt.want, completeBuild(tt.linked, info)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func built(version, commit, date string) render.Build {
	return render.Build{Tool: render.Tool{Version: version}, Commit: commit, Date: date}
}

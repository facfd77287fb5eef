package dockeragent_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent"
)

func TestLocations(t *testing.T) {
	home := filepath.Join("/", "home", "me")
	old := filepath.Join(home, ".cagent", "session.db")
	for _, tt := range []struct {
		data, home string
		want       []string
	}{
		{"", home, []string{old, "session.db"}},
		{"", "", []string{"session.db"}},
		{filepath.Join("/", "data"), home, []string{filepath.Join("/", "data", "session.db"), old, "session.db"}},
		{filepath.Join("/", "data"), "", []string{filepath.Join("/", "data", "session.db"), "session.db"}},
		{filepath.Dir(old), home, []string{old, "session.db"}},
	} {
		t.Setenv("DOCKER_AGENT_DATA_DIR", tt.data)
		if got := dockeragent.Kind.Locations(tt.home); !slices.Equal(got, tt.want) {
			t.Errorf("%q, %q: %q", tt.data, tt.home, got)
		}
	}
}

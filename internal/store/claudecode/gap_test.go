package claudecode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestGap: with a parent that does not exist, the versions up to 2.0 send nothing of what stands
// before, and 2.1 loses nothing. The version that wrote the newest line counts.
func TestGap(t *testing.T) {
	for _, tt := range []struct {
		version, want string
		found         string
	}{
		{"2.0.14", "doubtful", "warning SC021 "},
		{"1.0.60", "doubtful", "warning SC021 "},
		{"2.1.197", "resumes", "info SC021 "},
		{"2.1.330", "resumes", "info SC021 "},
	} {
		t.Run(tt.version, func(t *testing.T) {
			home := recorded(t, "damaged-phantom-parent", t.TempDir())
			files, _ := filepath.Glob(filepath.Join(home, "projects", "*", "*.jsonl"))
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			last := bytes.LastIndex(text, []byte(`"version":"2.1.330"`))
			text = slices.Concat(text[:last], []byte(`"version":"`+tt.version+`"`), text[last+len(`"version":"2.1.330"`):])
			if err := os.WriteFile(files[0], text, 0o600); err != nil {
				t.Fatal(err)
			}
			whole := foretold(t, recorded(t, "damaged-phantom-parent", t.TempDir()))[0]
			got := foretold(t, home)[0]
			if cut := len(got) < len(whole) && slices.Equal(got, whole[len(whole)-len(got):]); cut != (tt.want == "doubtful") {
				t.Errorf("it is sent as\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(whole, "\n"))
			}
			if outlook := storetest.Outlooks(t, home); outlook[0] != tt.want {
				t.Errorf("it %s, want %s", outlook[0], tt.want)
			}
			if found := storetest.Findings(t, home); !slices.Contains(found, tt.found) {
				t.Errorf("found %q", found)
			}
			if plan, _, err := repairtest.Repair(home); err != nil {
				t.Fatalf("%v%s", err, repairtest.Told(plan))
			}
			if got := foretold(t, home)[0]; !slices.Equal(got, whole) {
				t.Errorf("after the repair it is sent as\n%s", strings.Join(got, "\n"))
			}
		})
	}
}

package repair_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// TestPairsOfRandomProgramsGetTheSameShape records random programs with both
// runtimes, many sessions in one database, and repairs what the leaking one
// stored. Besides what it has to add for children that failed, the result has
// the shape of what the healthy one stored.
func TestPairsOfRandomProgramsGetTheSameShape(t *testing.T) {
	databases, sessions := campaign.Rounds(8, 12), uint64(campaign.Rounds(25, 250))
	reordered := 0
	for n := range databases {
		generation := 14 + n%6
		paths := map[bool]string{}
		for _, leaky := range []bool{true, false} {
			path := filepath.Join(t.TempDir(), "session.db")
			db, err := agenttest.Create(path, generation)
			if err != nil {
				t.Fatal(err)
			}
			write := agenttest.WriteFixed
			if leaky {
				write = agenttest.WriteLeaky
			}
			for seed := range sessions {
				seed += uint64(n) * sessions
				if _, err := write(db, agenttest.Random(seed, 4+int(seed%37))); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			paths[leaky] = path
		}
		leaky := splitShape(shapeOf(t, paths[true]))
		if _, _, err := repairtest.Repair(paths[true]); err != nil {
			t.Fatal(err)
		}
		reordered += compareShapes(t, splitShape(shapeOf(t, paths[false])), splitShape(shapeOf(t, paths[true])), leaky)
		repeated(t, paths[true])
	}
	// Where two children of one message said nothing and have the same task,
	// nobody can tell whose result is whose.
	if all := databases * int(sessions); reordered*50 > all {
		t.Errorf("the results of %d of %d sessions are in another order", reordered, all)
	}
}

// splitShape splits a shape session by session.
func splitShape(shape string) []string {
	list := strings.Split("\n"+strings.TrimSuffix(shape, "\n"), "\nsession ")
	return list[1:]
}

// compareShapes compares sessions, and gives the number of those whose results are in
// another order.
func compareShapes(t *testing.T, want, got, leaky []string) (reordered int) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d sessions, want %d", len(got), len(want))
	}
	rebuilt := 0
	for i := range want {
		if want[i] != got[i] && withoutRebuilt(want[i]+"\n") == withoutRebuilt(got[i]+"\n") {
			rebuilt++
			continue
		}
		if want[i] != got[i] && sortedLines(withoutRebuilt(want[i]+"\n")) == sortedLines(withoutRebuilt(got[i]+"\n")) {
			reordered++
			continue
		}
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("session %d: want (-), got (+):\n%s\nas it was stored:\n%s", i, diff, leaky[i])
			return reordered
		}
	}
	t.Logf("%d sessions, %d of them with rebuilt parts", len(want), rebuilt)
	return reordered
}

func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

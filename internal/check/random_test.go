package check_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// batches are the seeds of the random programs, a database each; SESSCTL_LONG=1
// makes them very many.
func batches() [][]uint64 {
	const each = 20
	count := campaign.Rounds(12, 300)
	list := make([][]uint64, count)
	for i := range uint64(count * each) {
		list[i/each] = append(list[i/each], i)
	}
	return list
}

// written records random programs in one database.
func written(t *testing.T, seeds []uint64, generation int, write func(*agenttest.DB, agenttest.Program) (agenttest.Written, error)) (string, []agenttest.Leak) {
	t.Helper()
	db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), generation)
	if err != nil {
		t.Fatal(err)
	}
	var leaks []agenttest.Leak
	for _, seed := range seeds {
		truth, err := write(db, agenttest.Random(seed, 5+int(seed)%40))
		if err != nil {
			t.Fatal(err)
		}
		leaks = append(leaks, truth.Leaks...)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return db.Path, leaks
}

// TestLeaksOfRandomProgramsAreNamedExactly: the findings of SC701 to SC703 name
// the rows that leaked and no other, one finding for each delegation.
func TestLeaksOfRandomProgramsAreNamedExactly(t *testing.T) {
	for _, seeds := range batches() {
		path, leaks := written(t, seeds, 18, agenttest.WriteLeaky)
		want := map[string][]string{} // by the delegation of the root session
		for _, l := range leaks {
			key := fmt.Sprintf("%d %s", l.Calls[0].Row, l.Calls[0].ID)
			want[key] = append(want[key], fmt.Sprint(l.Row))
		}
		if diff := cmp.Diff(sorted(want), leakedRows(t, path, checkFile(t, path, store.Options{}))); diff != "" {
			t.Fatalf("seeds %v: leaked rows by delegation, want (-), got (+):\n%s", seeds, diff)
		}
	}
}

// sorted lists groups of rows in the order of their first rows.
func sorted(groups map[string][]string) []string {
	list := []string{}
	for _, rows := range groups {
		slices.Sort(rows)
		list = append(list, strings.Join(rows, " "))
	}
	slices.Sort(list)
	return list
}

// leakedRows lists the rows that each finding about a leak names.
func leakedRows(t *testing.T, path string, r *check.Result) []string {
	t.Helper()
	rows := rowsOf(t, path)
	list := []string{}
	for _, f := range r.Findings {
		if !isLeak(f.Rule) {
			continue
		}
		named := []string{rows[place(f.Session, f.Item)]}
		for _, p := range f.Related {
			named = append(named, rows[place(p.Session, p.Item)])
		}
		slices.Sort(named)
		list = append(list, strings.Join(named, " "))
	}
	slices.Sort(list)
	return list
}

func isLeak(r *rules.Rule) bool {
	return slices.Contains([]string{"SC701", "SC702", "SC703"}, r.ID)
}

func place(session string, item int) string { return fmt.Sprintf("%s.%d", session, item) }

// TestFixedRandomProgramsAreClean: what the runtime wrote that does not leak has
// nothing at warning or error, except what kills and failures leave: calls
// without results, results without an answer, and messages without an end.
func TestFixedRandomProgramsAreClean(t *testing.T) {
	cutOff := []string{"SC101", "SC305", "SC407"}
	for _, seeds := range batches() {
		path, _ := written(t, seeds, 19, agenttest.WriteFixed)
		for _, f := range checkFile(t, path, store.Options{}).Findings {
			if f.Severity > rules.Info && !slices.Contains(cutOff, f.Rule.ID) {
				t.Errorf("seeds %v: %s at %s.%d: %s", seeds, f.Rule.ID, f.Session, f.Item, f.Message)
			}
		}
	}
}

package check_test

import (
	"errors"
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
		path, _ := written(t, seeds, []int{19, 21, agenttest.Latest}[seeds[0]/20%3], agenttest.WriteFixed)
		for _, f := range checkFile(t, path, store.Options{}).Findings {
			if f.Severity > rules.Info && !slices.Contains(cutOff, f.Rule.ID) {
				t.Errorf("seeds %v: %s at %s.%d: %s", seeds, f.Rule.ID, f.Session, f.Item, f.Message)
			}
		}
	}
}

// TestWholeProgramsHaveNothing: what the runtime stores of programs in which nobody
// dies or fails, however it compacts, has nothing at warning or error. Where its list
// in memory is longer than what it stores, summaries that keep nothing record more than
// their place.
func TestWholeProgramsHaveNothing(t *testing.T) {
	whole := agenttest.Shapes{Skills: true, Background: true, Whole: true}
	compacted, tails := 0, 0
	for _, seeds := range batches() {
		generation := []int{21, 28, 29, agenttest.Latest}[seeds[0]/20%4]
		db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), generation)
		for _, seed := range seeds {
			p := agenttest.RandomWith(seed, 5+int(seed)%40, whole)
			if seed%4 == 0 {
				p = keepingNothing(p)
			}
			if err == nil {
				_, err = agenttest.WriteFixed(db, p)
			}
		}
		compacted += len(db.Rows("item_type = 'summary'"))
		tails += len(db.Rows("item_type = 'summary' AND first_kept_entry BETWEEN 1 AND position - 1"))
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		for _, f := range checkFile(t, db.Path, store.Options{}).Findings {
			if f.Severity > rules.Info {
				t.Errorf("seeds %v, generation %d: %s at %s.%d: %s", seeds, generation, f.Rule.ID, f.Session, f.Item, f.Message)
			}
		}
	}
	t.Logf("%d programs, %d summaries, %d of them with a tail", len(batches())*20, compacted, tails)
	if tails == 0 || compacted == tails {
		t.Error("not every form of compaction occurred")
	}
}

// keepingNothing is a program whose compactions keep nothing, of a runtime with a hook's
// context in its list.
func keepingNothing(p agenttest.Program) agenttest.Program {
	p.Unstored = 1
	for i := range p.Turns {
		p.Turns[i].Keep = 0
		for n := range p.Turns[i].Steps {
			p.Turns[i].Steps[n].Keep = 0
		}
	}
	return p
}

// TestInterruptedProgramsAreNamed: where the process died while a tool or a child ran,
// the session has a finding at warning or error, unless a later summary covers it.
func TestInterruptedProgramsAreNamed(t *testing.T) {
	died := 0
	for _, seeds := range batches() {
		db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), agenttest.Latest)
		open := map[string]uint64{} // the seed, by session
		for _, seed := range seeds {
			p := agenttest.Random(seed, 5+int(seed)%40)
			var w agenttest.Written
			if err == nil {
				w, err = agenttest.WriteFixed(db, p)
			}
			if err == nil && diesInCall(p.Turns) {
				open[w.Root.ID] = seed
			}
		}
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		died += len(open)
		for _, f := range checkFile(t, db.Path, store.Options{}).Findings {
			if f.Severity > rules.Info && slices.Contains([]string{"SC101", "SC102", "SC716"}, f.Rule.ID) {
				delete(open, f.Session)
			}
		}
		for session, seed := range open {
			t.Errorf("seed %d: session %s ends in a call without a result, and nothing says so", seed, session)
		}
	}
	t.Logf("%d programs, %d died in a call", len(batches())*20, died)
	if died == 0 {
		t.Error("nobody died")
	}
}

// diesInCall reports whether the process dies in a call of the root, or below one, and
// no compaction follows.
func diesInCall(turns []agenttest.Turn) bool {
	open := false
	for _, turn := range turns {
		for _, step := range turn.Steps {
			dies := slices.ContainsFunc(step.Calls, dies)
			open = dies || open && step.Summary == ""
		}
		open = open && turn.Compact == ""
	}
	return open
}

// dies reports whether the process dies in a call, or in what a child does.
func dies(c agenttest.Call) bool {
	return c.Killed || c.Task != nil && slices.ContainsFunc(c.Task.Steps, func(s agenttest.Step) bool {
		return s.End == agenttest.Killed || slices.ContainsFunc(s.Calls, dies)
	})
}

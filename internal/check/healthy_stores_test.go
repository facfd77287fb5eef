package check_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// eachHealthyStore hands to fn what runtimes store of random programs and of scripts, in
// which no child gets more than its goal, whatever else is wrong with kagent's.
func eachHealthyStore(t *testing.T, fn func(t *testing.T, path string)) {
	t.Run("docker agent", func(t *testing.T) {
		for _, seeds := range batches()[:campaign.Rounds(6, 6)] {
			path, _ := written(t, seeds, 19, agenttest.WriteFixed)
			fn(t, path)
		}
	})
	t.Run("docker agent with skills, background and parallel calls", func(t *testing.T) {
		db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), 29)
		if err != nil {
			t.Fatal(err)
		}
		for seed := uint64(0); err == nil && seed < uint64(campaign.Rounds(60, 60)); seed++ {
			_, err = agenttest.WriteFixed(db, agenttest.RandomWith(seed, 25, agenttest.Shapes{Skills: true, Background: true, Parallel: true}))
		}
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		fn(t, db.Path)
	})
	t.Run("ADK", func(t *testing.T) {
		sessions := adktest.Scripts()
		for seed := range uint64(campaign.Rounds(40, 40)) {
			sessions = append(sessions, adktest.PS.Random(seed, 12))
		}
		sessions = slices.DeleteFunc(sessions, func(s adktest.Session) bool { return adktest.PS.Lacks(s) != "" })
		path := filepath.Join(t.TempDir(), "adk.db")
		if err := adktest.Create(path, adktest.PS, sessions...); err != nil {
			t.Fatal(err)
		}
		fn(t, path)
	})
	t.Run("kagent", func(t *testing.T) {
		for _, p := range append(kagenttest.Scripts(), kagenttest.Random(1), kagenttest.Random(2), kagenttest.Random(3)) {
			path := filepath.Join(t.TempDir(), "kagent.db")
			if _, err := p.Build(path, kagenttest.Forms["go 2"]); err != nil {
				t.Fatal(err)
			}
			fn(t, path)
		}
	})
	t.Run("Spring AI Session", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "spring.db")
		db, err := springtest.Create(path, springtest.Form{})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(campaign.Rounds(40, 40)) {
			springtest.Random(db, fmt.Sprint("s", seed), seed, 4)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		fn(t, path)
	})
}

// TestWholeSessionsOfSpringHaveNothing: what the library stores where nothing goes
// wrong, however it compacts, has nothing at warning or error.
func TestWholeSessionsOfSpringHaveNothing(t *testing.T) {
	r, n := springSessions(t, springtest.Whole)
	for _, f := range r.Findings {
		if f.Severity > rules.Info {
			t.Errorf("%s at %s.%d: %s", f.Rule.ID, f.Session, f.Item, f.Message)
		}
	}
	t.Logf("%d sessions", n)
}

// TestInterruptedSessionsOfSpringAreNamed: where the process died while a tool ran, the
// session has a finding at warning or error.
func TestInterruptedSessionsOfSpringAreNamed(t *testing.T) {
	r, n := springSessions(t, springtest.Interrupted)
	named := map[string]bool{}
	for _, f := range r.Findings {
		if f.Severity > rules.Info && (f.Rule.ID == "SC101" || f.Rule.ID == "SC102") {
			named[f.Session] = true
		}
	}
	if len(named) != n {
		t.Errorf("%d of %d sessions are named", len(named), n)
	}
	t.Logf("%d sessions", n)
}

func springSessions(t *testing.T, write func(db *springtest.DB, session string, seed uint64, turns int)) (*check.Result, int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spring.db")
	db, err := springtest.Create(path, springtest.Form{})
	if err != nil {
		t.Fatal(err)
	}
	n := campaign.Rounds(300, 3000)
	db.Batch(func() {
		for seed := range uint64(n) {
			write(db, fmt.Sprint("s", seed), seed, 2+int(seed)%9)
		}
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return checkFile(t, path, store.Options{}), n
}

// TestWholeProgramsOfKagentHaveNothing: what kagent stores where each call gets a session
// of its own and nothing goes wrong has nothing at warning or error, in every form.
func TestWholeProgramsOfKagentHaveNothing(t *testing.T) {
	sessions := 0
	for _, form := range slices.Sorted(maps.Keys(kagenttest.Forms)) {
		for seed := range uint64(campaign.Rounds(8, 60)) {
			path := filepath.Join(t.TempDir(), "kagent.db")
			if _, err := kagenttest.Whole(seed).Build(path, kagenttest.Forms[form]); err != nil {
				t.Fatal(err)
			}
			r := checkFile(t, path, store.Options{})
			sessions += r.Sessions
			for _, f := range r.Findings {
				if f.Severity > rules.Info {
					t.Errorf("%s, seed %d: %s at %s.%d: %s", form, seed, f.Rule.ID, f.Session, f.Item, f.Message)
				}
			}
		}
	}
	t.Logf("%d sessions", sessions)
}

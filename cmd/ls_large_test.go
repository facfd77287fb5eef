package cmd_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// enlarge makes a database so large that a list of it does without contents.
const enlarge = "create table filler (x); insert into filler values (zeroblob(100000000)); drop table filler"

// largeDB is such a database with one good and one leaking session.
func largeDB(t *testing.T) *agenttest.DB {
	t.Helper()
	db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), agenttest.Latest)
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed < 4; seed++ {
		if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 40)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.SQL.Exec(enlarge); err != nil {
		t.Fatal(err)
	}
	db.Sync()
	return db
}

// listedFindings are the sessions of a list in JSON, and how many of them have a health. Without
// one, agents are all that messages name.
func listedFindings(t *testing.T, args ...string) (sessions []map[string]any, healths int) {
	t.Helper()
	_, out, _ := run(t, append([]string{"ls", "--all", "--format", "json"}, args...)...)
	var list struct{ Sessions []map[string]any }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Sessions {
		if s["health"] != nil {
			healths++
		}
		delete(s, "health")
		delete(s, "agents")
	}
	return list.Sessions, healths
}

// A list of a large store says that it did not read health, and how to get it. No answer
// looks as if nothing was found.
func TestAListOfALargeStoreLeavesHealthOut(t *testing.T) {
	path := largeDB(t).Path
	_, health, _ := run(t, "ls", path, "--all", "--health")
	if !strings.Contains(health, "HEALTH") || !strings.Contains(health, "error") {
		t.Fatalf("the store has nothing to find:\n%s", health)
	}
	code, list, stderr := run(t, "ls", path, "--all")
	if code != 0 || stderr != "" || !strings.Contains(list, "Health was not read") || !strings.Contains(list, "sessctl ls --health") ||
		strings.Contains(list, "HEALTH") || strings.Contains(list, " ok") {
		t.Errorf("code %d, %s\n%s", code, stderr, list)
	}
	got, healths := listedFindings(t, path)
	want, all := listedFindings(t, path, "--health")
	if diff := cmp.Diff(want, got); diff != "" || healths != 0 || all != len(want) || all < 3 {
		t.Errorf("%d and %d of %d with health: %s", healths, all, len(want), diff)
	}
	for _, args := range [][]string{{"--damaged"}, {"--since", "2000-01-01"}, {"--agent", "root"}, {"--sort", "health"}} {
		_, list, _ := run(t, append([]string{"ls", path}, args...)...)
		if !strings.Contains(list, "HEALTH") || !strings.Contains(list, "error") {
			t.Errorf("%v: %s", args, list)
		}
	}
}

func TestAListOfALargeEventStoreLeavesHealthOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adk.db")
	if err := adktest.Create(path, adktest.P1, adktest.Random(1, 15)); err != nil {
		t.Fatal(err)
	}
	db, err := builder.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(enlarge)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, list, _ := run(t, "ls", path)
	_, health, _ := run(t, "ls", path, "--health")
	if !strings.Contains(list, "Health was not read") || strings.Contains(list, "AGENTS") || !strings.Contains(health, "AGENTS") {
		t.Errorf("%s\n%s", list, health)
	}
}

// What a list lacks is told whether or not it has health.
func TestALargeListThatLacksRowsIsIncomplete(t *testing.T) {
	campaign.ShowsNoRace(t)
	for _, table := range []string{"session_items", "sessions"} {
		db := largeDB(t)
		destroyPage(t, db, table)
		code, list, stderr := run(t, "ls", db.Path)
		if code != 3 || !strings.Contains(list, "Health was not read") || !strings.Contains(strings.Join(strings.Fields(stderr), " "), "is incomplete: ") {
			t.Errorf("%s: code %d, %s\n%s", table, code, stderr, list)
		}
	}
}

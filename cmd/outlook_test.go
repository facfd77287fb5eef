package cmd_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// outlooks are the verdicts of why with what the overview of check says of such a session.
// An overview that names none says that the session resumes.
var outlooks = map[string]*regexp.Regexp{
	"refused":  regexp.MustCompile(`1 of 1 session cannot resume: the provider refuses its next request\.`),
	"unloaded": regexp.MustCompile(`1 of 1 session cannot resume: its runtime fails to load it\.`),
	"waits":    regexp.MustCompile(`1 of 1 session does not resume until a call has its result\.`),
	"doubtful": regexp.MustCompile(`1 of 1 session may be refused`),
	"loses":    regexp.MustCompile(`1 of 1 session resumes, but the model loses something\.`),
}

// TestOneOutlook: check and why say the same of every session, in recorded stores of all kinds
// and in random ones.
func TestOneOutlook(t *testing.T) {
	campaign.ShowsNoRace(t)
	var paths []string
	for name, build := range verdictStores {
		path := filepath.Join(t.TempDir(), strings.ReplaceAll(name, " ", "-")+".db")
		if err := build(path, uint64(campaign.Rounds(40, 200))); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	paths = append(paths, olderStores(t)...)
	recorded := recordedStores(t, campaign.Stride(1, 1))
	if recorded == nil {
		t.Log("the corpus is absent: only random stores are looked at")
	}
	for _, s := range adktest.Scripts() {
		if s.ID == "pending" { // waits, as few others do
			path := filepath.Join(t.TempDir(), "pending.db")
			if err := adktest.Create(path, adktest.G2, s); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
	}
	said := map[string]int{}
	for _, path := range append(paths, recorded...) {
		var list struct{ Sessions []struct{ ID string } }
		_, out, stderr := run(t, "ls", path, "--format", "json") // some do not decode
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatalf("%s: %v: %s", path, err, stderr)
		}
		for _, s := range list.Sessions[:min(len(list.Sessions), campaign.Rounds(20, 1000))] {
			said[oneOutlook(t, path, s.ID)]++
		}
	}
	t.Logf("verdicts: %v", said)
	for verdict := range outlooks {
		if said[verdict] == 0 && verdict != "doubtful" { // which few random sessions are
			t.Errorf("no session %s: %v", verdict, said)
		}
	}
}

func oneOutlook(t *testing.T, path, id string) string {
	t.Helper()
	asked := askWhy(t, path, "--", id)
	verdict := asked.Verdict
	if verdict == "damaged" || asked.Session.ID != id {
		return verdict
	}
	if verdict == "in-use" {
		verdict = "waits"
	}
	_, out, _ := run(t, "check", path, "--session", id)
	out = strings.Join(strings.Fields(out), " ")
	for name, line := range outlooks {
		if (name == verdict) != line.MatchString(out) {
			t.Errorf("%s %s: why says %s (%s), check:\n%s", path, id, asked.Verdict, asked.Cause, out)
			break
		}
	}
	return verdict
}

// olderStores are stores of docker agent before and since its sanitiser, and of ADK with
// values that keep a session from loading, and such that do not.
func olderStores(t *testing.T) (paths []string) {
	t.Helper()
	for _, generation := range []int{18, 21, 22} {
		path := filepath.Join(t.TempDir(), "agent.db")
		db, err := agenttest.Create(path, generation)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(campaign.Rounds(6, 60)) {
			if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 20)); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if generation == 22 {
			alter(t, path, `UPDATE sessions SET permissions = '{' WHERE rowid % 3 = 0`)
		}
		paths = append(paths, path)
	}
	for n, statement := range []string{
		`UPDATE sessions SET state = 'broken'`, `UPDATE events SET event_data = 'x' WHERE rowid % 7 = 0`,
	} {
		path := filepath.Join(t.TempDir(), "adk.db")
		if err := adktest.Create(path, adktest.P1, adktest.Random(uint64(n), 6)); err != nil {
			t.Fatal(err)
		}
		alter(t, path, statement)
		paths = append(paths, path)
	}
	return paths
}

// recordedStores are copies of one of so many databases of the corpus, nil where it is absent.
func recordedStores(t *testing.T, stride int) (paths []string) {
	t.Helper()
	const corpus = "../../shared/corpus"
	folder, n := t.TempDir(), 0
	if _, err := os.Stat(corpus); err != nil {
		return nil
	}
	err := filepath.WalkDir(corpus, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if filepath.Ext(path) != ".db" && !strings.HasSuffix(path, ".sqlite.sql") {
			return nil
		}
		if n++; n%stride != 0 {
			return nil
		}
		name := filepath.Join(folder, strings.ReplaceAll(strings.TrimPrefix(path, corpus+"/"), "/", "-"))
		if dump, is := strings.CutSuffix(path, ".sqlite.sql"); is {
			statements, err := os.ReadFile(dump + ".sqlite.sql")
			if err != nil {
				return err
			}
			alter(t, name, string(statements))
			paths = append(paths, name)
			return nil
		}
		for _, ending := range []string{"", "-wal"} {
			data, err := os.ReadFile(path + ending)
			if os.IsNotExist(err) {
				continue
			}
			if err != nil {
				return err
			}
			if err := os.WriteFile(name+ending, data, 0o600); err != nil {
				return err
			}
		}
		if code, _, _ := run(t, "ls", name); code == 0 {
			paths = append(paths, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestWhatKeepsASessionFromLoading: of the values that a column must not have, only those on
// which the runtime fails keep the session from loading.
func TestWhatKeepsASessionFromLoading(t *testing.T) {
	built := filepath.Join(t.TempDir(), "built.db")
	if err := verdictStores["Spring AI Session"](built, 1); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	for change, fails := range map[string]bool{
		`ai_session_event SET archived = 'maybe' WHERE rowid = 1`: false,
		`ai_session_event SET synthetic = 'x' WHERE rowid = 1`:    false,
		`ai_session SET metadata = '['`:                           true,
		`ai_session_event SET metadata = '[' WHERE rowid = 1`:     true,
		`ai_session_event SET message_type = 7 WHERE rowid = 1`:   true,
	} {
		path := filepath.Join(t.TempDir(), "store.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		alter(t, path, `UPDATE `+change)
		asked := askWhy(t, path)
		if (asked.Verdict == "unloaded") != fails || asked.Verdict == "resumes" || oneOutlook(t, path, asked.Session.ID) != asked.Verdict {
			t.Errorf("%s: %s: %s", change, asked.Verdict, asked.Cause)
		}
	}
}

// alter runs SQL statements on a closed database, as somebody does who has the
// sqlite3 program: without foreign keys. It leaves no -wal behind.
func alter(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

package repair_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// columnOf is the messages column of a session.
func columnOf(t *testing.T, path, id string) string {
	db := openPlain(t, path)
	defer func() { _ = db.Close() }()
	return fmt.Sprint(rowsOf(t, db, "select coalesce(messages, '') from sessions where id = '"+id+"'")[0][0])
}

// A column that holds more than the rows is the only copy of the rest: a repair
// of the session leaves it alone, and it is still reported.
func TestAColumnThatHoldsMoreThanTheRowsIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, 18)
	if err != nil {
		t.Fatal(err)
	}
	written, err := agenttest.WriteLeaky(db, agenttest.Random(3, 20))
	if err == nil && len(written.Leaks) == 0 {
		t.Fatal("the program does not leak")
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Sync()
	if err := db.Damage("LegacyColumnFuller", written.Root.ID, 2); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := columnOf(t, path, written.Root.ID)
	plan, receipt, err := repairtest.Repair(path)
	if err != nil || receipt == nil {
		t.Fatalf("receipt %v, error %v", receipt, err)
	}
	if columnOf(t, path, written.Root.ID) != before {
		t.Error("the column was written anew from the rows")
	}
	if !slices.ContainsFunc(plan.Findings, func(f *check.Finding) bool { return f.Rule.ID == "SC005" }) {
		t.Error("SC005 is not left")
	}
}

// A session whose items are in the old column only cannot be repaired; the
// others can.
func TestASessionInTheColumnOnlyDoesNotStopTheOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, path)
	db := openPlain(t, path)
	for _, statement := range []string{
		`insert into sessions(id, title, created_at, messages) values ('old', 'old', '2026-02-14T09:00:00Z',
			'[{"message":{"agentName":"","message":{"role":"user","content":"go","created_at":"2026-02-14T09:00:00Z"}}},
			  {"message":{"agentName":"root","message":{"role":"assistant","content":"","created_at":"2026-02-14T09:00:01Z","tool_calls":[{"id":"x1","type":"function","function":{"name":"shell","arguments":"{}"}}]}}},
			  {"message":{"agentName":"","message":{"role":"user","content":"and?","created_at":"2026-02-14T09:00:02Z"}}}]')`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	plan, receipt, err := repairtest.Repair(path)
	if err != nil || receipt == nil {
		t.Fatalf("receipt %v, error %v", receipt, err)
	}
	if len(plan.Refused) != 1 || plan.Refused[0].Root != "old" {
		t.Errorf("refused %+v", plan.Refused)
	}
	if !slices.ContainsFunc(plan.Findings, func(f *check.Finding) bool { return f.Session == "old" && f.Rule.ID == "SC101" }) {
		t.Error("what is wrong with the session is not left")
	}
}

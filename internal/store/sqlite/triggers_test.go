package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

func TestTriggers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	create(t, path, "create table t(a, b)", "create table log(x)", "create view v as select * from t",
		"create trigger plain insert on t begin select 1; end",
		`CREATE TRIGGER IF NOT EXISTS "of insert on x" BEFORE
			UPDATE OF a, b ON t BEGIN INSERT INTO log VALUES (1); END`,
		"create trigger [odd] after delete on t for each row when old.a = 1 begin delete from log; end",
		"create trigger kept after insert on t begin select 1; end",
		"create trigger view instead of insert on v begin select 1; end")
	db := open(t, path)
	defer func() { _ = db.Close() }()
	got, err := db.Triggers(t.Context(), "kept")
	ok(t, err)
	want := []session.Trigger{
		{Name: "odd", Table: "t", When: "after delete"}, {Name: "of insert on x", Table: "t", When: "before update"},
		{Name: "plain", Table: "t", When: "insert"}, {Name: "view", Table: "v"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

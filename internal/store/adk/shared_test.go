package adk_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// toMilliseconds takes what is finer out of all times, which adk-js does not know, so that
// events keep their order when some become adk-js's.
const toMilliseconds = `update events set timestamp = substr(timestamp, 1, 23) || '000',
	event_data = json_set(event_data, '$.timestamp', floor(json_extract(event_data, '$.timestamp') * 1000) / 1000)`

// jsDocuments makes documents those of adk-js, as its service stores them beside a column
// with a text: their times are whole milliseconds.
const jsDocuments = `update events set event_data = json_set(event_data, '$.timestamp', cast(round(json_extract(event_data, '$.timestamp') * 1000) as integer)) where `

// zonedTimes makes the times those of PostgreSQL's timestamptz, as its own tools print them.
var zonedTimes = []string{
	"update events set timestamp = timestamp || '+00'",
	"update sessions set create_time = create_time || '+00', update_time = update_time || '+00'",
}

// optionalColumns are those that some versions of P1's schema have.
var optionalColumns = []string{
	"alter table sessions add column event_sequence integer not null default 7",
	"alter table sessions add column title varchar(256)",
	"update sessions set title = 'my talk'",
	"create table alembic_version (version_num varchar(32) not null)",
	"insert into alembic_version values ('001_baseline_v1')",
}

func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFormsOfP1 repairs every script in the forms that P1's tables have elsewhere: with
// the times of PostgreSQL, the columns of other versions, and documents of adk-js among or
// instead of adk-python's. Nothing is found in them that is not found in the usual form,
// but that two programs wrote to a session.
func TestFormsOfP1(t *testing.T) {
	for name, statements := range map[string][]string{
		"PostgreSQL": slices.Concat(zonedTimes, optionalColumns),
		"adk-js":     {toMilliseconds, jsDocuments + "true"},
		"both":       slices.Concat([]string{toMilliseconds, jsDocuments + "rowid % 2"}, zonedTimes, optionalColumns),
	} {
		for _, script := range adktest.P1.For(adktest.Scripts()) {
			if script.ID == adktest.Script("mixed-offsets").ID {
				continue // its offsets are the same in every generation but Go's
			}
			t.Run(name+"/"+script.ID, func(t *testing.T) {
				usual, _, err := repairtest.Plan(created(t, adktest.P1, script))
				if err != nil {
					t.Fatal(err)
				}
				path := created(t, adktest.P1, script)
				execute(t, path, statements...)
				before := dump(t, path)
				plan, receipt, err := repairtest.Repair(path)
				if err != nil {
					t.Fatalf("%v\n%s", err, told(plan))
				}
				got, want := told(plan), told(usual)
				if name == "both" {
					got = withoutMixture(got)
				}
				if got != want {
					t.Errorf("planned\n%s\nwant\n%s", got, want)
				}
				if receipt == nil {
					return
				}
				if strings.Contains(before, "event_sequence") {
					if row := query(t, path, "select event_sequence, title from sessions")[0]; row[0] != "8" || row[1] != "my talk" {
						t.Errorf("the session has event_sequence %s and the title %q", row[0], row[1])
					}
				}
				stable(t, path, before, receipt)
			})
		}
	}
}

// withoutMixture leaves out what SC017 says of adk-js.
func withoutMixture(told string) string {
	var lines []string
	for line := range strings.Lines(told) {
		if !strings.Contains(line, "SC017") || !strings.Contains(line, "as adk-js writes them") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// TestSharedSQLite reads a SQLite file to which adk-js and adk-python wrote, which neither
// of them can: adk-js's times are integers in the columns, too.
func TestSharedSQLite(t *testing.T) {
	path := created(t, adktest.P1, adktest.Script("interrupted"))
	execute(t, path, `update events set timestamp = cast(json_extract(event_data, '$.timestamp') * 1000 as integer),
		event_data = json_set(event_data, '$.timestamp', cast(json_extract(event_data, '$.timestamp') * 1000 as integer)) where rowid = 2`)
	plan, _, err := repairtest.Plan(path)
	if err != nil || plan == nil {
		t.Fatalf("it cannot be read: %v", err)
	}
	if text := told(plan); strings.Contains(text, "SC016") {
		t.Errorf("the same time in two units is told as two times:\n%s", text)
	}
}

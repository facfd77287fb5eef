package check_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// damagedLog is a database of another kind than docker agent's.
type damagedLog struct {
	rule, name string
	build      func(path string) error
	also       string // what the damage does besides
}

// damagedLogs are for rules about what docker agent does not store: events without
// a session of their own, values that are stored twice, what is archived.
var damagedLogs = []damagedLog{
	{rule: "SC016", name: "a message that its metadata say a compaction wrote", build: ofScript("healthy", func(db *springtest.DB) {
		db.Exec(`UPDATE ai_session_event SET metadata = '{"compactionSource":"mine"}' WHERE message_content = 'thanks'`)
	})},
	{rule: "SC016", name: "an invocation that differs from its column", build: func(path string) error {
		err := adktest.Create(path, adktest.P1, adktest.Script("agent-tool"))
		return errors.Join(err, execute(path, `UPDATE events SET invocation_id = 'e-another' WHERE rowid = 4`))
	}},
	{rule: "SC017", name: "an event of another version of adk-go", build: func(path string) error {
		err := adktest.Create(path, adktest.G2, adktest.Script("agent-tool"))
		return errors.Join(err, execute(path, `UPDATE events SET actions = '{"StateDelta":{}}' WHERE rowid = 4`))
	}},
	{rule: "SC018", name: "a message whose session was deleted", build: ofScript("healthy", func(db *springtest.DB) {
		db.Append("gone", springtest.User("hello?"))
	})},
	{rule: "SC018", name: "events of a user who has no such session", build: func(path string) error {
		err := adktest.Create(path, adktest.PS, adktest.Script("agent-tool"))
		return errors.Join(err, execute(path, `DELETE FROM sessions`))
	}},
	{rule: "SC022", name: "a compaction that deleted what it covers", build: ofOldTables(`UPDATE ai_session SET event_version = 41`)},
	{rule: "SC707", name: "eleven calls of one turn in one session", build: ofProgram(kagenttest.Script("collapsed-11")), also: "SC301"},
	{rule: "SC727", name: "one session id under two users", build: ofProgram(kagenttest.Script("mixed-users"))},
	{rule: "SC718", name: "two terminals in one session", build: func(path string) error {
		return adktest.Create(path, adktest.G1, twoTerminals())
	}},
	{rule: "SC725", name: "a response that came behind the summary", build: ofScript("G3", nothing), also: "SC301"},
	{rule: "SC726", name: "a message that came while a compaction ran", build: ofScript("G5", nothing), also: "SC015 SC301"},
}

// ofOldTables is the healthy session in tables of Spring AI Session 0.5, after a statement.
func ofOldTables(statement string) func(path string) error {
	return func(path string) error {
		err := springtest.FindScript("healthy").Build(path, springtest.Form{ByTime: true})
		return errors.Join(err, execute(path, statement))
	}
}

// twoTerminals are two runs of one session that write by turns.
func twoTerminals() adktest.Session {
	said := func(run, author, text string) adktest.Event {
		return adktest.Event{Invocation: run, Author: author, Parts: []adktest.Part{{Text: text}}}
	}
	return adktest.Session{ID: "two", Events: []adktest.Event{
		said("e-1", "user", "Are all pods up?"), said("e-1", "root", "I look."),
		said("e-2", "user", "Which nodes are full?"), said("e-1", "root", "All are up."),
		said("e-2", "root", "None is."), said("e-1", "root", "Anything else?"),
	}}
}

// ofProgram builds what kagent stores of a program.
func ofProgram(p kagenttest.Program) func(path string) error {
	return func(path string) error {
		_, err := p.Build(path, kagenttest.Forms["python"])
		return err
	}
}

// ofScript builds a script's session, and damages the database.
func ofScript(name string, damage func(*springtest.DB)) func(path string) error {
	return func(path string) error {
		db, err := springtest.Create(path, springtest.Form{})
		if err != nil {
			return err
		}
		db.Session("S")
		springtest.FindScript(name).Write(db)
		damage(db)
		return db.Close()
	}
}

func nothing(*springtest.DB) {}

func execute(path, statement string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	_, err = db.Exec(statement)
	return errors.Join(err, db.Close())
}

func TestADamagedLogHasExactlyItsFinding(t *testing.T) {
	for _, tc := range damagedLogs {
		t.Run(tc.rule+" "+tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			if err := tc.build(path); err != nil {
				t.Fatal(err)
			}
			want := append([]string{tc.rule}, strings.Fields(tc.also)...)
			slices.Sort(want)
			if got := idsOf(checkFile(t, path, store.Options{})); !slices.Equal(got, want) {
				t.Errorf("found %v, want %v", got, want)
			}
		})
	}
}

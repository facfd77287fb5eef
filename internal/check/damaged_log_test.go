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
		err := adktest.Create(path, adktest.P1, adktest.AgentTool())
		return errors.Join(err, execute(path, `UPDATE events SET invocation_id = 'e-another' WHERE rowid = 4`))
	}},
	{rule: "SC017", name: "an event of another version of adk-go", build: func(path string) error {
		err := adktest.Create(path, adktest.G2, adktest.AgentTool())
		return errors.Join(err, execute(path, `UPDATE events SET actions = '{"StateDelta":{}}' WHERE rowid = 4`))
	}},
	{rule: "SC018", name: "a message whose session was deleted", build: ofScript("healthy", func(db *springtest.DB) {
		db.Append("gone", springtest.User("hello?"))
	})},
	{rule: "SC018", name: "events of a user who has no such session", build: func(path string) error {
		err := adktest.Create(path, adktest.PS, adktest.AgentTool())
		return errors.Join(err, execute(path, `DELETE FROM sessions`))
	}},
	{rule: "SC725", name: "a response that came behind the summary", build: ofScript("G3", nothing), also: "SC301"},
	{rule: "SC726", name: "a message that came while a compaction ran", build: ofScript("G5", nothing), also: "SC015 SC301"},
}

// ofScript builds a script's session, and damages the database.
func ofScript(name string, damage func(*springtest.DB)) func(path string) error {
	return func(path string) error {
		db, err := springtest.Create(path, springtest.Form{})
		if err != nil {
			return err
		}
		db.Session("S")
		springtest.Find(name).Write(db)
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

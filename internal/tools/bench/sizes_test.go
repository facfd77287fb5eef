package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// million is how many sessions, or messages of one session, the largest stores have.
const million = 1_000_000

// sizeTables measure stores of many sessions and of one long one, each against what SQLite
// needs for as much.
func sizeTables(out io.Writer, sessctl, database string, rounds int) error {
	folder, err := os.MkdirTemp(filepath.Dir(database), "sizes-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "store.db")
	check, ls := []string{sessctl, "check", "--fail-on", "never", path}, []string{sessctl, "ls", path}
	for _, size := range []struct {
		name    string
		write   func(path string) error
		entries []entry
	}{
		{"ADK G2, a million sessions of one event", manySessions, []entry{
			{"sqlite3 sum(json_valid(content))", []string{"sqlite3", path, "select sum(json_valid(content)) from events"}},
			{"sessctl check", check}, {"sessctl ls", ls},
		}},
		{"docker agent, one session of a million messages", manyMessages, []entry{
			{"sqlite3 sum(json_valid(message_json))", []string{"sqlite3", path, "select sum(json_valid(message_json)) from session_items"}},
			{"sessctl check", check}, {"sessctl ls", ls}, {"sessctl view ID", []string{sessctl, "view", path, "-1"}},
		}},
	} {
		if err := size.write(path); err != nil {
			return err
		}
		heading := fmt.Sprintf("\n%s: ", size.name)
		if err := errors.Join(compare(out, heading, path, size.entries, rounds), os.Remove(path)); err != nil {
			return err
		}
	}
	return nil
}

func manySessions(path string) error {
	one := adktest.Session{ID: "talk", Events: []adktest.Event{{Author: "user", Invocation: "e-1", Parts: []adktest.Part{adktest.Text(question)}}}}
	if err := adktest.Create(path, adktest.G2, one); err != nil {
		return err
	}
	return execute(path, append(times("sessions", million, "id = id || nth"), times("events", million, "id = id || nth, session_id = session_id || nth")...))
}

func manyMessages(path string) error {
	db, err := agenttest.Create(path, bigGeneration)
	if err != nil {
		return err
	}
	s := db.Root(agenttest.SessionRow{Title: "long"})
	s.User(question)
	s.Assistant("root", agenttest.Message{Content: answer})
	if err := db.Close(); err != nil {
		return err
	}
	return execute(path, times("session_items", million/2, "id = id + 2 * nth, position = position + 2 * nth"))
}

// times are the statements that make of each row of a table as many, with what differs.
func times(table string, rows int, set string) []string {
	text := strings.NewReplacer("TABLE", table, "ROWS", fmt.Sprint(rows), "SET", set).Replace(
		`create temp table more_TABLE as with recursive numbers(nth) as (select 1 union all select nth + 1 from numbers where nth < ROWS - 1)
			select TABLE.*, nth from numbers, TABLE; update more_TABLE set SET; alter table more_TABLE drop column nth;
		insert into TABLE select * from more_TABLE; drop table more_TABLE`)
	return strings.Split(text, ";")
}

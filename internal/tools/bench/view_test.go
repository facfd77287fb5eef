package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// runs is how often the agents of the viewed session are asked something: four
// events each time.
const runs = 25_000

// viewTables measure what it costs to see one long session as one of its agents,
// against an export of it, for every store whose events have branches.
func viewTables(out io.Writer, sessctl, database string, rounds int) error {
	folder, err := os.MkdirTemp(filepath.Dir(database), "view-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	longs := []struct {
		name   string
		events int
		make   func(path string) error
	}{
		{"ADK P1", 4 * runs, func(path string) error { return adktest.Create(path, adktest.P1, longADK()) }},
		{"ADK G2", 4 * runs, func(path string) error { return adktest.Create(path, adktest.G2, longADK()) }},
		{"Spring AI Session", 4 * runs, longSpring},
		{"ADK P1, a branch for every second event", 4_000, func(path string) error { return adktest.Create(path, adktest.P1, wideADK()) }},
	}
	for _, long := range longs {
		path := filepath.Join(folder, "long.db")
		if err := long.make(path); err != nil {
			return err
		}
		view := []string{sessctl, "view", path, "long", "--branch", "par.writer"}
		entries := []entry{
			{"sessctl export", []string{sessctl, "export", path}},
			{"sessctl view --branch", view},
			{"sessctl view --branch --format json", append(view[:len(view):len(view)], "--format", "json")},
			{"sessctl view --all", []string{sessctl, "view", path, "long", "--all"}},
			{"sessctl view --all --format json", []string{sessctl, "view", path, "long", "--all", "--format", "json"}},
		}
		heading := fmt.Sprintf("\n%s, one session of %d events: ", long.name, long.events)
		if err := errors.Join(compare(out, heading, path, entries, rounds), os.Remove(path)); err != nil {
			return err
		}
	}
	return nil
}

// What the agents of a long session are asked and say.
const (
	question = "What is the state of order 4711, and who has seen it last?"
	answer   = "It left the warehouse on Monday; nobody has touched it since."
)

func longADK() adktest.Session {
	s := adktest.Session{ID: "long"}
	for i := range runs {
		run, id := fmt.Sprintf("e-%d", i), fmt.Sprintf("adk-%d", i)
		s.Events = append(s.Events,
			adktest.Event{Author: "user", Invocation: run, Parts: []adktest.Part{adktest.Text(question)}},
			adktest.Event{Author: "reader", Invocation: run, Branch: "par.reader", Parts: []adktest.Part{adktest.Calls(id, "look", `{"order":4711}`)}},
			adktest.Event{Author: "reader", Invocation: run, Branch: "par.reader", Parts: []adktest.Part{adktest.Answers(id, "look", `{"result":"It left."}`)}},
			adktest.Event{Author: "writer", Invocation: run, Branch: "par.writer", Parts: []adktest.Part{adktest.Text(answer)}})
	}
	return s
}

// wideADK are 2,000 agents, each on a branch of its own.
func wideADK() adktest.Session {
	s := adktest.Session{ID: "long"}
	for i := range 2_000 {
		name := fmt.Sprintf("agent_%d", i)
		s.Events = append(s.Events,
			adktest.Event{Author: "user", Invocation: "e-1", Parts: []adktest.Part{adktest.Text(question)}},
			adktest.Event{Author: name, Invocation: "e-1", Branch: "par." + name, Parts: []adktest.Part{adktest.Text(answer)}})
	}
	return s
}

func longSpring(path string) error {
	db, err := springtest.Create(path, springtest.Form{})
	if err != nil {
		return err
	}
	db.Exec("BEGIN")
	db.Session("long")
	for i := range runs {
		id := fmt.Sprintf("call-%d", i)
		db.Append("long", springtest.User(question), springtest.Calling(id).On("par.reader"), springtest.Responding(id).On("par.reader"),
			springtest.Assistant(answer).On("par.writer"))
	}
	db.Exec("COMMIT")
	return db.Close()
}

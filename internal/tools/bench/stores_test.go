package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// talks is how many conversations an event store of the measurements has, each of
// fifty events: 250,000 in all.
const talks = 5000

// eventStores are the stores that keep one event in a row, with the text of SQL that
// tests whether what the events say is JSON: what any reader has to do at least.
var eventStores = []struct {
	name  string
	write func(path string, w *talker) error
	valid string
}{
	{"ADK P1", talkADK(adktest.P1), "select sum(json_valid(event_data)) from events"},
	{"ADK G2", talkADK(adktest.G2), "select sum(json_valid(content)) from events"},
	{"kagent", talkKagent, "select sum(json_valid(data)) from event"},
	{"Spring AI Session", talkSpring, "select sum(json_valid(coalesce(message_data, json_quote(message_content)))) from ai_session_event"},
}

// storeTables measure a check of every event store against SQLite's own test of the
// same JSON.
func storeTables(out io.Writer, sessctl, database string, rounds int) error {
	folder, err := os.MkdirTemp(filepath.Dir(database), "stores-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for n, s := range eventStores {
		path := filepath.Join(folder, fmt.Sprint(n, ".db"))
		if err := s.write(path, newTalker()); err != nil {
			return err
		}
		entries := []entry{
			{"sqlite3 sum(json_valid(…))", []string{"sqlite3", path, s.valid}},
			{"sessctl check", []string{sessctl, "check", "--fail-on", "never", path}},
			{"sessctl ls", []string{sessctl, "ls", path}},
		}
		heading := fmt.Sprintf("\n%s, %d conversations: ", s.name, talks)
		if err := compare(out, heading, path, entries, rounds); err != nil {
			return err
		}
	}
	return nil
}

// talker draws what is said in the conversations of an event store.
type talker struct {
	rng  *rand.Rand
	text *source
	last int
}

func newTalker() *talker { return &talker{rng: rand.New(rand.NewPCG(1, 0x7a1c)), text: newSource(1)} }

// jsonText is a value as JSON.
func jsonText(value any) string {
	text, _ := json.Marshal(value) // texts never fail
	return string(text)
}

// turns is how often the user asks something; each time there are four calls with their
// results.
const turns = 5

func (t *talker) say() string {
	return t.text.cut(60 + int(600*t.rng.ExpFloat64()))
}

func (t *talker) id(form string) string {
	t.last++
	return fmt.Sprintf(form, uint64(t.last)*0x9e3779b97f4a7c15)
}

func talkADK(g adktest.Generation) func(string, *talker) error {
	return func(path string, t *talker) error {
		sessions := make([]adktest.Session, talks)
		for n := range sessions {
			s := adktest.Session{ID: fmt.Sprint("talk-", n)}
			for range turns {
				run := t.id("e-%016x")
				add := func(author string, parts ...adktest.Part) {
					s.Events = append(s.Events, adktest.Event{Author: author, Invocation: run, Parts: parts})
				}
				add("user", adktest.Text(t.say()))
				for range 4 {
					id := t.id("adk-%016x")
					add("root", adktest.Text(t.text.cut(80)), adktest.Calls(id, "shell", jsonText(map[string]string{"cmd": t.text.title(t.rng), "content": t.say()})))
					add("root", adktest.Answers(id, "shell", jsonText(map[string]string{"result": t.say()})))
				}
				add("root", adktest.Text(t.say()))
			}
			sessions[n] = s
		}
		return adktest.Create(path, g, sessions...)
	}
}

func talkKagent(path string, t *talker) error {
	p := kagenttest.Program{Name: "bench"}
	for range talks / 4 { // its documents are four times as long: they name what they lack
		c := kagenttest.Conversation{}
		for range turns {
			turn := kagenttest.Turn{Ask: t.say(), Answer: t.say()}
			for range 4 {
				turn.Work = append(turn.Work, []kagenttest.Call{{Tool: "shell", Answer: t.say()}})
			}
			c.Turns = append(c.Turns, turn)
		}
		p.Conversations = append(p.Conversations, c)
	}
	_, err := p.Build(path, kagenttest.Form{Generation: kagenttest.Current, Dialect: kagenttest.Python, Times: kagenttest.GORM})
	return err
}

func talkSpring(path string, t *talker) error {
	db, err := springtest.Create(path, springtest.Form{})
	if err != nil {
		return err
	}
	db.Exec("BEGIN")
	for n := range talks {
		id := fmt.Sprint("talk-", n)
		db.Session(id)
		for range turns {
			db.Append(id, springtest.User(t.say()))
			for range 4 {
				call := t.id("call_%016x")
				args := jsonText(map[string]string{"cmd": t.text.title(t.rng), "content": t.say()})
				db.Append(id,
					springtest.Event{Type: "ASSISTANT", NoText: true, Calls: []springtest.Call{{ID: call, Type: "function", Name: "shell", Arguments: args}}},
					springtest.Event{Type: "TOOL", Responses: []springtest.Response{{ID: call, Name: "shell", Data: jsonText(t.say())}}})
			}
			db.Append(id, springtest.Assistant(t.say()))
		}
	}
	db.Exec("COMMIT")
	return db.Close()
}

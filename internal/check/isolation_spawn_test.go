package check_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// spawning are the rules about what goes into a child and what comes back.
var spawning = []string{"SC801", "SC802", "SC803", "SC804", "SC805", "SC806"}

// budget is what a parent said, long enough to be found in a prompt.
const budget = "The budget is nine hundred for the four of us, of which the flight takes more than a half, " +
	"so that the hotel must not cost more than eighty a night, and the owner of the hotel is not to learn of any of this " +
	"before the room has been confirmed in writing."

// helps adds a delegation to worker with its child, and the answer that comes back.
func (d *team) helps(task, answer string, say func(*agenttest.Session)) {
	d.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.Transfer("t1", "worker", task, "")}})
	child := d.root.Child(agenttest.SessionRow{Title: "Transferred task"})
	say(child)
	d.root.SubSession(child)
	d.root.Result("root", "t1", answer)
	d.root.Assistant("root", agenttest.Message{Content: "Done."})
}

// looks is a call with its result.
func looks(s *agenttest.Session, agent, id string) {
	s.Assistant(agent, agenttest.Message{Content: "I look.", ToolCalls: []agenttest.ToolCall{agenttest.CallTool(id, "shell", `{"cmd":"ls"}`)}})
	s.Result(agent, id, "a.txt b.txt")
}

func TestSpawnsInDockerAgentDatabases(t *testing.T) {
	// told is a child that gets its task, and says what say makes it say.
	told := func(say func(*agenttest.Session)) func(*agenttest.Session) {
		return func(s *agenttest.Session) {
			s.Prologue("Find a hotel.", "")
			say(s)
			s.Assistant("worker", agenttest.Message{Content: "Hotel Post"})
		}
	}
	silent := func(*agenttest.Session) {}
	for name, tc := range map[string]struct {
		write func(*team)
		want  string
	}{
		"a hotel": {func(d *team) { d.helps("Find a hotel.", "Hotel Post", told(silent)) }, ""},
		"two messages for the child": {func(d *team) {
			d.helps("Find a hotel.", "Hotel Post", told(func(s *agenttest.Session) {
				s.User("The user is called Ann.")
				s.User("She has a dog.")
			}))
		}, "SC801"},
		"an answer of the parent": {func(d *team) {
			d.root.Assistant("root", agenttest.Message{Content: "I plan."})
			d.root.User("Go on")
			d.helps("Find a hotel.", "Hotel Post", told(func(s *agenttest.Session) {
				s.Assistant("root", agenttest.Message{Content: "I plan."})
			}))
		}, "SC801"},
		"a passage of the parent": {func(d *team) {
			d.root.Assistant("root", agenttest.Message{Content: budget})
			d.root.User("Go on")
			d.helps("Find a hotel.", "Hotel Post", told(func(s *agenttest.Session) { s.User("What was said: " + budget) }))
		}, "SC801"},
		"the passage is the goal": {func(d *team) {
			d.root.Assistant("root", agenttest.Message{Content: budget})
			d.root.User("Go on")
			d.helps(budget, "Hotel Post", func(s *agenttest.Session) {
				s.Prologue(budget, "")
				s.Assistant("worker", agenttest.Message{Content: "Hotel Post"})
			})
		}, ""},
		"another goal": {func(d *team) { d.helps("Find a flight.", "Hotel Post", told(silent)) }, "SC802"},
		"steps from before the call": {func(d *team) {
			child := d.root.Child(agenttest.SessionRow{Title: "Transferred task"})
			child.Prologue("Find a hotel.", "")
			looks(child, "worker", "w1")
			d.Wait(time.Minute)
			d.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.Transfer("t1", "worker", "Find a hotel.", "")}})
			child.Assistant("worker", agenttest.Message{Content: "Hotel Post"})
			d.root.SubSession(child)
			d.root.Result("root", "t1", "Hotel Post")
		}, "SC803"},
		"steps of the parent": {func(d *team) {
			looks(d.root, "root", "r1")
			d.helps("Find a hotel.", "Hotel Post", told(func(s *agenttest.Session) { looks(s, "root", "r1") }))
		}, "SC804"},
		"the same steps of its own": {func(d *team) {
			looks(d.root, "root", "r1")
			d.helps("Find a hotel.", "Hotel Post", told(func(s *agenttest.Session) { looks(s, "worker", "r1") }))
		}, ""},
		"a list of steps in the result": {func(d *team) {
			d.helps("Find a hotel.", `{"result":"Hotel Post","steps":[{"tool":"shell"}]}`, told(silent))
		}, "SC805"},
		"the answer in an object": {func(d *team) { d.helps("Find a hotel.", `{"result":"Hotel Post"}`, told(silent)) }, ""},
		"no output of a child without an answer": {func(d *team) {
			d.helps("Find a hotel.", "(no output)", func(s *agenttest.Session) { s.Prologue("Find a hotel.", "") })
		}, ""},
		"a child without a call": {func(d *team) {
			d.root.Assistant("root", agenttest.Message{Content: "I plan."})
			child := d.root.Child(agenttest.SessionRow{Title: "Transferred task"})
			told(silent)(child)
			d.root.SubSession(child)
		}, "SC806"},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), 29)
			if err != nil {
				t.Fatal(err)
			}
			d := &team{db, db.Root(agenttest.SessionRow{Title: "Book the trip"})}
			d.root.User("Book the trip")
			tc.write(d)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(isolated(t, db.Path, spawning...), ", "); got != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

// TestSpawnsInStreams: the same in the canonical form, as a runtime with background
// agents and children that begin with a message of the user.
func TestSpawnsInStreams(t *testing.T) {
	const (
		head   = `{"type":"header","format":"sessctl.canonical/1","kind":"my-runtime","writer":"dead"}`
		parent = `{"type":"session","id":"P","agent":"root"}`
		child  = `{"type":"session","id":"C","parent":"P","agent":"worker"}`
	)
	says := func(session, role, agent, text string) string {
		return fmt.Sprintf(`{"type":"item","session":%q,"kind":"message","role":%q,"agent":%q,"text":%q}`, session, role, agent, text)
	}
	calls := func(session, agent, id, tool, args string) string {
		return fmt.Sprintf(`{"type":"item","session":%q,"kind":"message","role":"assistant","agent":%q,"calls":[{"id":%q,"name":%q,"args":%q}]}`, session, agent, id, tool, args)
	}
	answers := func(session, agent, id, text string) string {
		return fmt.Sprintf(`{"type":"item","session":%q,"kind":"message","role":"tool","agent":%q,"results":[{"call":%q,"text":%q}]}`, session, agent, id, text)
	}
	const refers = `{"type":"item","session":"P","kind":"sub_session","child":"C"}`
	// asked is a parent that says some things, asks a worker and gets an answer, and
	// the worker's session.
	asked := func(before []string, prompt []string, answer string) []string {
		lines := append([]string{parent, says("P", "user", "", "Book the trip")}, before...)
		lines = append(lines, calls("P", "root", "T1", "transfer_task", `{"agent":"worker","task":"Find a hotel."}`), refers, answers("P", "root", "T1", answer))
		return slices.Concat(lines, []string{child}, prompt, []string{says("C", "assistant", "worker", "Hotel Post")})
	}
	goal := says("C", "user", "", "Find a hotel.")
	step := func(session string) []string {
		return []string{calls(session, "root", "r1", "shell", `{"cmd":"ls"}`), answers(session, "root", "r1", "a.txt b.txt")}
	}
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"a hotel":                     {asked(nil, []string{goal}, "Hotel Post"), ""},
		"the question passed on":      {asked(nil, []string{says("C", "user", "", "Book the trip")}, "Hotel Post"), "SC802"},
		"context in front of it":      {asked(nil, []string{says("C", "user", "", "Ann has a dog."), goal}, "Hotel Post"), "SC801"},
		"a passage behind it":         {asked([]string{says("P", "assistant", "root", budget), says("P", "user", "", "Go on")}, []string{says("C", "user", "", "Find a hotel. "+budget)}, "Hotel Post"), "SC801"},
		"the goal behind a label":     {asked(nil, []string{says("C", "user", "", "Your task: Find a hotel.")}, "Hotel Post"), ""},
		"a goal that was cut off":     {asked(nil, []string{says("C", "user", "", "Find a")}, "Hotel Post"), "SC802"},
		"steps of the parent":         {asked(step("P"), append([]string{goal}, step("C")...), "Hotel Post"), "SC804"},
		"a result that was not its":   {asked(nil, []string{goal, answers("C", "worker", "x7", "a.txt")}, "Hotel Post"), "SC803"},
		"its messages in the result":  {asked(nil, []string{goal}, `[{"role":"user","content":"Find a hotel."}]`), "SC805"},
		"an error for an answer":      {asked(nil, []string{goal}, "Error: the model is not available"), ""},
		"a sub-session without calls": {[]string{parent, says("P", "user", "", "Book the trip"), refers, child, goal}, "SC806"},
		"steps of a background agent": {[]string{
			parent, says("P", "user", "", "Book the trip"),
			calls("P", "root", "B1", "run_background_agent", `{"agent":"worker","task":"Find a hotel."}`), answers("P", "root", "B1", "started"), refers,
			says("P", "assistant", "worker", "I look."), says("P", "assistant", "root", "It runs."),
			child, goal, says("C", "assistant", "worker", "I look."),
		}, "SC805"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "stream.ndjson")
			if err := os.WriteFile(path, []byte(strings.Join(append([]string{head}, tc.lines...), "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(isolated(t, path, spawning...), ", "); got != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

// TestSpawnsInKagentDatabases: eleven calls, each with a session of its own, of which
// one was asked for something else than its call says, or was given more.
func TestSpawnsInKagentDatabases(t *testing.T) {
	for name, tc := range map[string]struct{ update, want string }{
		"a request for each":       {"", ""},
		"another request":          {`UPDATE event SET data = replace(data, 'Check the pods of cluster eu-2', 'Delete the pods') WHERE session_id = (%s)`, "SC802"},
		"the request in a message": {`UPDATE event SET data = replace(data, 'Check the pods of cluster eu-2', 'Your task: Check the pods of cluster eu-2') WHERE session_id = (%s)`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kagent.db")
			if _, err := kagenttest.Script("isolated").Build(path, kagenttest.Forms["python"]); err != nil {
				t.Fatal(err)
			}
			if tc.update != "" {
				const worker = `SELECT s.id FROM session s JOIN event e ON e.session_id = s.id
					WHERE s.source = 'agent' AND e.data LIKE '%cluster eu-2%' LIMIT 1`
				if changed := changeFile(t, path, fmt.Sprintf(tc.update, worker)); changed == 0 {
					t.Fatal("nothing was changed")
				}
			}
			if got := strings.Join(isolated(t, path, spawning...), ", "); got != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

// changeFile changes rows of a database, and counts them.
func changeFile(t *testing.T, path, statement string) int64 {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	result, err := db.Exec(statement)
	if err != nil {
		t.Fatal(errors.Join(err, db.Close()))
	}
	changed, err := result.RowsAffected()
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return changed
}

// TestSpawnsOfRecordedDatabases: what docker agent wrote without the leak, and with it
// once it is repaired, passes goals and results alone. In same-agent-twice two
// siblings have the same task and the same records.
func TestSpawnsOfRecordedDatabases(t *testing.T) {
	needCorpus(t)
	for _, name := range scripts {
		wantNoSpawns(t, fromCorpus(t, "fixed/"+name+".db"))
		leaky := fromCorpus(t, "leaky/"+name+".db")
		wantNoSpawns(t, leaky)
		if _, _, err := repairtest.Repair(leaky); err != nil {
			t.Fatal(err)
		}
		wantNoSpawns(t, leaky)
	}
}

// wantNoSpawns expects nothing of the rules about spawns, texts loaded.
func wantNoSpawns(t *testing.T, path string) {
	t.Helper()
	if got := isolated(t, path, spawning...); len(got) > 0 {
		t.Errorf("found %v", got)
	}
}

func TestSpawnsOfHealthyRandomStores(t *testing.T) {
	campaign.ShowsNoRace(t)
	eachHealthyStore(t, wantNoSpawns)
}

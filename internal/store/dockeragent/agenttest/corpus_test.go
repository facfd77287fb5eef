package agenttest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// corpusDir holds databases that the runtime itself wrote, next to the module.
const corpusDir = "../../../../../shared/corpus/docker-agent"

// usage is what the corpus' scripted model reports with its last answers.
var usage = &Usage{InputTokens: 10, OutputTokens: 5}

func shell(id, cmd string) Call {
	args := string(encodeJSON(map[string]string{"cmd": cmd}))
	return Call{ID: id, Tool: "shell", Args: args, Output: "output of " + args}
}

func delegate(id, agent, task string, steps ...Step) Call {
	return Call{ID: id, Task: &Task{Agent: agent, Text: task, ExpectedOutput: "text", Steps: steps}}
}

func says(text string, calls ...Call) Step {
	s := Step{Text: text, Calls: calls}
	if len(calls) == 0 {
		s.Usage = usage
	}
	return s
}

func script(user string, steps ...Step) []Turn { return []Turn{{User: user, Steps: steps}} }

var (
	alphaTwice = []Step{says("alpha says", shell("a1", "a")), says("alpha done")}
	failing    = map[string]string{"worker": "test/err"}
)

// corpusPrograms are the scripts behind leaky/NAME.db and fixed/NAME.db.
var corpusPrograms = map[string]Program{
	"clean": {Turns: script("list files", says("let me look", shell("r1", "ls")), says("There."))},
	"single": {Turns: script("please delegate",
		says("", delegate("r1", "worker", "do it", says("doing work...", shell("w1", "ls")), says("all done"))),
		says("The worker finished."))},
	"notext": {Turns: script("please delegate",
		says("I'll delegate.", delegate("r1", "worker", "do it",
			says("", shell("w1", "ls")),
			says("", Call{ID: "w2", Tool: "boom", Args: "{}", Output: "boom failed", IsError: true}),
			says("all done"))),
		says("The worker finished."))},
	"nested": {Turns: append(script("please delegate",
		says("I'll delegate.", delegate("r1", "worker", "do it",
			says("worker delegates", delegate("w1", "grand", "sub task",
				Step{Text: "grand text", Reasoning: "hmm", Calls: []Call{shell("g1", "pwd")}},
				says("grand done"))),
			says("worker done"))),
		says("Finished.")), script("thanks", says("You're welcome"))...)},
	"two-transfers": {Turns: script("please delegate",
		says("both",
			delegate("r1", "alpha", "A", alphaTwice...),
			delegate("r2", "beta", "B", says("beta says", shell("b1", "b"), shell("b2", "b2")), says("beta done"))),
		says("Finished."))},
	"same-agent-twice": {Turns: script("please delegate",
		says("first", delegate("r1", "alpha", "A", alphaTwice...)),
		says("again", delegate("r2", "alpha", "A", alphaTwice...)),
		says("Finished."))},
	"handoff-transfer": {Turns: script("please delegate",
		says("handing", Call{ID: "r1", To: "beta"}),
		says("beta here", delegate("b1", "alpha", "A", says("alpha text", shell("a1", "a")), says("alpha done"))),
		says("beta final"))},
	"err-child": {Models: failing, Turns: script("please delegate",
		says("I'll delegate.", delegate("r1", "worker", "do it",
			says("starting", shell("w1", "ls")), Step{End: Failed, Error: "all models failed: boom 400"})),
		says("It failed."))},
	"kill-child": {Models: failing, Turns: script("please delegate",
		says("I'll delegate.", delegate("r1", "worker", "do it",
			says("starting", shell("w1", "ls")), Step{End: Killed, Text: "partial answer that never"})))},
}

// TestCorpus writes each program as both generations of the runtime and
// compares whole databases with what the runtime wrote, but for ids and times.
func TestCorpus(t *testing.T) {
	if _, err := os.Stat(corpusDir); err != nil {
		t.Skip("the corpus of recorded databases is not next to the module")
	}
	writers := []struct {
		name       string
		generation int
		write      func(*DB, Program) (Written, error)
	}{{"leaky", 18, WriteLeaky}, {"fixed", 19, WriteFixed}}
	for name, program := range corpusPrograms {
		program.Title = name
		for _, w := range writers {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				db := create(t, w.generation)
				if _, err := w.write(db, program); err != nil {
					t.Fatal(err)
				}
				closed(t, db)
				recorded := copyDB(t, filepath.Join(corpusDir, w.name, name+".db"))
				if diff := cmp.Diff(dump(t, recorded), dump(t, db.Path)); diff != "" {
					t.Errorf("recorded (-), written (+):\n%s", diff)
				}
			})
		}
	}
}

// otherPrograms are scripts like those behind other/NAME.db.
var otherPrograms = map[string]Program{
	"cancel-during-tool": {Turns: script("please",
		says("running two", Call{ID: "c1", Tool: "shell", Args: "{}", Killed: true}, Call{ID: "c2", Tool: "shell", Args: "{}"}))},
	"stream-error-after-text": {Turns: script("please", Step{Text: "partial answ", End: Failed})},
	"reasoning-only-child": {Turns: script("please",
		says("", Call{ID: "call_t", Task: &Task{Agent: "worker", Text: "do", ExpectedOutput: "x", Steps: []Step{{Reasoning: "hm"}}}}),
		says("root done"))},
	"compaction-in-child": {Turns: script("please",
		says("", Call{ID: "call_t", Task: &Task{Agent: "worker", Text: "do", ExpectedOutput: "x", Steps: []Step{
			{Text: "worker step 1", Calls: []Call{okShell("c1")}, Summary: "SUMMARY OF WORKER"},
			{Calls: []Call{okShell("c2")}},
			says("worker done"),
		}}}),
		says("root done"))},
}

func okShell(id string) Call { return Call{ID: id, Tool: "shell", Args: "{}", Output: "ok-shell"} }

// TestCorpusOther compares the shapes only: the recorded models reported other
// usage, and their tools had other definitions.
func TestCorpusOther(t *testing.T) {
	if _, err := os.Stat(corpusDir); err != nil {
		t.Skip("the corpus of recorded databases is not next to the module")
	}
	for name, program := range otherPrograms {
		program.Title = "T"
		t.Run(name, func(t *testing.T) {
			db := create(t, 18)
			if _, err := WriteLeaky(db, program); err != nil {
				t.Fatal(err)
			}
			closed(t, db)
			recorded := copyDB(t, filepath.Join(corpusDir, "other", name+".db"))
			if diff := cmp.Diff(shapeOf(t, recorded), shapeOf(t, db.Path)); diff != "" {
				t.Errorf("recorded (-), written (+):\n%s", diff)
			}
			if diff := cmp.Diff(rowOrder(t, recorded), rowOrder(t, db.Path)); diff != "" {
				t.Errorf("row order, recorded (-), written (+):\n%s", diff)
			}
		})
	}
}

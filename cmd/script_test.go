package cmd_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/docs"
	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/schematest"
)

var update = flag.Bool("update", false, "write what the program prints into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sessctl": func() { os.Exit(cmd.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) },
		"holder":  holder,
	})
}

// TestScripts runs testdata/script: each script is a user at a prompt. Besides
// testscript's own commands there are
//
//	exits CODE PROGRAM ARGS…  runs a program that must end with exactly this code. sessctl
//	                          runs within the test, which is far quicker; exec sessctl
//	                          starts it
//	input FILE                is what sessctl reads next, run by exits
//	steady FILE               writes the last stdout to FILE without times and versions
//	store NAME FILE [EVENTS]  builds a docker agent database (stores_test.go), and the
//	                          recording of its last run: server-sent events in a .sse;
//	                          kagent/NAME builds one of kagent, adk/NAME one of ADK
//	sql FILE STATEMENT        changes a database as another program would
//	lock FILE, hold FILE      keeps a database locked, or just open; from here on, exits
//	                          starts sessctl: only other processes are kept out
//
// and the condition hangups: SIGHUP ends programs.
func TestScripts(t *testing.T) {
	campaign.ShowsNoRace(t)
	scripts := newScriptRunner(t)
	testscript.RunT(inTurn{t}, testscript.Params{
		Dir:                 scripts.folder,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("TZ", "UTC")
			env.Setenv("COLUMNS", "80")
			env.Values[scripts] = &script{}
			return os.Mkdir(env.WorkDir+"/home", 0o700)
		},
		Condition: func(name string) (bool, error) {
			if name != "hangups" { // which nohup lets every program below it ignore
				return false, fmt.Errorf("no condition is called %q", name)
			}
			return !signal.Ignored(syscall.SIGHUP), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scripts.exits, "input": scripts.input, "steady": steady, "store": buildStore, "sql": runSQL,
			"lock": scripts.keeping("PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE"), // against every reader
			"hold": scripts.keeping("PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE"),    // as a runtime that waits for its user
		},
	})
	schemas, err := docs.Schemas.ReadDir("schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range schemas {
		all := !strings.Contains(flag.Lookup("test.run").Value.String(), "/")
		if name := strings.TrimSuffix(file.Name(), ".json"); all && scripts.valid[name] == 0 {
			t.Errorf("no script prints a %s, so that nothing is held against its schema", name)
		}
	}
}

// inTurn runs scripts one after another: the folder and the environment of sessctl are
// those of the test's process.
type inTurn struct{ *testing.T }

func (inTurn) Parallel()     {}
func (inTurn) Verbose() bool { return testing.Verbose() }
func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}

// scriptRunner runs sessctl within the test.
type scriptRunner struct {
	folder    string         // of the scripts
	variables []string       // of the environment: those that there are, and those that a script sets
	valid     map[string]int // what was held against a schema, by its name
}

// script is the state of one script.
type script struct {
	input     string
	processes bool // to start sessctl, not to run it within the test
}

// newScriptRunner puts back the folder, the environment and the time zone when the test ends.
func newScriptRunner(t *testing.T) *scriptRunner {
	t.Helper()
	folder, err := filepath.Abs("../testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	settings := os.Environ()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range regexp.MustCompile(`(?m)^env (.*)$`).FindAllStringSubmatch(string(text), -1) {
			settings = append(settings, strings.Fields(set[1])...)
		}
	}
	r := &scriptRunner{folder: folder, valid: map[string]int{}, variables: []string{"HOME", "TZ", "COLUMNS", "TMPDIR"}}
	for _, setting := range settings {
		name, _, _ := strings.Cut(setting, "=")
		r.variables = append(r.variables, name)
	}
	slices.Sort(r.variables)
	r.variables = slices.Compact(r.variables)

	t.Chdir(".")
	for _, name := range r.variables {
		t.Setenv(name, os.Getenv(name))
	}
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	return r
}

// stateOf is the state of a script.
func (r *scriptRunner) stateOf(ts *testscript.TestScript) *script { return ts.Value(r).(*script) }

func (r *scriptRunner) input(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: input FILE")
	}
	r.stateOf(ts).input = ts.ReadFile(args[0])
}

func (r *scriptRunner) exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	code, s := 0, r.stateOf(ts)
	if s.processes && s.input != "" {
		ts.Fatalf("input is only for a sessctl that runs within the test: put it before lock and hold, or use stdin")
	}
	if args[1] == "sessctl" && !s.processes {
		code = r.sessctl(ts, args[2:])
	} else if err := ts.Exec(args[1], args[2:]...); err != nil {
		failed, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = failed.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// sessctl runs the program within the test, in the folder and the environment of the script.
func (r *scriptRunner) sessctl(ts *testscript.TestScript, args []string) (code int) {
	ts.Check(os.Chdir(ts.MkAbs(".")))
	for _, name := range r.variables {
		if value := ts.Getenv(name); value != "" {
			ts.Check(os.Setenv(name, value))
		} else {
			ts.Check(os.Unsetenv(name))
		}
	}
	s := r.stateOf(ts)
	in := strings.NewReader(s.input)
	s.input = ""
	before := jsonFiles(ts)
	var out, said bytes.Buffer
	code = cmd.Main(args, in, io.MultiWriter(ts.Stdout(), &out), io.MultiWriter(ts.Stderr(), &said), ts.Getenv)
	r.validateText(ts, "stdout", out.Bytes())
	r.validateText(ts, "stderr", said.Bytes())
	for file, text := range jsonFiles(ts) {
		if text != before[file] {
			r.validateText(ts, file, []byte(text))
		}
	}
	return code
}

// validateText holds what sessctl wrote against its schema, if it is JSON.
func (r *scriptRunner) validateText(ts *testscript.TestScript, where string, text []byte) {
	name, err := schematest.ValidateOutput(text)
	if err != nil {
		ts.Fatalf("%s is no %s: %v", where, name, err)
	}
	r.valid[name]++
}

// jsonFiles are the files of a script that can be JSON.
func jsonFiles(ts *testscript.TestScript) map[string]string {
	files := map[string]string{}
	_ = filepath.WalkDir(ts.Getenv("WORK"), func(file string, entry fs.DirEntry, err error) error { // some folders cannot be read
		if err == nil && entry.Type().IsRegular() && strings.HasPrefix(filepath.Ext(file), ".json") {
			text, _ := os.ReadFile(file)
			files[file] = string(text)
		}
		return nil
	})
	return files
}

// keeping is the command that keeps a database open, after these statements, from this
// process until the script ends.
func (r *scriptRunner) keeping(statements ...string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		r.stateOf(ts).processes = true
		keep(ts, args, statements...)
	}
}

// unsteady is what differs from run to run, and what stands for it.
var unsteady = []struct {
	pattern *regexp.Regexp
	steady  string
}{
	{regexp.MustCompile(`\bin(\s+)\d+\.\d s`), "in${1}0.0 s"},
	{regexp.MustCompile(`"seconds":( ?)[0-9.e-]+`), `"seconds":${1}0`},
	{regexp.MustCompile(`"version":( ?)"[^"]*"`), `"version":${1}"0.0.0"`},
}

func steady(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: steady FILE")
	}
	text := ts.ReadFile("stdout")
	for _, u := range unsteady {
		text = u.pattern.ReplaceAllString(text, u.steady)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

package cmd_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/campaign"
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
//	exits CODE PROGRAM ARGS…  runs a program that must end with exactly this code
//	steady FILE               writes the last stdout to FILE without times and versions
//	store NAME FILE [EVENTS]  builds a docker agent database (stores_test.go), and the
//	                          recording of its last run: server-sent events in a .sse;
//	                          kagent/NAME builds one of kagent, adk/NAME one of ADK
//	sql FILE STATEMENT        changes a database as another program would
//	lock FILE, hold FILE      keeps a database locked, or just open
//
// and the condition hangups: SIGHUP ends programs.
func TestScripts(t *testing.T) {
	campaign.ShowsNoRace(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("TZ", "UTC")
			env.Setenv("COLUMNS", "80")
			return os.Mkdir(env.WorkDir+"/home", 0o700)
		},
		Condition: func(name string) (bool, error) {
			if name != "hangups" { // which nohup lets every program below it ignore
				return false, fmt.Errorf("no condition is called %q", name)
			}
			return !signal.Ignored(syscall.SIGHUP), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "steady": steady, "store": buildStore, "sql": runSQL, "lock": lock, "hold": hold,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
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

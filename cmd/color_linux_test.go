package cmd_test

import (
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// TestColorAtATerminal: there is colour, unless NO_COLOR has any value or the terminal is dumb.
// The terminal controls no session: Linux throws away what nobody has read yet when the first
// process of one ends.
func TestColorAtATerminal(t *testing.T) {
	campaign.ShowsNoRace(t)
	path := filepath.Join(t.TempDir(), "session.db")
	buildDB(t, path, func(db *agenttest.DB) error {
		_, err := agenttest.WriteLeaky(db, delegation("t"))
		return err
	})
	for env, want := range map[string]string{
		"TERM=xterm":              "\x1b[1;31merror\x1b[m \x1b[1mSC701\x1b[m",
		"TERM=xterm NO_COLOR=yes": "error SC701",
		"TERM=dumb":               "error SC701",
	} {
		person, program := pseudoTerminal(t)
		c := exec.Command("sessctl", "check", path)
		c.Stdin, c.Stdout, c.Env = program, program, strings.Fields(env)
		shown := make(chan string)
		go func() {
			all, _ := io.ReadAll(person) // until the program's end is closed, which is an error
			shown <- string(all)
		}()
		_ = c.Run()
		_ = program.Close()
		if got := <-shown; c.ProcessState.ExitCode() != 1 || !strings.Contains(got, want) || strings.Contains(want, "\x1b") != strings.Contains(got, "\x1b") {
			t.Errorf("%s: code %d\n%q", env, c.ProcessState.ExitCode(), got)
		} else if strings.Contains(got, "sessctl browse "+path) != strings.HasPrefix(env, "TERM=xterm") { // where it can be shown
			t.Errorf("%s: %q", env, got)
		}
	}
}

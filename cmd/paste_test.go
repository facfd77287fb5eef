package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// hostile are names that a shell or a parser of flags makes something else of.
var hostile = []string{
	"--config=/etc/passwd-55", "-1", "-", "--", "two  spaces", `it's "$(touch owned)"`, "`touch owned`", "a!b\nb", "~", "=x*", "\u009b31m\x1b[31m",
	"\u202ezero\u200bwidth\U000E0041", "##[error]", "::error::x",
}

// Every command that is printed to be typed next reaches sessctl as the words that it
// was made of, through a real shell, and sessctl does what it says.
func TestPrintedCommandsCanBePasted(t *testing.T) {
	campaign.ShowsNoRace(t)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	for _, name := range hostile {
		file := strings.ReplaceAll(name, "/", "_") + ".ndjson"
		for _, args := range [][]string{
			{"check", "--", file}, {"view", "--", file, name}, {"view", "--all", "--", file, name}, {"repair", "--dry-run", "--", file},
			{"repair", "--", file}, {"diff", "--", "before.ndjson", file}, {"check", "--write-baseline", "known.json", "--", file},
		} {
			t.Run(fmt.Sprint(name, args[:2]), func(t *testing.T) {
				t.Chdir(t.TempDir())
				writeUnanswered(t, file, name)
				_, stdout, stderr := narrow(args...)
				lines := printed(stdout + stderr)
				if len(lines) == 0 {
					t.Fatalf("%q prints no command:\n%s%s", args, stdout, stderr)
				}
				for _, line := range lines {
					paste(t, sh, line, name)
				}
				if _, err := os.Stat("owned"); err == nil {
					t.Error("a shell carried out what a store holds")
				}
			})
		}
	}
}

// A receipt of a database whose name begins as a flag does.
func TestUndoOfAHostileNameCanBePasted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	t.Chdir(t.TempDir())
	for _, file := range []string{"-n.db", "it's $(mine).db", "a\nb.db"} {
		buildDB(t, file, func(db *agenttest.DB) error {
			_, err := agenttest.WriteLeaky(db, delegation("t"))
			return err
		})
		_, stdout, stderr := narrow("repair", "--yes", "--", file)
		lines := printed(stdout + stderr)
		if len(lines) == 0 {
			t.Fatalf("%q: no command:\n%s%s", file, stdout, stderr)
		}
		for _, line := range lines {
			if code, _, stderr := narrow(shellArgs(t, sh, line)...); code != 0 {
				t.Errorf("%s: code %d, %s", line, code, stderr)
			}
		}
	}
}

// printed are the commands of an output.
func printed(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line, ok := strings.CutPrefix(line, "  sessctl "); ok { // the reason is on the next line
			lines = append(lines, "sessctl "+strings.TrimRight(line, "\n"))
		}
		if line, ok := strings.CutPrefix(line, "Undo with: "); ok {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
		if _, use, ok := strings.Cut(line, "`sessctl "); ok && !strings.Contains(use, " OUT`") {
			line, _, _ := strings.Cut(use, "`")
			lines = append(lines, "sessctl "+line)
		}
	}
	return lines
}

// narrow runs sessctl on a terminal where no reason stands beside its command.
func narrow(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	getenv := func(name string) string { return map[string]string{"COLUMNS": "40"}[name] }
	code = cmd.Main(args, strings.NewReader(""), &out, &err, getenv)
	return code, out.String(), err.String()
}

// shellArgs is what a shell gives sessctl for a line.
func shellArgs(t *testing.T, sh, line string) []string {
	t.Helper()
	out, err := exec.Command(sh, "-c", `sessctl() { printf '%s\0' "$@"; }; `+line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// paste runs a printed line, with a word for what people put in. Wrong usage, and a
// session or file that is not there, show that it was read as something else.
func paste(t *testing.T, sh, line, session string) {
	t.Helper()
	args := shellArgs(t, sh, line)
	if args[0] == "view" {
		args = append([]string{"view", "--format", "json"}, args[1:]...)
	}
	code, stdout, stderr := narrow(args...)
	if code != 0 && code != 1 {
		t.Errorf("%s: %q ended with %d: %s", line, args, code, stderr)
	}
	if args[0] != "view" {
		return
	}
	var shown struct{ Session struct{ ID string } }
	if err := json.Unmarshal([]byte(stdout), &shown); err != nil || shown.Session.ID != session {
		t.Errorf("%s shows session %q, want %q (%v)", line, shown.Session.ID, session, err)
	}
}

// writeUnanswered writes a stream with a session of this name, whose last call has no
// result, between sessions that flags and numbers might mean.
func writeUnanswered(t *testing.T, file, id string) {
	t.Helper()
	quoted, err := json.Marshal(id)
	if err != nil {
		t.Fatal(err)
	}
	const other = `{"type":"header","format":"sessctl.canonical/1","writer":"dead"}` + "\n" +
		`{"type":"session","id":"other","created":"2026-03-02T09:00:00Z"}` + "\n"
	stream := other +
		`{"type":"session","id":ID,"created":"2026-03-01T09:00:00Z"}` + "\n" +
		`{"type":"item","session":ID,"kind":"message","role":"user","text":"go"}` + "\n" +
		`{"type":"item","session":ID,"kind":"message","role":"assistant","agent":"root","calls":[{"id":"c1","name":"shell","args":"{}"}]}` + "\n"
	write := func(path, text string) {
		if err := os.WriteFile(filepath.Clean(path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, strings.ReplaceAll(stream, "ID", string(quoted)))
	write("before.ndjson", other)
}

//go:build unix

package postgres_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named are the commands of a message.
var named = regexp.MustCompile("`([^`]*sessctl [^`]*)`")

// TestUndoNamesTheWay: whichever way somebody begins to undo the repair of a database, what is
// printed to type next is typed, and the rows are as they were.
func TestUndoNamesTheWay(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	before := rowsOf(t, url)
	execute(t, url, "create role looks login", "grant select on all tables in schema public to looks",
		"create role \"re pairs\" login", "grant select, insert, update, delete on all tables in schema public to \"re pairs\"")
	t.Cleanup(func() { execute(t, url, "drop owned by looks, \"re pairs\"", "drop role looks, \"re pairs\"") })
	repairer := asRole(url, "re%20pairs")
	for _, tt := range []struct {
		name, user string   // PGUSER
		begin      []string // URL, LOOKS and RECEIPT stand for what they are
		older      bool     // the receipt has no role
		steps      int      // commands that are typed until the repair is undone
	}{
		{"the address, not at a terminal", "", []string{"undo", "URL"}, false, 2},
		{"the receipt", "", []string{"undo", "RECEIPT"}, false, 1},
		{"the receipt of an older sessctl", "", []string{"undo", "RECEIPT"}, true, 2},
		{"the receipt, with a role that does not exist", "absent", []string{"undo", "RECEIPT"}, false, 2},
		{"the receipt, with a role that only reads", "looks", []string{"undo", "RECEIPT"}, false, 2},
		{"the address with a role that only reads", "", []string{"undo", "LOOKS", "--yes"}, false, 2},
		{"the only repair", "", []string{"undo"}, false, 2},
		{"the only repair, of an older sessctl", "", []string{"undo"}, true, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("PGUSER", "")
			idle(t, url)
			out, errors, code := sessctl(t, "repair", repairer, "--yes", "--fail-on", "never", "--live-window", "0")
			receipts, _ := filepath.Glob("*.receipt.json")
			if code != 0 || len(receipts) != 1 {
				t.Fatalf("exit code %d\n%s%s", code, out, errors)
			}
			if tt.older {
				forgetRole(t, receipts[0])
			}
			line := strings.NewReplacer("URL", repairer, "LOOKS", asRole(url, "looks"), "RECEIPT", receipts[0]).Replace("'" + strings.Join(tt.begin, "' '") + "'")
			line = "sessctl " + line
			if tt.user != "" {
				line = "PGUSER=" + tt.user + " " + line
			}
			for step := 1; ; step++ {
				t.Log(line)
				idle(t, url)
				text, code := typed(t, strings.ReplaceAll(line, "PGUSER=ROLE ", "PGUSER='re pairs' "))
				t.Logf("exit code %d\n%s", code, text)
				if code == 0 {
					if step != tt.steps {
						t.Errorf("%d commands had to be typed", step)
					}
					break
				}
				commands := named.FindAllStringSubmatch(flat(text), -1)
				if len(commands) != 1 || step > 3 {
					t.Fatalf("step %d names the commands %q", step, commands)
				}
				line = commands[0][1]
			}
			if rowsOf(t, url) != before {
				t.Fatal("an undo leaves other rows")
			}
		})
	}
}

// forgetRole makes of a receipt one of a sessctl that wrote no role.
func forgetRole(t *testing.T, receipt string) {
	t.Helper()
	text, err := os.ReadFile(receipt)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"role":"re pairs",`) {
		t.Fatalf("no role: %.300s", text)
	}
	prev, out := "", ""
	for line := range strings.Lines(strings.Replace(string(text), `"role":"re pairs",`, "", 1)) {
		line, _, _ = strings.Cut(line, `,"prev":"`)
		line += `,"prev":"` + prev + `"`
		prev = fmt.Sprintf("%x", sha256.Sum256([]byte(line)))
		out += line + `,"sum":"` + prev + "\"}\n"
	}
	if err := os.WriteFile(receipt, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
}

// typed is what a command line prints that somebody types into a shell.
func typed(t *testing.T, line string) (text string, code int) {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(folder, "sessctl")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+t.TempDir(), "PATH="+folder+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

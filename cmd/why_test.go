package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/schematest"
)

// whyAnswer is what a test needs of `why --format json`.
type whyAnswer struct {
	Verdict string
	Session struct{ ID string }
	Cause   string
	Answer  struct{ Verdict string }
	Repair  *struct {
		Commands   []string
		Undo       string
		Allow      []string
		AssumeDead bool `json:"assume_dead"`
		Left       int
		Doubtful   bool
	}
	Code int `json:"exit_code"`
}

func askWhy(t *testing.T, args ...string) whyAnswer {
	t.Helper()
	code, out, stderr := run(t, append([]string{"why", "--format", "json"}, args...)...)
	var a whyAnswer
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Code != code {
		t.Fatalf("why %q ends with %d and says it ends with %d: %v\n%s%s", args, code, a.Code, err, out, stderr)
	}
	return a
}

// TestWhyLeadsToASessionThatResumes: whatever is stored, what `why` says of a session is
// what check says of its next request, and the command that it gives makes a session
// resume that does not, and undo takes that back.
func TestWhyLeadsToASessionThatResumes(t *testing.T) {
	campaign.ShowsNoRace(t)
	said := map[string]int{}
	for name, build := range verdictStores {
		path := filepath.Join(t.TempDir(), "store.db")
		if err := build(path, uint64(campaign.Rounds(6, 60))); err != nil {
			t.Fatal(err)
		}
		for _, id := range sessionsOf(t, path) {
			before := askWhy(t, path, id)
			said[before.Verdict]++
			refused := before.Answer.Verdict != "accept"
			if before.Session.ID == id && slices.Contains([]string{"resumes", "loses"}, before.Verdict) && refused && name != "docker agent" {
				t.Errorf("%s: why says that %s %s; its next request: %s", name, id, before.Verdict, before.Answer.Verdict)
			}
			if before.Repair == nil || before.Verdict == "resumes" {
				continue
			}
			wasStored, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range before.Repair.Commands {
				words := append(strings.Fields(line)[1:], "--yes")
				if code, out, stderr := run(t, words...); code > 1 {
					t.Fatalf("%s: %q ends with %d\n%s%s", name, line, code, out, stderr)
				}
			}
			after := askWhy(t, path, id)
			said["then "+after.Verdict]++
			if before.Repair.Left == 0 && after.Verdict != "resumes" && (after.Verdict != "doubtful" || !before.Repair.Doubtful) {
				t.Errorf("%s: %q leaves %s as one that %s: %s", name, before.Repair.Commands, id, after.Verdict, after.Cause)
			}
			if receipts, err := filepath.Glob(path + ".sessctl-*.receipt.json"); err != nil || len(receipts) != 1 {
				t.Fatalf("%d receipts, %v", len(receipts), err)
			} else if code, out, stderr := run(t, "undo", receipts[0]); code != 0 {
				t.Fatalf("undo ends with %d\n%s%s", code, out, stderr)
			}
			if again := askWhy(t, path, id); again.Verdict != before.Verdict || again.Cause != before.Cause {
				t.Errorf("%s: after undo, %s %s, and before it %s", name, id, again.Verdict, before.Verdict)
			}
			removeAll(t, path+".sessctl-*")
			if err := os.WriteFile(path, wasStored, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("verdicts: %v", said)
	if said["refused"] == 0 || said["resumes"] == 0 || said["then resumes"] == 0 {
		t.Errorf("not every verdict occurred: %v", said)
	}
}

// TestWhyReadsPastedTexts: whatever shells, terminals and loggers made of an error text, why
// recognises it, and looks for a session only where the error is about one.
func TestWhyReadsPastedTexts(t *testing.T) {
	campaign.ShowsNoRace(t)
	archive, err := txtar.ParseFile("../internal/errtext/testdata/pasted.txtar")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "session.db")
	if err := verdictStores["docker agent"](path, 3); err != nil {
		t.Fatal(err)
	}
	environment := map[string]string{"HOME": t.TempDir()}
	getenv := func(name string) string { return environment[name] }
	for i := 0; i < len(archive.Files); i += 2 {
		var out, stderr bytes.Buffer
		code := cmd.Main([]string{"why", path, "-", "--format", "json"}, bytes.NewReader(archive.Files[i].Data), &out, &stderr, getenv)
		schematest.RequireValid(t, out.Bytes())
		var said struct {
			Verdict string
			Asked   struct {
				Kind  string
				Calls []string
			}
		}
		if err := json.Unmarshal(out.Bytes(), &said); err != nil {
			t.Fatalf("%s ends with %d: %v %s", archive.Files[i].Name, code, err, stderr.String())
		}
		want, _, _ := strings.Cut(string(archive.Files[i+1].Data), " ")
		elsewhere := slices.Contains([]string{"absent", "authentication", "rate-limited", "overloaded", "too-long"}, want)
		if said.Asked.Kind != want || (said.Verdict == "elsewhere") != elsewhere {
			t.Errorf("%s: %+v, want %s", archive.Files[i].Name, said, want)
		}
		t.Logf("| %s | %s | %s | %s | %d |", archive.Files[i].Name, said.Asked.Kind, strings.Join(said.Asked.Calls, " "), said.Verdict, code)
	}
}

func removeAll(t *testing.T, pattern string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

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

// whyPasted is what a test needs of the answer to a pasted text.
type whyPasted struct {
	Verdict string
	Session struct{ ID string }
	Asked   struct {
		Kind  string
		Calls []string
	}
	Pasted *struct {
		Recognised    bool
		From, Meaning string
		Rules         []string
		IsCause       bool `json:"session_is_cause"`
		Also          []struct{ From, Meaning string }
	}
	Code int `json:"exit_code"`
}

// pasteError asks about a text on standard input, with an empty folder as home.
func pasteError(t *testing.T, text []byte, args ...string) (a whyPasted, screen string) {
	t.Helper()
	getenv := func(name string) string { return map[string]string{"HOME": t.TempDir(), "COLUMNS": "80"}[name] }
	var out, stderr bytes.Buffer
	code := cmd.Main(append([]string{"why", "--format", "json"}, args...), bytes.NewReader(text), &out, &stderr, getenv)
	schematest.RequireValid(t, out.Bytes())
	if err := json.Unmarshal(out.Bytes(), &a); err != nil || code != a.Code {
		t.Fatalf("%q ends with %d: %v %s", args, code, err, stderr.String())
	}
	out.Reset()
	cmd.Main(append([]string{"why"}, args...), bytes.NewReader(text), &out, &stderr, getenv)
	return a, out.String()
}

const (
	streamHead = `{"type":"header","format":"sessctl.canonical/1","writer":"dead"}` + "\n" +
		`{"type":"session","id":"979cab47-a5b0-45fa-9cfa-13a3a4678ae1","created":"2026-03-01T09:00:00Z"}` + "\n" +
		`{"type":"item","session":"979cab47-a5b0-45fa-9cfa-13a3a4678ae1","kind":"message","role":"user","text":"go"}` + "\n"
	streamTail = `{"type":"item","session":"979cab47-a5b0-45fa-9cfa-13a3a4678ae1","kind":"message","role":"user","text":"on"}` + "\n"
)

// pastedStores are stores that errors can come from, beside those of testdata/damaged.
var pastedStores = map[string]string{
	"session": streamHead,
	"empty": streamHead + `{"type":"item","session":"979cab47-a5b0-45fa-9cfa-13a3a4678ae1","kind":"message","role":"assistant","agent":"root","text":""}` + "\n" +
		streamTail,
	"blank": streamHead + `{"type":"item","session":"979cab47-a5b0-45fa-9cfa-13a3a4678ae1","kind":"message","role":"assistant","agent":"root","text":" ",` +
		`"calls":[{"id":"c1","name":"shell","args":"{}"}]}` + "\n" +
		`{"type":"item","session":"979cab47-a5b0-45fa-9cfa-13a3a4678ae1","kind":"message","role":"tool","results":[{"call_id":"c1","text":"ok"}]}` + "\n" + streamTail,
}

// TestWhySaysWhatAPastedErrorMeans: without a store, beside healthy sessions, and with the store
// that the error came from.
func TestWhySaysWhatAPastedErrorMeans(t *testing.T) {
	campaign.ShowsNoRace(t)
	archive, err := txtar.ParseFile("../testdata/pasted.txtar")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, stream := range pastedStores {
		if err := os.WriteFile(filepath.Join(folder, name+".ndjson"), []byte(stream), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	healthy, err := filepath.Abs("../testdata/healthy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	damaged, err := filepath.Abs("../testdata/damaged")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	wrapped := 0
	for i := 0; i < len(archive.Files); i += 2 {
		name, text := archive.Files[i].Name, archive.Files[i].Data
		lines := strings.Split(string(archive.Files[i+1].Data), "\n")
		want, store, ids := strings.Split(lines[0], "|"), lines[1], strings.Fields(lines[2])
		if strings.HasPrefix(name, "real/") {
			wrapped++
		}
		places := map[string][]string{"no store": {"-"}, "healthy": {healthy, "-"}}
		if store != "-" {
			path := filepath.Join(damaged, store)
			if pastedStores[store] != "" {
				path = filepath.Join(folder, store+".ndjson")
			}
			places["right"] = []string{path, "-"}
		}
		for place, args := range places {
			a, screen := pasteError(t, text, args...)
			recognised := want[0] != "unknown"
			if a.Pasted == nil || a.Pasted.Recognised != recognised {
				t.Errorf("%s, %s: %+v", name, place, a.Pasted)
				continue
			}
			if strings.Count(screen, "\n") > 40 || strings.Contains(screen, "\x1b") || !recognised && (a.Pasted.From != "" || len(a.Pasted.Rules) > 0) {
				t.Errorf("%s, %s:\n%s", name, place, screen)
			}
			if recognised {
				rule := append(slices.Clone(a.Pasted.Rules), "-")[0]
				if a.Pasted.From != want[0] || a.Asked.Kind != want[1] || rule != want[2] || a.Pasted.Meaning == "" {
					t.Errorf("%s: %s %s %s, want %q", name, a.Pasted.From, a.Asked.Kind, rule, want)
				}
				if len(want) > 3 && (len(a.Pasted.Also) == 0 || a.Pasted.Also[0].From != want[3]) {
					t.Errorf("%s: also %+v, want %s", name, a.Pasted.Also, want[3])
				}
				if first, _, _ := strings.Cut(a.Pasted.Meaning, " "); place != "right" && (!strings.Contains(screen, "Means ") || !strings.Contains(screen, first)) {
					t.Errorf("%s, %s: no meaning:\n%s", name, place, screen)
				}
			}
			if len(ids) > 0 && !slices.Equal(a.Asked.Calls, ids) {
				t.Errorf("%s: the calls %q", name, a.Asked.Calls)
			}
			cause := want[0] != "unknown" && a.Pasted.IsCause
			switch {
			case place == "right" && (a.Session.ID == "" || a.Verdict == "resumes" && cause && want[2] != "SC301"):
				t.Errorf("%s with its store: %s\n%s", name, a.Verdict, screen)
			case place != "right" && !slices.Contains([]string{"not-found", "elsewhere"}, a.Verdict):
				t.Errorf("%s, %s: %s\n%s", name, place, a.Verdict, screen)
			case place != "right" && (a.Verdict == "elsewhere") == (cause || !recognised):
				t.Errorf("%s, %s: %s, and the session is the cause: %t\n%s", name, place, a.Verdict, cause, screen)
			}
			if testing.Verbose() {
				t.Logf("%s, %s: exit %d\n%s", name, place, a.Code, screen)
			}
		}
	}
	if n := len(archive.Files) / 2; n < 60 || wrapped < n/2 {
		t.Errorf("%d texts, %d of them real", n, wrapped)
	}
}

// TestWhyOpensTheStoreThatAnErrorNames: a path in the text is where its session is looked for.
func TestWhyOpensTheStoreThatAnErrorNames(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("sessions.ndjson", []byte(pastedStores["empty"]), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = "RuntimeError: Database ./sessions.ndjson: The content field in the Message object at messages.1 is empty. Add a ContentBlock object"
	if a, screen := pasteError(t, []byte(text), "-"); a.Verdict != "refused" || a.Session.ID == "" {
		t.Errorf("%s\n%s", a.Verdict, screen)
	}
}

// TestWhySaysOnlyThatNothingWasFoundWhereAllWasLookedAt: an error of another runtime, or a rule
// that is not asked, is no proof that nothing is damaged.
func TestWhySaysOnlyThatNothingWasFoundWhereAllWasLookedAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	if err := verdictStores["docker agent"](path, 3); err != nil {
		t.Fatal(err)
	}
	healthy, err := filepath.Abs("../testdata/healthy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	const none = "No session has damage of this kind"
	for text, want := range map[string]string{
		"tool call arguments must be valid JSON":                                      none,
		"No function call event found for function responses ids: {'adk-8c1f2a'}":     "another kind of store",
		"Conversation blocks and tool use blocks cannot be provided in the same turn": "no rule of sessctl",
	} {
		store := healthy
		if strings.HasPrefix(text, "No function") {
			store = path
		}
		_, screen := pasteError(t, []byte(text), store, "-")
		if flat := strings.Join(strings.Fields(screen), " "); !strings.Contains(flat, want) || want != none && strings.Contains(flat, none) {
			t.Errorf("%s: want %q\n%s", text, want, screen)
		}
	}
}

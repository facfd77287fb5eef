package cmd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// unreadable are stores of which something is stored that no list has: each is a stream,
// the files of a folder, or a database.
var unreadable = []struct {
	name, stream string
	files        map[string]string
	make         func(*agenttest.DB) error
	says         string // on standard error
}{
	{name: "a session line that is no JSON", stream: `{"type":"session","id":"S","title":NaN}`, says: "line 4: invalid character 'N'"},
	{name: "a line that is cut off", stream: `{"type":"se`, says: "line 4: unexpected EOF"},
	{name: "a session without an id", stream: `{"type":"session","title":"t"}`, says: "line 4: a session without an id"},
	{name: "a second session of one id", stream: `{"type":"session","id":"P","title":"t"}`, says: "line 4: the session"},
	{name: "a second header", stream: strings.TrimSpace(streamHeader), says: "line 4: a second header"},
	{name: "a line of an unknown type", stream: `{"type":"memo"}`, says: "line 4: the type"},
	{name: "items of no session", stream: `{"type":"item","session":"S","kind":"message","role":"user"}` + "\n" + `{"type":"item","session":"S","kind":"other"}`,
		says: "line 4: an item of session \"S\", which no line declares (items: 2)"},
	{name: "an item of a wrong form", stream: `{"type":"item","session":"P","kind":"message","role":"user","text":5}`, says: "items/1 does not decode: line 4:"},
	{name: "a session of a wrong form", stream: `{"type":"session","id":"S","title":5}`, says: "sessions/S does not decode: line 4:"},
	{name: "two kinds of loss", stream: "{\n" + `{"type":"item","session":"S","kind":"other"}`, says: "line 4: unexpected EOF after offset 1, and 1 more (2 records in all)"},
	{name: "a step that is cut off", files: map[string]string{"main/history/step_001.json": step, "main/history/step_002.json": step[:30]},
		says: "steps/main/step_002.json does not decode: it is not JSON, or was cut off"},
	{name: "an event of nobody", files: map[string]string{"main/history/step_001.json": step, "events.jsonl": `{"type":"spawn_request","payload":{"parent_id":"x","child_id":"y"}}`},
		says: "an event of the bus is about a child of \"x\""},
	{name: "an event that is cut off", files: map[string]string{"main/history/step_001.json": step, "events.jsonl": `{"type":"spawn_request","payload":{"parent_id":"main","chi`},
		says: "line 1: it is not JSON, or was cut off"},
	{name: "a message that does not decode", make: damagedMessage("UndecodableMessage"), says: "session_items/2 does not decode"},
	{name: "items of a session that is gone", make: func(db *agenttest.DB) error {
		_, child, _ := delegated(db)
		_, err := db.SQL.Exec("pragma foreign_keys = off; delete from sessions where id = ?", child)
		return err
	}, says: "session_items has 3 rows, from row 3 on, of session"},
	{name: "two sessions of one id", make: func(db *agenttest.DB) error {
		delegated(db)
		_, err := db.SQL.Exec("insert into sessions(id, created_at) select cast(id as blob), '' from sessions limit 1")
		return err
	}, says: "row 3 of sessions has the same id as an earlier row"},
}

const (
	streamHeader = `{"type":"header","format":"sessctl.canonical/1","writer":"dead"}` + "\n"
	step         = `{"id":"step_001","tool_name":"fs:read_file","minimal_args":{"path":"a"},"observation":"ok","timestamp_ms":1764950401000}`
)

func damagedMessage(damage string) func(*agenttest.DB) error {
	return func(db *agenttest.DB) error {
		delegated(db)
		return db.Damage(damage, 2)
	}
}

// What is stored and was not read ends neither a list nor an export with 0, and a stream
// says what it lacks, also when it is exported again.
func TestNothingIsLostInSilence(t *testing.T) {
	for _, tt := range unreadable {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store")
			switch {
			case tt.make != nil:
				buildDB(t, path, tt.make)
			case tt.files != nil:
				for name, text := range tt.files {
					writeFile(t, filepath.Join(path, name), text)
				}
			default:
				writeFile(t, path, streamHeader+`{"type":"session","id":"P"}`+"\n"+`{"type":"item","session":"P","kind":"message","role":"user","text":"q"}`+"\n"+tt.stream+"\n")
			}
			if code, _, _ := run(t, "check", path); code != 1 && tt.name != "an event of nobody" && tt.name != "a line of an unknown type" {
				t.Errorf("check ends with %d", code)
			}
			once, twice := filepath.Join(t.TempDir(), "once"), filepath.Join(t.TempDir(), "twice")
			for _, args := range [][]string{
				{"ls", path}, {"export", path, "--output", once}, {"export", once, "--output", twice},
				{"export", path, "--redact"},
			} {
				code, _, stderr := run(t, args...)
				said := strings.ReplaceAll(strings.Join(strings.Fields(stderr), " "), `\"`, `"`)
				if args[1] == once {
					tt.says = ""
				}
				if code != 3 || !strings.Contains(said, tt.says) {
					t.Errorf("%q: code %d, want %q in %s", args, code, tt.says, stderr)
				}
			}
			for _, stream := range []string{once, twice} {
				_, out, _ := run(t, "check", stream)
				if !strings.Contains(out, "error SC001 ") && !strings.Contains(out, "error SC010 ") {
					t.Errorf("a check of the stream finds nothing missing:\n%s", out)
				}
			}
			if a, b := sortedLines(t, once), sortedLines(t, twice); !slices.Equal(a, b) {
				t.Errorf("an export of the export has other lines:\n%s\n\n%s", a, b)
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func sortedLines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(strings.Lines(string(text)))
}

package cmd_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// exported are the databases whose streams must tell the same.
var exported = map[string]func(db *agenttest.DB) error{
	"leaks": func(db *agenttest.DB) error {
		for seed := range uint64(12) {
			if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 40)); err != nil {
				return err
			}
		}
		return nil
	},
	"a child without its parent": func(db *agenttest.DB) error {
		_, _, reference := delegated(db)
		return db.Damage("StrayChildRoot", reference.Row)
	},
	"a child without its task": func(db *agenttest.DB) error {
		_, child, _ := delegated(db)
		return db.Damage("MissingPrologue", child)
	},
	"a child that nobody refers to": func(db *agenttest.DB) error {
		_, _, reference := delegated(db)
		return db.Damage("UnreferencedChild", reference.Row)
	},
	"a loop": func(db *agenttest.DB) error {
		root, child, _ := delegated(db)
		return db.Damage("ReferenceCycle", child, root)
	},
}

// delegated writes a session with a child.
func delegated(db *agenttest.DB) (root, child string, reference *agenttest.Item) {
	r := db.Root(agenttest.SessionRow{Title: "count"})
	r.User("go")
	r.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.Transfer("d1", "worker", "count", "")}})
	c := r.Child(agenttest.SessionRow{Title: "Transferred task"})
	c.Prologue("count", "")
	c.Assistant("worker", agenttest.Message{Content: "two"})
	reference = r.SubSession(c)
	r.Result("root", "d1", "two")
	r.Assistant("root", agenttest.Message{Content: "there are two"})
	return r.ID, c.ID, reference
}

// A check of an export, redacted or not, finds what a check of the store finds
// of calls, leaks and trees.
func TestAnExportTellsTheSame(t *testing.T) {
	campaign.ShowsNoRace(t)
	for name, write := range exported {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			buildDB(t, path, write)
			want := found(t, path)
			if len(want) == 0 {
				t.Fatal("nothing is found")
			}
			for _, option := range []string{"--redact=false", "--redact"} {
				stream := filepath.Join(t.TempDir(), "stream.ndjson")
				if code, _, stderr := run(t, "export", path, option, "--output", stream); code != 0 {
					t.Fatalf("%s: code %d, %s", option, code, stderr)
				}
				if diff := cmp.Diff(want, found(t, stream)); diff != "" {
					t.Errorf("%s (-store +stream):\n%s", option, diff)
				}
			}
		})
	}
}

// found lists the findings about calls, leaks and trees.
func found(t *testing.T, path string) []string {
	t.Helper()
	_, out, stderr := run(t, "check", path, "--format", "json")
	var report struct {
		Findings []struct {
			Rule, Severity, Session, Call string
			Items                         []int
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	var list []string
	for _, f := range report.Findings {
		if !strings.HasPrefix(f.Rule, "SC0") {
			list = append(list, fmt.Sprintln(f.Rule, f.Severity, f.Session, f.Items, f.Call))
		}
	}
	slices.Sort(list)
	return list
}

// A redacted stream holds nothing that was said, whatever column it stood in.
func TestRedactLeavesNoText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	const secret = "Qx7marker"
	buildDB(t, path, func(db *agenttest.DB) error {
		_, child, _ := delegated(db)
		root := db.Root(agenttest.SessionRow{Title: secret})
		root.User(secret)
		root.Assistant("root", agenttest.Message{
			Content: secret, ReasoningContent: secret,
			ToolCalls: []agenttest.ToolCall{agenttest.CallTool("t1", "shell", `{"cmd":"`+secret+`"}`), agenttest.CallTool("t2", "shell", secret+`{`)},
		})
		root.Result("root", "t1", secret)
		root.FailedResult("root", "t2", secret)
		root.System(secret)
		root.Summary(agenttest.Summary{Text: secret})
		root.Placeholder("root", secret, secret)
		for column, value := range map[string]string{
			"working_dir": "/" + secret, "permissions": `{"allow":["` + secret + `"]}`, "custom_models_used": `["` + secret + `"]`,
		} {
			if _, err := db.SQL.Exec("update sessions set "+column+" = ? where id <> ?", value, child); err != nil {
				return err
			}
		}
		_, err := db.SQL.Exec(`insert into session_items(session_id, position, item_type, message_json) values
			(?1, 90, 'error', '{"message":"`+secret+`"}'), (?1, 91, 'message', '{"role":"`+secret+`"}'),
			(?1, 92, '`+secret+`', '`+secret+`'), (?1, 93, 'message', '{"role":"user","content":"`+secret+`')`, root.ID)
		return err
	})
	_, plain, _ := run(t, "export", path)
	_, redacted, stderr := run(t, "export", path, "--redact")
	if strings.Count(plain, secret) < 10 || !strings.Contains(redacted, `"type":"item"`) {
		t.Fatalf("%s%s", plain, stderr)
	}
	for line := range strings.Lines(redacted) {
		if strings.Contains(line, secret) {
			t.Error(line)
		}
	}
}

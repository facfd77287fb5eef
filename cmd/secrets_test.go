package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestNoSecretIsPrinted: what a runtime keeps beside its messages, which may be credentials
// or texts of the user's files, is in no output of any command and in no file that one
// writes, but for the copies of the store itself.
func TestNoSecretIsPrinted(t *testing.T) {
	campaign.ShowsNoRace(t)
	const secret = goosetest.Secret
	writes := player.Play(player.RandomProgram(8, 3), 8)
	for name, tt := range map[string]struct {
		build   func(path string) error
		secrets []string // where the runtime keeps them; goosetest has them by itself
		damage  string   // that a repair mends
	}{
		"crush": {func(path string) error { return crushtest.Build(path, crushtest.Newest, writes) }, []string{
			"insert into files (id, session_id, path, content, created_at, updated_at) select 'f' || rowid, id, 'S', 'S', 1, 1 from sessions",
			"insert into read_files (session_id, path, read_at) select id, 'S', 1 from sessions", "update sessions set todos = '[{\"content\":\"S\"}]'",
		}, "delete from messages where role = 'tool' and rowid % 2"},
		"goose": {func(path string) error { return goosetest.Build(path, goosetest.Newest, writes) }, nil,
			`delete from messages where content_json like '%"toolResponse"%' and id % 2`},
		"opencode": {func(path string) error { return opencodetest.Build(path, writes) }, []string{
			"create table credential (id text, token text)", "insert into credential values ('a', 'S')", "create table account (id text, access_token text)", "insert into account values ('a', 'S')",
			"create table session_share (session_id text, secret text)", "insert into session_share select id, 'S' from session",
			"update session set permission = '[{\"pattern\":\"S\"}]', share_url = 'https://example.com/S', metadata = '{\"key\":\"S\"}'",
			`update message set data = json_set(data, '$.error', json('{"name":"APIError","data":{"message":"no","responseHeaders":{"authorization":"S"},"responseBody":"S"}}')) where rowid % 5 = 4`,
			"insert into event_sequence values ('x', 1, null)", `insert into event values ('e', 'x', 1, 'message.updated', '{"headers":"S"}')`,
		}, `update part set data = json_set(json_remove(data, '$.state.output', '$.state.time.end'), '$.state.status', 'running') where data like '%"tool":"bash"%' and rowid % 2`},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "store.db")
			if err := tt.build(path); err != nil {
				t.Fatal(err)
			}
			for _, statement := range append(tt.secrets, tt.damage) {
				storetest.Change(t, path, strings.ReplaceAll(statement, "'S'", "'"+secret+"'"))
			}
			whole := storetest.Copy(t, path, t.TempDir())
			in := func(name string) string { return filepath.Join(folder, name) }
			for _, args := range [][]string{
				{"check", path}, {"check", path, "--full", "--deep", "--severity", "info"}, {"check", path, "--format", "json"}, {"check", path, "--format", "ndjson"}, {"check", path, "--format", "sarif"},
				{"check", path, "--format", "junit"}, {"check", path, "--format", "github"}, {"check", path, "--format", "markdown"}, {"check", path, "--report", "json=" + in("r.json")},
				{"ls", path, "--health"}, {"ls", path, "--format", "json"}, {"ls", path, "--format", "ndjson"}, {"why", path}, {"why", path, "--format", "json"},
				{"view", path}, {"view", path, "--full"}, {"view", path, "--format", "json"}, {"view", path, "--format", "markdown"}, {"view", path, "--lanes", "--format", "mermaid"}, {"view", path, "--model-input", "--full"}, {"view", path, "--all"},
				{"export", path}, {"export", path, "--redact"}, {"diff", path, whole, "--full"}, {"diff", path, whole, "--format", "json"}, {"stores"},
				{"repair", path, "--dry-run", "--show-content", "--assume-dead"}, {"repair", path, "--dry-run", "--format", "json", "--plan-out", in("plan.json")},
				{"repair", path, "--yes", "--assume-dead", "--show-content"}, {"check", path, "--full"}, {"diff", path, whole, "--full"}, {"undo", path, "--list"}, {"undo", path, "--yes"},
			} {
				var out, errs bytes.Buffer
				code := cmd.Main(args, strings.NewReader(""), &out, &errs, func(string) string { return "" })
				if strings.Contains(out.String()+errs.String(), secret) {
					t.Errorf("sessctl %s prints the secret", strings.Join(args, " "))
				}
				if code > 1 || args[0] != "stores" && out.Len() == 0 && len(args) < 3 {
					t.Errorf("sessctl %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
				}
			}
			files, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				text, err := os.ReadFile(in(f.Name()))
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(f.Name(), ".json") && bytes.Contains(text, []byte(secret)) {
					t.Errorf("%s has the secret", f.Name())
				}
			}
			if receipts, _ := filepath.Glob(in("*.receipt.json")); len(receipts) == 0 {
				t.Error("nothing was repaired")
			}
		})
	}
}

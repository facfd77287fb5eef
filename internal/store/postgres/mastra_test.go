//go:build unix

package postgres_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestMastra: the rows of Mastra's dumps are found damaged as those of its files are, go home, and
// come back as they were.
func TestMastra(t *testing.T) {
	for name, want := range map[string][]string{
		"postgres-clean":       nil,
		"postgres-leak-1.21.0": {"SC702", "SC702", "SC702", "SC702"},
	} {
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile(filepath.Join("../../../../shared/corpus/mastra", name+".sql"))
			if err != nil {
				t.Skip("the shared corpus is not beside this checkout (../shared/corpus/mastra)")
			}
			url := database(t, string(script))
			if found := rulesIn(t, url); !slices.Equal(found, want) {
				t.Fatalf("found %q", found)
			}
			if want == nil {
				return
			}
			repairedAndBack(t, url)
			if out, errors, code := sessctl(t, "repair", url, "--yes", "--assume-dead", "--allow", "reorder"); code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, out, errors)
			}
			if found := rulesIn(t, url); found != nil {
				t.Errorf("after the repair: %q", found)
			}
			if away := execute(t, url, `select count(*) from mastra_messages m join mastra_threads t on t.id = thread_id where m."resourceId" <> t."resourceId"`); away != "0" {
				t.Errorf("%s messages have another resource than their thread", away)
			}
		})
	}
}

// TestMastraDamaged: what else is repaired in a file is in a database on a server, and comes back.
func TestMastraDamaged(t *testing.T) {
	read := func(name string) string {
		script, err := os.ReadFile(filepath.Join("../../../../shared/corpus/mastra", name))
		if err != nil {
			t.Skip("the shared corpus is not beside this checkout (../shared/corpus/mastra)")
		}
		return string(script)
	}
	clean, leak := read("postgres-clean.sql"), read("postgres-leak-1.21.0.sql")
	const call = `update public.mastra_messages set content = replace(content, '"state":"result","toolCallId":"call-b1"', '"state":"call","toolCallId":"call-b1"')`
	for damage, rule := range map[string]string{
		call: "SC101",
		`delete from public.mastra_threads where id like 'support-leak-%' and id <> 'support-leak-nested'; delete from public.mastra_messages m where not exists (select from public.mastra_threads t where t.id = m.thread_id)`: "SC703",
		`update public.mastra_messages set "resourceId" = null`:                                                                    "SC024",
		`delete from public.mastra_threads where id = 'support-tools'`:                                                             "SC018",
		`update public.mastra_messages set role = 'agent' where content like '%call-b1%'`:                                          "SC010",
		`update public.mastra_messages set content = replace(content, '"args":{"s":"one"}', '"args":"torn"')`:                      "SC205",
		`update public.mastra_messages set content = replace(content, '"subAgentThreadId":"support-sub', '"subAgentThreadId":"x')`: "SC704",
	} {
		t.Run(rule, func(t *testing.T) {
			script := clean
			if rule == "SC703" {
				script = leak
			}
			url := database(t, script, damage)
			if found := rulesIn(t, url); !slices.Contains(found, rule) {
				t.Fatalf("found %q", found)
			}
			repairedAndBack(t, url)
			if out, errors, code := sessctl(t, "repair", url, "--yes", "--assume-dead"); code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, out, errors)
			}
			if found := rulesIn(t, url); slices.Contains(found, rule) || rule != "SC703" && found != nil { // without their task SC302 is left
				t.Errorf("after the repair: %q", found)
			}
		})
	}
}

// rulesIn are the rules of what is found at warning or above.
func rulesIn(t *testing.T, url string) (found []string) {
	t.Helper()
	out, errors, _ := sessctl(t, "check", "--format", "json", url)
	var report struct{ Findings []finding }
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errors)
	}
	for _, f := range report.Findings {
		if f.Severity != "info" {
			found = append(found, f.Rule)
		}
	}
	slices.Sort(found)
	return found
}

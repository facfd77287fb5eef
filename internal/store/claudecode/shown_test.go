package claudecode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
)

// TestKindsOfDamage: what is found in lines that are out of their places, and where a repair
// leaves which line: its identifier and the one that it hangs below.
func TestKindsOfDamage(t *testing.T) {
	const v = "2.1.330"
	start := line(v, "u1", "null", "user", 0, goOn)
	call := line(v, "u2", `"u1"`, "assistant", 1, callOf("m1", "toolu_1"))
	prompt := func(parent string) string { return line(v, "u3", parent, "user", 2, goOn) }
	result := func(parent string) string {
		return strings.Replace(line(v, "u4", parent, "user", 3, resultOf("toolu_1", "ok")), `"uuid"`, `"sourceToolAssistantUUID":"u2","uuid"`, 1)
	}
	end := func(parent string) string { return line(v, "u5", parent, "assistant", 5, done) }
	boundary := strings.Replace(line(v, "b1", "null", "system", 2, "null"), `"message":null`, `"subtype":"compact_boundary","logicalParentUuid":"u2","content":"Conversation compacted"`, 1)
	summary := strings.Replace(line(v, "b2", `"b1"`, "user", 2, `{"role":"user","content":"what was said"}`), `"message"`, `"isCompactSummary":true,"message"`, 1)
	agent := strings.Replace(line(v, "u2", `"u1"`, "assistant", 1, callOf("m1", "toolu_1")), `"name":"Bash","input":{}`, `"name":"Agent","input":{"description":"d","prompt":"look there","subagent_type":"g"}`, 1)
	side := func(l string) string {
		return strings.Replace(l, `"isSidechain":false`, `"isSidechain":true,"agentId":"a1"`, 1)
	}
	asks := line(v, "c1", "null", "user", 1, `{"role":"user","content":"look there"}`)
	looks := func(parent string) string {
		return line(v, "c2", parent, "assistant", 2, `{"id":"m9","role":"assistant","model":"claude-opus-4-8","content":[{"type":"text","text":"I found it"}]}`)
	}
	child := []string{side(asks), side(looks(`"c1"`))}
	for _, tt := range []struct {
		name  string
		lines []string
		child []string // the lines of a sub-agent with a file of its own
		found string
		after string
	}{
		{
			name: "a late result", lines: []string{start, call, prompt(`"u2"`), result(`"u3"`), end(`"u4"`)},
			found: "SC104 warning", after: "u1< u2<u1 u4<u2 u3<u4 u5<u3",
		},
		{
			name: "a compaction between a call and its result", lines: []string{start, call, boundary, summary, result(`"b2"`), end(`"u4"`)},
			found: "SC725 error", after: "u1< u2<u1 b1< b2<b1 u5<b2",
		},
		{
			name: "a sub-agent's line on the chain", lines: []string{start, agent, looks(`"u2"`), result(`"c2"`), end(`"u4"`)}, child: child,
			found: "SC701 error", after: "u1< u2<u1 u4<u2 u5<u4",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := homeOf(t, tt.lines...)
			folder := filepath.Join(home, "projects", "p", "s", "subagents")
			if tt.child != nil {
				if err := os.MkdirAll(folder, 0o700); err != nil {
					t.Fatal(err)
				}
				for name, text := range map[string]string{"agent-a1.jsonl": strings.Join(tt.child, ""), "agent-a1.meta.json": `{"agentType":"g","description":"d","toolUseId":"toolu_1","spawnDepth":1}`} {
					if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			var said []string
			findings, _ := found(t, home)
			for _, f := range findings {
				if f.Severity > rules.Info {
					said = append(said, fmt.Sprint(f.Rule.ID, " ", f.Severity))
				}
			}
			slices.Sort(said)
			if got := strings.Join(said, ", "); got != tt.found {
				t.Errorf("found: %s", got)
			}
			after, _ := repaired(t, home)
			if err := os.WriteFile(filepath.Join(home, "projects", "p", "s.jsonl"), []byte(after["projects/p/s.jsonl"]), 0o600); err != nil {
				t.Fatal(err)
			}
			var places []string
			for _, l := range load(t, filepath.Join(home, "projects", "p", "s.jsonl")) {
				places = append(places, text(l, "uuid")+"<"+text(l, "parentUuid"))
			}
			if diff := cmp.Diff(tt.after, strings.Join(places, " ")); diff != "" {
				t.Error(diff)
			}
			if left, _ := found(t, home); slices.ContainsFunc(left, func(f *check.Finding) bool { return f.Severity > rules.Info }) {
				t.Errorf("left: %v", left)
			}
		})
	}
}

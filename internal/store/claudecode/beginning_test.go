package claudecode_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
)

// talk is a session of turns that hang below each other, in which something stands between.
type talk struct {
	lines []string
	last  string // the identifier of the last line of the chain
}

func quoted(uuid string) string {
	if uuid == "" {
		return "null"
	}
	return `"` + uuid + `"`
}

func (k *talk) add(uuid, parent, kind, message string) {
	k.lines = append(k.lines, line("2.1.76", uuid, quoted(parent), kind, len(k.lines), message))
	k.last = uuid
}

func (k *talk) turn(n int, prompt string) {
	k.add(fmt.Sprint("p", n), k.last, "user", fmt.Sprintf(`{"role":"user","content":%q}`, prompt))
	k.add(fmt.Sprint("a", n), k.last, "assistant", fmt.Sprintf(`{"id":"msg%d","role":"assistant","model":"claude-opus-4-8","content":[{"type":"text","text":"answer %d"}]}`, n, n))
}

// broken are the findings about the chain of the session in a folder, worst first.
func broken(t *testing.T, home string) (list []string) {
	t.Helper()
	o := openTranscripts(t, home)
	for _, tree := range filled(t, o) {
		for _, f := range check.RunTree(o.Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
			if f.Rule.ID == "SC021" {
				list = append(list, f.Severity.String()+" "+f.Message)
			}
		}
	}
	return list
}

// TestLostBranch: a retry hangs below a line that is no message and has no parent, or begins anew
// with the prompt that another branch ends in (anthropics/claude-code#37437). It is told with the
// number of messages that are sent, and a repair that is allowed sends them all.
func TestLostBranch(t *testing.T) {
	campaign.Checks(t, 60, 1000)
	tt := t
	rapid.Check(t, func(t *rapid.T) {
		var k talk
		before, retries, after := rapid.IntRange(1, 4).Draw(t, "turns before"), rapid.IntRange(1, 3).Draw(t, "retries"), rapid.IntRange(0, 2).Draw(t, "turns after")
		same, progress := rapid.Bool().Draw(t, "same prompt"), rapid.Bool().Draw(t, "progress")
		early := rapid.Bool().Draw(t, "progress stands early")
		note := func() {
			if progress {
				k.lines = append(k.lines, strings.Replace(line("2.1.76", "prog", "null", "progress", len(k.lines), "null"), `,"message":null`, "", 1))
			}
		}
		k.turn(0, "begin")
		if early {
			note()
		}
		for n := range before - 1 {
			k.turn(n+1, fmt.Sprint("question ", n))
		}
		if !early {
			note()
		}
		told := before + before // messages on the branch that is lost
		answered := k.last
		if same {
			for n := range retries {
				k.last = answered
				k.add(fmt.Sprint("try", n), answered, "user", `{"role":"user","content":"write the report"}`)
			}
		}
		k.last = ""
		if progress {
			k.last = "prog"
		}
		k.turn(100, "write the report")
		for n := range after {
			k.turn(101+n, fmt.Sprint("more ", n))
		}
		home := homeOf(tt, k.lines...)
		sent := 2 + 2*after
		found := broken(tt, home)
		if lost := same || progress; lost != (len(found) == 1) {
			t.Fatalf("found %v in\n%s", found, strings.Join(k.lines, ""))
		} else if !lost {
			return
		}
		all := told + sent
		if same {
			all += retries
		}
		if want := fmt.Sprintf("warning %d of %d messages would be sent", sent, all); !strings.HasPrefix(found[0], want) || !strings.Contains(found[0], "p100") {
			t.Errorf("got %q, want %q", found[0], want)
		}
		if same && !strings.Contains(found[0], fmt.Sprint("try", retries-1)) {
			t.Errorf("the other branch is not named: %s", found[0])
		}
		if plan, _, err := repairtest.Repair(home); err != nil || !plan.IsEmpty() {
			t.Fatalf("without --allow: %v%s", err, repairtest.Told(plan))
		}
		if plan, _, err := repairtest.Repair(home, "guesses"); err != nil {
			t.Fatalf("%v%s", err, repairtest.Told(plan))
		}
		if left := broken(tt, home); len(left) > 0 {
			t.Errorf("after the repair: %s", left[0])
		}
	})
}

// TestBeginsAnew: branches that people begin anew have lost nothing.
func TestBeginsAnew(t *testing.T) {
	progress := strings.Replace(line("2.1.76", "prog", "null", "progress", 0, "null"), `,"message":null`, "", 1)
	for _, tt := range []struct {
		name  string
		lines func() []string
	}{
		{"rewound to the start, another prompt", func() []string {
			var k talk
			k.turn(0, "one")
			k.turn(1, "two")
			k.last = ""
			k.turn(2, "three")
			return k.lines
		}},
		{"rewound to the start, the same prompt", func() []string {
			var k talk
			k.turn(0, "one")
			k.turn(1, "two")
			k.last = ""
			k.turn(2, "one")
			return k.lines
		}},
		{"rewound to a turn, the same prompt", func() []string {
			var k talk
			k.turn(0, "one")
			k.turn(1, "two")
			k.last = "a0"
			k.turn(2, "two")
			return k.lines
		}},
		{"the first prompt once more", func() []string {
			var k talk
			k.add("p", "", "user", `{"role":"user","content":"one"}`)
			k.last = ""
			k.turn(2, "one")
			return k.lines
		}},
		{"a prompt of the middle at the start", func() []string {
			var k talk
			k.turn(0, "one")
			k.turn(1, "two")
			k.turn(2, "three")
			k.last = ""
			k.turn(3, "two")
			return k.lines
		}},
		{"a hook before the first prompt", func() []string {
			k := talk{lines: []string{progress}, last: "prog"}
			k.turn(0, "one")
			k.last = "prog"
			k.turn(1, "two")
			return k.lines
		}},
		{"compacted", func() []string {
			var k talk
			k.turn(0, "one")
			k.turn(1, "two")
			k.lines = append(k.lines, strings.Replace(line("2.1.76", "b", "null", "system", 8, "null"), `"message":null`, `"subtype":"compact_boundary","logicalParentUuid":"a1"`, 1))
			k.last = "b"
			k.turn(2, "two")
			return k.lines
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := tt.lines()
			if found := broken(t, homeOf(t, lines...)); len(found) > 0 {
				t.Errorf("%s in\n%s", found[0], strings.Join(slices.Clone(lines), ""))
			}
		})
	}
}

// TestOffTheBranch: what is odd beside the branch that is sent is an info: a result whose call is
// gone, and a sub-agent's file that is.
func TestOffTheBranch(t *testing.T) {
	const v = "2.1.330"
	result := strings.Replace(line(v, "u4", `"u3"`, "user", 3, resultOf("toolu_1", "ok")), `"uuid"`, `"toolUseResult":{"status":"completed","agentId":"a7"},"uuid"`, 1)
	lines := []string{
		line(v, "u1", "null", "user", 0, goOn), line(v, "u2", `"u1"`, "assistant", 1, strings.Replace(done, "m2", "m1", 1)),
		line(v, "u3", `"u2"`, "assistant", 2, callOf("m2", "toolu_1")), result,
		line(v, "u5", `"u2"`, "user", 4, goOn), line(v, "u6", `"u5"`, "assistant", 5, strings.Replace(done, "m2", "m3", 1)),
		`{"type":"last-prompt","leafUuid":"u6","sessionId":"s"}` + "\n",
	}
	if got := broken(t, homeOf(t, lines...)); len(got) != 1 || !strings.HasPrefix(got[0], "info call toolu_1 was answered by the sub-agent a7") {
		t.Errorf("without its file: %q", got)
	}
	lines[2] = line(v, "u3", `"u2"`, "assistant", 2, strings.Replace(done, "m2", "m4", 1))
	if got := broken(t, homeOf(t, lines...)); len(got) != 2 || !strings.HasPrefix(got[0], "info line u4 answers the call toolu_1, which no line") {
		t.Errorf("without its call: %q", got)
	}
}

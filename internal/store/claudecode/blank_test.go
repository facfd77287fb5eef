package claudecode_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
)

// TestBlankTexts holds blank texts against what each version of Claude Code sends of them, as
// docs/stores/claude-code.md has it. A repair takes out those that are sent.
func TestBlankTexts(t *testing.T) {
	const (
		call   = `{"type":"tool_use","id":"c","name":"Bash","input":{}}`
		result = `{"type":"tool_result","tool_use_id":"c","content":"ok"}`
		image  = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
		empty  = `{"type":"text","text":""}`
		space  = `{"type":"text","text":" \n"}`
		asked  = `{"type":"text","text":"go"}`
	)
	message := func(id, content string) string {
		return fmt.Sprintf(`{"id":%q,"model":"claude-opus-4-8","content":[%s]}`, id, content)
	}
	session := func(version, prompt, said, answer string) []string {
		return []string{
			line(version, "u", "null", "user", 0, message("", prompt)), line(version, "a", `"u"`, "assistant", 1, message("m1", said)),
			line(version, "b", `"a"`, "assistant", 2, message("m1", call)), line(version, "r", `"b"`, "user", 3, message("", answer)),
			line(version, "z", `"r"`, "assistant", 4, message("m2", `{"type":"text","text":"done"}`)),
		}
	}
	listed := func(content string) string { return strings.Replace(result, `"ok"`, "["+content+"]", 1) }
	for _, tt := range []struct {
		name                 string
		prompt, said, answer string
		sent                 string // the versions that send it, of those below
		after                string // the line that changes, or "" where that leaves
	}{
		{"beside an image", image + "," + empty, asked, result, "2.0.14 2.1.123", image},
		{"white space before a text of the user", space + "," + asked, asked, result, "2.0.14 2.1.123", asked},
		{"behind a result", asked, asked, result + "," + empty, "2.0.14 2.1.123", result},
		{"a line that is nothing else", asked, empty, result, "2.0.14 2.1.123 2.1.197", ""},
		{"white space of the assistant", asked, space, result, "2.0.14", ""},
		{"beside a text of the assistant", asked, asked + "," + empty, result, "2.0.14 2.1.123 2.1.197", asked},
		{"alone in a result", asked, asked, listed(empty), "2.0.14 2.1.123 2.1.197 2.1.330", strings.Replace(result, `"ok"`, `""`, 1)},
		{"in a result beside a text", asked, asked, listed(space + "," + asked), "2.0.14 2.1.123 2.1.197 2.1.330", listed(asked)},
	} {
		for _, version := range []string{"2.0.14", "2.1.123", "2.1.197", "2.1.330"} {
			t.Run(tt.name+" "+version, func(t *testing.T) {
				home := homeOf(t, session(version, tt.prompt, tt.said, tt.answer)...)
				sent := strings.Contains(tt.sent, version)
				var found []string
				for _, tree := range filled(t, openTranscripts(t, home)) {
					for _, f := range check.RunTree(openTranscripts(t, home).Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
						found = append(found, f.Rule.ID+" "+f.Severity.String())
					}
				}
				want := "SC402 info"
				if sent {
					want = "SC402 error"
				}
				if !slices.Equal(found, []string{want}) {
					t.Fatalf("found: %v, want: %s", found, want)
				}
				if !sent {
					if _, receipt, err := repairtest.Repair(home); err != nil || receipt != nil {
						t.Errorf("something was repaired: %v", err)
					}
					return
				}
				after, _ := repaired(t, home)
				text := after["projects/p/s.jsonl"]
				if tt.after == "" {
					if lines := strings.Split(text, "\n"); len(lines) != 5 || !strings.Contains(lines[1], `"parentUuid":"u"`) || !strings.Contains(lines[1], call) {
						t.Errorf("the line did not leave:\n%s", text)
					}
				} else if !strings.Contains(text, `"content":[`+tt.after+`]}`) {
					t.Errorf("%s is not there:\n%s", tt.after, text)
				}
			})
		}
	}
}

// TestBlankMessages holds a message of the user that is nothing but blank texts against what each
// version sends of it.
func TestBlankMessages(t *testing.T) {
	const (
		none, listed  = `{"content":""}`, `{"content":[{"type":"text","text":" "}]}`
		asked, answer = `{"content":"go"}`, `{"id":"m","model":"claude-opus-4-8","content":[{"type":"text","text":"done"}]}`
		failed        = `{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}`
	)
	type said struct{ kind, message, more string }
	user, assistant := func(m string) said { return said{"user", m, ""} }, said{"assistant", answer, ""}
	refused := said{"assistant", failed, `,"isApiErrorMessage":true,"apiErrorStatus":400`}
	reminder := func(role string) said { return said{"attachment", `{}`, `,"renderedRole":"` + role + `"`} }
	first := []said{user(asked), assistant}
	for _, tt := range []struct {
		name string
		said []said
		sent string // the versions that send it, of those below
	}{
		{"alone", append(first, user(none), assistant), "2.0.14 2.1.123 2.1.197 2.1.263 2.1.330"},
		{"last", append(first, user(none)), "2.0.14 2.1.123 2.1.197 2.1.263 2.1.330"},
		{"in a list", append(first, user(listed), assistant), "2.0.14 2.1.123"},
		{"before a text", append(first, user(none), user(asked), assistant), "2.0.14 2.1.123"},
		{"behind a text", append(first, user(asked), user(none), assistant), "2.0.14 2.1.123"},
		{"before a refusal and the next prompt", append(first, user(none), refused), "2.0.14 2.1.123"},
		{"before a reminder of the user", append(first, user(none), reminder("system"), reminder("user"), assistant), "2.0.14 2.1.123 2.1.197"},
		{"before one of the system", append(first, user(none), reminder("system"), assistant), "2.0.14 2.1.123 2.1.197 2.1.263 2.1.330"},
		{"first", []said{user(none), assistant}, "2.0.14 2.1.123 2.1.330"},
	} {
		for _, version := range []string{"2.0.14", "2.1.123", "2.1.197", "2.1.263", "2.1.330"} {
			t.Run(tt.name+" "+version, func(t *testing.T) {
				var lines []string
				for i, s := range tt.said {
					parent := "null"
					if i > 0 {
						parent = fmt.Sprintf(`"u%d"`, i-1)
					}
					said := line(version, fmt.Sprintf("u%d", i), parent, s.kind, i, s.message)
					lines = append(lines, strings.TrimSuffix(said, "}\n")+s.more+"}\n")
				}
				home := homeOf(t, lines...)
				want := "SC401 info"
				if strings.Contains(tt.sent, version) {
					want = "SC401 error"
				}
				tree := filled(t, openTranscripts(t, home))[0]
				var found []string
				for _, f := range check.RunTree(openTranscripts(t, home).Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
					if f.Rule.ID == "SC401" {
						found = append(found, f.Rule.ID+" "+f.Severity.String())
					}
				}
				if !slices.Equal(found, []string{want}) {
					t.Errorf("found: %v, want: %s", found, want)
				}
			})
		}
	}
}

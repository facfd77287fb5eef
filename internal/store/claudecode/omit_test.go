package claudecode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
)

// TestOmit: what a provider refuses leaves its line, wherever it is there; a note comes in the
// place of images, and U+0000 becomes text. A line that was nothing else leaves. The rest stays.
func TestOmit(t *testing.T) {
	const (
		svg     = `{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"PHN2Zz4="}}`
		png     = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
		note    = `{"type":"text","text":"[sessctl left out image: image/svg+xml, 8 bytes in base64]"}`
		asked   = `{"type":"text","text":"go "}`
		more    = `{"type":"text","text":"on"}`
		empty   = `{"type":"thinking","thinking":"","signature":"AAAA"}`
		thought = `{"type":"thinking","thinking":"hm","signature":"BBBB"}`
		nul     = `{"type":"text","text":"a\u0000\\\\u0000"}`
		shown   = `{"type":"text","text":"a\\u0000\\\\u0000"}`
	)
	call := func(input string) string {
		return `{"type":"tool_use","id":"c","name":"Bash","input":{` + input + `}}`
	}
	result := func(content string) string {
		return `{"type":"tool_result","tool_use_id":"c","content":` + content + `}`
	}
	for name, tt := range map[string]struct {
		prompt, said, call, answer string
		after                      string // what is there then, "" where the line of said leaves
	}{
		"an image before a text":         {prompt: svg + "," + asked, after: note + "," + asked},
		"between two texts":              {prompt: asked + "," + svg + "," + more, after: asked + "," + note + "," + more},
		"two, and one that is taken":     {prompt: svg + "," + png + "," + svg, after: note + "," + png + "," + note},
		"alone in a result":              {answer: result("[" + svg + "]"), after: result("[" + note + "]")},
		"in a result, before a text":     {answer: result("[" + svg + "," + asked + "]"), after: result("[" + note + "," + asked + "]")},
		"in a result with a text behind": {answer: result("["+svg+"]") + "," + asked, after: result("["+note+"]") + "," + asked},
		"thinking beside a text":         {said: empty + "," + asked, after: asked},
		"thinking on a line of its own":  {said: empty},
		"thinking before other thinking": {said: empty + "," + thought + "," + asked, after: thought + "," + asked},
		"U+0000 in a text":               {prompt: nul, after: shown},
		"U+0000 in a result":             {answer: result(`"a\u0000b"`), after: result(`"a\\u0000b"`)},
		"U+0000 in arguments":            {call: call(`"x":"\u0000"`), after: call(`"x":"\\u0000"`)},
		"U+0000 and an image":            {prompt: nul + "," + svg, after: shown + "," + note},
	} {
		t.Run(name, func(t *testing.T) {
			or := func(given, usual string) string {
				if given == "" {
					return usual
				}
				return given
			}
			message := func(id, content string) string {
				return fmt.Sprintf(`{"id":%q,"model":"claude-opus-4-5","content":[%s]}`, id, content)
			}
			const v = "2.1.330"
			home := homeOf(t,
				line(v, "u", "null", "user", 0, message("", or(tt.prompt, asked))), line(v, "a", `"u"`, "assistant", 1, message("m1", or(tt.said, thought))),
				line(v, "b", `"a"`, "assistant", 2, message("m1", or(tt.call, call("")))), line(v, "r", `"b"`, "user", 3, message("", or(tt.answer, result(`"ok"`)))),
				line(v, "z", `"r"`, "assistant", 4, message("m2", thought+`,{"type":"text","text":"done"}`)),
			)
			before := snapshot(t, home)
			plan, receipt, err := repairtest.Repair(home, "lossy")
			if err != nil || receipt == nil || len(plan.Refused) > 0 {
				t.Fatalf("%v %+v", err, plan)
			}
			text := snapshot(t, home)["projects/p/s.jsonl"]
			if tt.after == "" {
				if lines := strings.Split(text, "\n"); len(lines) != 5 || !strings.Contains(lines[1], `"parentUuid":"u"`) || !strings.Contains(lines[1], call("")) {
					t.Errorf("the line did not leave:\n%s", text)
				}
			} else if !strings.Contains(text, `"content":[`+tt.after+`]}`) {
				t.Errorf("%s is not there:\n%s", tt.after, text)
			}
			if again, second, err := repairtest.Repair(home, "lossy"); err != nil || second != nil {
				t.Errorf("a second repair has something to do: %v %+v", err, again)
			}
			if _, err := repairtest.Undo(home, receipt.Path()); err != nil || snapshot(t, home)["projects/p/s.jsonl"] != before["projects/p/s.jsonl"] {
				t.Errorf("undo: %v", err)
			}
		})
	}
}

package crush_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestOmit: what a provider refuses leaves with --allow lossy, and an undo gives it back. Crush
// sends one text of a message, so notes come into that.
func TestOmit(t *testing.T) {
	const (
		svg     = `{"type":"binary","data":{"Path":"a.svg","MIMEType":"image/svg+xml","Data":"PHN2Zz4="}}`
		png     = `{"type":"binary","data":{"Path":"a.png","MIMEType":"image/png","Data":"iVBORw0KGgo="}}`
		note    = "[sessctl left out image: image/svg+xml, 8 bytes in base64]"
		shell   = `{"type":"shell_command","data":{"command":"ls","output":"","exit_code":0}}`
		thought = `{"type":"reasoning","data":{"thinking":"hm","signature":"AAAA"}}`
		other   = `{"type":"reasoning","data":{"thinking":"other","signature":"BBBB"}}`
		end     = `{"type":"finish","data":{"reason":"stop","time":0}}`
		prompt  = "role = 'user'"
		asks    = "role = 'assistant' and parts like '%tool_call%'"
		answers = "role = 'tool' and parts like '%call_t_0_0%'"
		foreign = "model = 'gpt-5', provider = 'openai'"
	)
	text := func(said string) string { return `{"type":"text","data":{"text":"` + said + `"}}` }
	calls := func(input string) string {
		var list []string
		for n := range 3 {
			list = append(list, fmt.Sprintf(`{"type":"tool_call","data":{"id":"call_t_0_%d","name":"bash","input":"%s","provider_executed":false,"finished":true}}`, n, input))
		}
		return strings.Join(list, ",")
	}
	result := func(content, data, mime string) string {
		return fmt.Sprintf(`{"type":"tool_result","data":{"tool_call_id":"call_t_0_0","name":"bash","content":"%s","data":"%s","mime_type":"%s","metadata":"{\"a\":\"\\u0000\"}","is_error":false}}`, content, data, mime)
	}
	for name, tt := range map[string]struct{ at, is, besides, want string }{
		"an image alone":                     {at: prompt, is: svg, want: text(note)},
		"an image behind a text":             {at: prompt, is: text("go ") + "," + svg, want: text(`go \n` + note)},
		"before a text, and one that stays":  {at: prompt, is: svg + "," + text("go ") + "," + png + "," + svg, want: text(note+`\ngo \n`+note) + "," + png},
		"two without a text":                 {at: prompt, is: svg + "," + png + "," + svg, want: text(note+`\n`+note) + "," + png},
		"beside an empty text":               {at: prompt, is: text("") + "," + svg, want: text(note)},
		"beside a blank text":                {at: prompt, is: text(" ") + "," + svg, want: text(note)},
		"beside a command":                   {at: prompt, is: shell + "," + svg, want: shell + "," + text(note)},
		"beside a command and a text":        {at: prompt, is: shell + "," + svg + "," + text("go"), want: shell + "," + text(note+`\ngo`)},
		"in a result":                        {at: answers, is: result("", "PHN2Zz4=", "image/svg+xml"), want: result(note, "", "")},
		"in a result with a text":            {at: answers, is: result("Loaded", "PHN2Zz4=", "image/svg+xml"), want: result(`Loaded\n`+note, "", "")},
		"thoughts of another model":          {at: asks, besides: foreign, is: thought + "," + text("Looking.") + "," + calls("{}"), want: text("Looking.") + "," + calls("{}")},
		"thoughts that hid others":           {at: asks, besides: foreign, is: thought + "," + text("Looking.") + "," + other + "," + calls("{}"), want: text("Looking.") + "," + calls("{}")},
		"U+0000 in a text":                   {at: prompt, is: text(`a\u0000\\u0000`), want: text(`a\\u0000\\u0000`)},
		"U+0000 in a command":                {at: prompt, is: text("go") + "," + strings.Replace(shell, `"output":""`, `"output":"\u0000"`, 1), want: text("go") + "," + strings.Replace(shell, `"output":""`, `"output":"\\u0000"`, 1)},
		"U+0000 in arguments":                {at: asks, is: calls(`{\"x\":\"\\u0000\"}`), want: calls(`{\"x\":\"\\\\u0000\"}`)},
		"U+0000 in a result":                 {at: answers, is: result(`a\u0000b`, "", ""), want: result(`a\\u0000b`, "", "")},
		"U+0000, in thoughts too, and media": {at: prompt, is: `{"type":"reasoning","data":{"thinking":"\u0000"}},` + text(`\u0000`) + "," + svg, want: `{"type":"reasoning","data":{"thinking":"\u0000"}},` + text(`\\u0000\n`+note)},
	} {
		t.Run(name, func(t *testing.T) {
			path := corpus.Copy(t, "tools")
			if tt.besides == "" {
				tt.besides = "role = role"
			}
			id := storetest.Query(t, path, "select id from messages where "+tt.at)[0]
			storetest.Change(t, path, "update messages set model = 'claude-opus-4-5', provider = 'anthropic' where role = 'assistant'",
				fmt.Sprintf("update messages set parts = '[%s,%s]', %s where id = '%s'", tt.is, end, tt.besides, id))
			before := stored(t, path)
			plan, receipt, err := repairtest.Repair(path, "lossy")
			if err != nil || receipt == nil || len(plan.Refused) > 0 {
				t.Fatalf("%v %+v %q", err, plan, storetest.Findings(t, path))
			}
			if got, want := storetest.Query(t, path, "select parts from messages where id = '"+id+"'"), "["+tt.want+","+end+"]"; !slices.Equal(got, []string{want}) {
				t.Errorf("%s\nwant %s", got, want)
			}
			repairtest.Idle(t, path, repairtest.Told(plan), "lossy")
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(before, stored(t, path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestThoughtsAlone: a message that was nothing but thoughts goes to the receipt with them.
func TestThoughtsAlone(t *testing.T) {
	for _, beside := range []string{"", `{"type":"text","data":{"text":""}},`} {
		path := corpus.Copy(t, "tools")
		storetest.Change(t, path, "update messages set model = 'claude-opus-4-5', provider = 'anthropic' where role = 'assistant'",
			`insert into messages (id, session_id, role, parts, model, provider, created_at, updated_at, finished_at) select 'odd', session_id, role, '[{"type":"reasoning","data":{"thinking":"hm","signature":"AAAA"}},`+
				beside+`{"type":"finish","data":{"reason":"end_turn","time":0}}]', 'gpt-5', 'openai', created_at, updated_at, finished_at from messages where role = 'assistant' limit 1`,
			"insert into messages (id, session_id, role, parts, model, created_at, updated_at) select id || '2', session_id, role, parts, model, created_at, updated_at from messages where role = 'user'",
			"insert into messages (id, session_id, role, parts, model, provider, created_at, updated_at, finished_at) select id || '2', session_id, role, parts, model, provider, created_at, updated_at, finished_at from messages where parts like '%All done%'")
		_, receipt, err := repairtest.Repair(path, "lossy")
		if err != nil || receipt == nil {
			t.Fatalf("%v %q", err, storetest.Findings(t, path))
		}
		if left := storetest.Query(t, path, "select parts from messages where id = 'odd'"); len(left) > 0 {
			t.Errorf("beside %q: %s is left", beside, left)
		}
		repairtest.Idle(t, path, beside, "lossy")
	}
}

// TestLostSubSession: a call whose sub-session is gone is told of, and repairs beside it are made.
func TestLostSubSession(t *testing.T) {
	const (
		gone   = "pragma foreign_keys = off; delete from messages where session_id like '%$$%'; delete from sessions where id like '%$$%'"
		copied = "insert into messages (id, session_id, role, parts, model, created_at, updated_at, finished_at) select id || '2', session_id, role, parts, model, created_at, updated_at, finished_at from messages where "
	)
	for _, tt := range []struct {
		name, from string
		damages    []string
		find       string // "" where nothing is
	}{
		{"a sub-session is gone", "agent", []string{gone}, "warning SC704 call_d1_0_0"},
		{"and its call failed", "agent", []string{gone, `update messages set parts = replace(parts, '"is_error":false', '"is_error":true') where role = 'tool'`}, ""},
		{"and its call has no result", "agent", []string{gone, "delete from messages where role = 'tool'"}, "warning SC101 call_d1_0_0"},
		{"and its result is there twice", "agent", []string{gone, copied + "role = 'tool'"}, "warning SC704 call_d1_0_0"},
		{"it is named as before Crush", "agent", []string{"pragma foreign_keys = off; update sessions set id = 'call_d1_0_0' where id like '%$$%'; update messages set session_id = 'call_d1_0_0' where session_id like '%$$%'"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := corpus.Copy(t, tt.from)
			storetest.Change(t, path, tt.damages...)
			found := storetest.Findings(t, path)
			about := slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, "SC704") })
			if tt.find == "" && about || tt.find != "" && !slices.Contains(found, tt.find) {
				t.Errorf("found %q", found)
			}
			if plan, _, err := repairtest.Repair(path); err != nil {
				t.Errorf("%v%s", err, repairtest.Told(plan))
			}
			repairtest.Idle(t, path, tt.name)
		})
	}
}

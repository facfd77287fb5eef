package goose_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestOmit: what a provider refuses leaves with --allow lossy, and an undo gives it back.
func TestOmit(t *testing.T) {
	const (
		svg      = `{"type":"image","data":"PHN2Zz4=","mimeType":"image/svg+xml"}`
		png      = `{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}`
		note     = "[sessctl left out image: image/svg+xml, 8 bytes in base64]"
		noted    = `{"type":"text","text":"` + note + `"}`
		text     = `{"type":"text","text":"go "}`
		thought  = `{"type":"thinking","thinking":"hm","signature":"AAAA"}`
		redacted = `{"type":"redactedThinking","data":"BBBB"}`
		question = "id = (select min(id) from messages where role = 'user' and content_json like '%Please%')"
		answer   = "id = (select max(id) from messages where role = 'assistant')"
		first    = "id = (select min(id) from messages where role = 'assistant')"
		asks     = `content_json like '%"toolRequest","id":"call_t1_0_1"%'`
		answers  = `content_json like '%"toolResponse","id":"call_t1_0_1"%'`
		foreign  = "metadata_json = json_set(metadata_json, '$.inference', json_object('provider', 'openai', 'requestedModel', 'gpt-5'))"
	)
	call := func(args string) string {
		return `{"type":"toolRequest","id":"call_t1_0_1","toolCall":{"status":"success","value":{"name":"shell","arguments":{"command":"` + args + `"}}}}`
	}
	result := func(value string) string {
		return `{"type":"toolResponse","id":"call_t1_0_1","toolResult":{"status":"success","value":` + value + `}}`
	}
	for name, tt := range map[string]struct{ at, is, besides, want string }{
		"an image alone":                     {at: question, is: svg, want: noted},
		"an image behind a text":             {at: question, is: text + "," + svg, want: text + "," + noted},
		"between texts, and one that stays":  {at: question, is: text + "," + svg + "," + png + "," + text, want: text + "," + noted + "," + png + "," + text},
		"between texts of an answer":         {at: answer, is: text + "," + svg + "," + text, want: text + `,{"type":"text","text":"\n` + note + `\n"},` + text},
		"behind a blank text":                {at: question, is: `{"type":"text","text":" "},` + svg, want: `{"type":"text","text":" "},` + noted},
		"before a blank text":                {at: question, is: svg + `,{"type":"text","text":" "}`, want: noted + `,{"type":"text","text":" "}`},
		"in an answer before a blank text":   {at: answer, is: svg + `,{"type":"text","text":" "}`, want: `{"type":"text","text":"` + note + `\n"},{"type":"text","text":" "}`},
		"two, and what nobody is sent":       {at: question, is: svg + `,{"type":"systemNotification","notificationType":"inlineMessage","msg":"x"},` + svg + "," + text, want: noted + `,{"type":"systemNotification","notificationType":"inlineMessage","msg":"x"},` + noted + "," + text},
		"in a result":                        {at: answers, is: result(`{"content":[` + svg + `,{"type":"text","text":"out"}],"isError":false}`), want: result(`{"content":[` + noted + `,{"type":"text","text":"out"}],"isError":false}`)},
		"in a list, with one for people":     {at: answers, is: result(`[{"type":"image","data":"PHN2Zz4=","mimeType":"image/svg+xml","annotations":{"audience":["user"]}},` + svg + `]`), want: result(`[{"type":"image","data":"PHN2Zz4=","mimeType":"image/svg+xml","annotations":{"audience":["user"]}},` + noted + `]`)},
		"in an answer":                       {at: answer, is: text + "," + svg, want: text + `,{"type":"text","text":"\n` + note + `"}`},
		"thoughts of another model":          {at: first, besides: foreign, is: thought + "," + redacted + "," + text, want: text},
		"thoughts before a call":             {at: asks, besides: foreign, is: thought + "," + call("ls"), want: call("ls")},
		"nothing but thoughts":               {at: first, besides: foreign, is: thought},
		"thoughts and a blank text":          {at: first, besides: foreign, is: thought + `,{"type":"text","text":""}`},
		"U+0000 in a text":                   {at: question, is: `{"type":"text","text":"a\u0000\\u0000"}`, want: `{"type":"text","text":"a\\u0000\\u0000"}`},
		"U+0000 in arguments":                {at: asks, is: call(`\u0000`), want: call(`\\u0000`)},
		"U+0000 in a result":                 {at: answers, is: result(`{"content":[{"type":"text","text":"a\u0000b"}],"isError":false}`), want: result(`{"content":[{"type":"text","text":"a\\u0000b"}],"isError":false}`)},
		"U+0000 in an error":                 {at: answers, is: `{"type":"toolResponse","id":"call_t1_0_1","toolResult":{"status":"error","error":"\u0000"}}`, want: `{"type":"toolResponse","id":"call_t1_0_1","toolResult":{"status":"error","error":"\\u0000"}}`},
		"U+0000, in thoughts too, and media": {at: answer, is: `{"type":"thinking","thinking":"\u0000","signature":"AAAA"},{"type":"text","text":"\u0000"},` + svg, want: `{"type":"thinking","thinking":"\u0000","signature":"AAAA"},{"type":"text","text":"\\u0000"},{"type":"text","text":"\n` + note + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			path := corpus.Copy(t, "tools")
			if tt.besides == "" {
				tt.besides = "role = role"
			}
			id := storetest.Query(t, path, "select id from messages where "+tt.at)[0]
			storetest.Change(t, path, `update messages set metadata_json = json_set(metadata_json, '$.inference', json_object('provider', 'anthropic', 'requestedModel', 'claude-opus-4-5')) where role = 'assistant'`,
				fmt.Sprintf("update messages set content_json = '[%s]', %s where id = %s", tt.is, tt.besides, id))
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path, "lossy")
			if err != nil || receipt == nil || len(plan.Refused) > 0 {
				t.Fatalf("%v %+v %q", err, plan, storetest.Findings(t, path))
			}
			var want []string
			if tt.want != "" {
				want = []string{"[" + tt.want + "]"}
			}
			if got := storetest.Query(t, path, "select content_json from messages where id = "+id); !slices.Equal(got, want) {
				t.Errorf("%s\nwant %s", got, want)
			}
			repairtest.Idle(t, path, repairtest.Told(plan), "lossy")
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil || !slices.Equal(before, storetest.Dump(t, path)) {
				t.Errorf("the undo: %v", err)
			}
		})
	}
}

package openaiagents

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// FuzzItem holds that no row is too odd to read, and that one reads the same twice.
func FuzzItem(f *testing.F) {
	for _, data := range []string{
		`{"role":"user","content":"hi"}`, `{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`,
		`{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"}]}`,
		`{"type":"shell_call_output","call_id":"c","output":[{"stdout":"","stderr":"[sessctl] x"}]}`, `{"type":"tool_search_call","call_id":null}`,
		`{"type":"reasoning","id":"rs_1","summary":[{"text":"t"}],"content":null}`, `{"__enc__":1,"payload":"x"}`, `{"type":"unheard_of"}`, `null`, `[]`, `{"role":1}`, `{`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func() session.Item {
			x, wrong := parseItem(data)
			it := session.Item{}
			if wrong == nil {
				x.readItem(&it)
			}
			return it
		}
		first, again := read(), read()
		if first.Meaning != again.Meaning || first.Role != again.Role || len(first.Calls) > 1 || len(first.Results) > 1 {
			t.Errorf("%q is %+v, and again %+v", data, first, again)
		}
		for _, b := range first.Blocks {
			if b.Kind == session.CallBlock && len(first.Calls) == 0 || b.Kind == session.ResultBlock && len(first.Results) == 0 {
				t.Errorf("%q has the block %+v", data, b)
			}
		}
	})
}

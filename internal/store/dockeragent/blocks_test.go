package dockeragent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// sayBlocks prints blocks, zero values left out.
func sayBlocks(list []session.Block) string {
	var b strings.Builder
	for _, k := range list {
		fmt.Fprintf(&b, " %s", k.Kind)
		for _, part := range []struct {
			ok   bool
			text string
		}{
			{k.Name != "", "=" + k.Name}, {k.Kind == session.CallBlock, fmt.Sprint(k.Nth)},
			{k.Width != 0, fmt.Sprintf("(%dx%d)", k.Width, k.Height)},
			{k.Text != 0, "+text"}, {k.Signature != 0, "+signed"}, {k.Unsigned, "+unsigned"}, {k.Blank, "+blank"}, {k.Cached, "+cached"},
			{k.Media != "", " " + k.Media}, {k.Is != "" && k.Is != k.Media, " is " + k.Is}, {k.Bytes != 0, fmt.Sprint(" ", k.Bytes)}, {k.Broken, "+broken"}, {k.Unsent, "+unsent"},
			{k.In != 0, fmt.Sprint(" in ", k.In)},
		} {
			if part.ok {
				b.WriteString(part.text)
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// smallGIF is an image of 7 by 5 pixels, as far as its header goes.
const smallGIF = "R0lGODlhBwAFAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

func TestBlocks(t *testing.T) {
	const twoCalls = `"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f"}}]`
	tests := []struct{ name, data, want string }{
		{"text and calls", `{"role":"assistant","content":"x",` + twoCalls + `,"model":"anthropic/claude-sonnet-4-5"}`, ""},
		{"blank text and calls", `{"role":"assistant","content":"\n\n",` + twoCalls + `}`, ""},
		{"result", `{"role":"tool","content":"x","tool_call_id":"a"}`, ""},
		{"signed thinking", `{"role":"assistant","content":"x","reasoning_content":"hm","thinking_signature":"s","model":"anthropic/claude-sonnet-4-5",` + twoCalls + `}`,
			"reasoning+text+signed text call0 call1"},
		{"redacted thinking", `{"role":"assistant","content":"","thinking_signature":"s"}`, "reasoning+signed"},
		{"unsigned thinking of Claude", `{"role":"assistant","content":" ","reasoning_content":"hm","model":"amazon-bedrock/us.anthropic.claude-opus-4"}`,
			"reasoning+text+unsigned text+blank"},
		{"thinking of others has no signature", `{"role":"assistant","content":"","reasoning_content":"hm","model":"deepseek/deepseek-reasoner"}`, "reasoning+text"},
		{"Gemini's signature is the first call's", `{"role":"assistant","content":"x","thought_signature":"QUJD","model":"google/gemini-3-pro",` + twoCalls + `}`,
			"text call0+signed call1"},
		{"Gemini's signature of a text", `{"role":"assistant","content":"x","reasoning_content":"hm","thought_signature":"QUJD","model":"google/gemini-3-pro"}`,
			"reasoning+text text+signed"},
		{"Gemini's signature is missing", `{"role":"assistant","content":"","model":"google/gemini-3-pro",` + twoCalls + `}`, "call0+unsigned call1"},
		{"a text of Gemini needs none", `{"role":"assistant","content":"x","model":"google/gemini-3-pro"}`, ""},
		{"signature of nothing", `{"role":"assistant","content":"","thought_signature":"QUJD"}`, ""},

		{"parts in their order", `{"role":"user","content":"not sent","multi_content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x/y.png"}},{"type":"text","text":" \n"}]}`,
			"text media=image text+blank"},
		{"image in a URL", `{"role":"user","content":"","multi_content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,` + smallGIF + `"}}]}`, "media=image(7x5) image/gif 56"},
		{"image that is none", `{"role":"user","content":"","multi_content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,AAAA"}}]}`, "media=image image/gif 4"},
		{"image in no known form", `{"role":"user","content":"","multi_content":[{"type":"image_url","image_url":{"url":"data:,` + smallGIF + `"}},{"type":"image_url"}]}`, "media=image media=image"},
		{"files", `{"role":"user","content":"","multi_content":[{"type":"file","file":{"path":"a","mime_type":"image/png"}},{"type":"file","file":{"path":"b","mime_type":"application/pdf"}},{"type":"file","file":{"path":"c"}}]}`,
			"media=image media=document media=document"},
		{"documents", `{"role":"user","content":"","multi_content":[{"type":"document","document":{"name":"a","mime_type":"image/gif","source":{"inline_data":"` + smallGIF + `"}}},` +
			`{"type":"document","document":{"mime_type":"audio/wav","source":{}}},{"type":"document","document":{"mime_type":"video/mp4"}},{"type":"document","document":7},{"type":"document"}]}`,
			"media=image(7x5) image/gif 56 media=audio media=video media=document media=document"},
		{"result with an image", `{"role":"tool","content":"x","tool_call_id":"a","multi_content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,` + smallGIF + `"}}]}`,
			"result media=image(7x5) image/gif 56 in 1"},
		{"a type that is not sent by its name", `{"role":"user","content":"","multi_content":[{"type":"image_url","image_url":{"url":"data:image/jpg;base64,/9j/4AAQ"}},` +
			`{"type":"image_url","image_url":{"url":"data:image/svg+xml;base64,PHN2Zz48L3N2Zz4="}},{"type":"document","document":{"mime_type":"image/bmp","source":{"inline_data":"Qk1="}}}]}`,
			"media=image image/jpeg 8 media=image image/svg+xml 16 media=image image/bmp 4+unsent"},
		{"no base64", `{"role":"user","content":"","multi_content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,_-_"}}]}`, "media=image image/png 3+broken"},
		{"unknown part", `{"role":"user","content":"","multi_content":[{"type":"holo\ngram"},{}]}`, "unknown=holo\ngram unknown"},
		{"mark for the cache", `{"role":"system","content":"x","cache_control":true}`, "text+cached"},
		{"no mark", `{"role":"system","content":"x","cache_control":false}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sayBlocks(decoded(t, tt.data).blocks); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			agree(t, []byte(tt.data))
		})
	}
}

// The signatures of different texts are different, and equal ones are equal.
func TestSignatures(t *testing.T) {
	signature := func(data string) session.Digest { return decoded(t, data).blocks[0].Signature }
	a := signature(`{"role":"assistant","thinking_signature":"a\u003c"}`)
	if a == signature(`{"role":"assistant","thinking_signature":"b"}`) || a != signature(`{"role":"assistant","thinking_signature":"a<","content":"x"}`) {
		t.Error("a signature of thinking is not told by its text")
	}
	b := signature(`{"role":"assistant","content":"x","thought_signature":"QQ=="}`)
	if b == signature(`{"role":"assistant","content":"x","thought_signature":"Qg=="}`) || b != signature(`{"role":"assistant","content":"x","thought_signature":"QR=="}`) {
		t.Error("a signature of a text is not told by its bytes")
	}
}

// The size is about that of the texts, whatever else the record holds.
func TestSize(t *testing.T) {
	long := strings.Repeat("x", 1000)
	tests := []struct {
		data string
		want int64
	}{
		{`{"role":"user","content":"` + long + `","created_at":"2026-01-02T03:04:05Z"}`, 1000},
		{`{"role":"tool","content":"` + long + `","tool_call_id":"` + long + `"}`, 1000},
		{`{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"f","arguments":"` + long + `"}}],"tool_definitions":[{"name":"` + long + `"}]}`, 1000},
		{`{"role":"assistant","content":"ab","reasoning_content":"` + long + `"}`, 1002},
		{`{"role":"user","content":"` + long + `","multi_content":[{"type":"text","text":"` + long + `"},{"type":"image_url","image_url":{"url":"` + long + `"}}]}`, 2000},
		{`{"role":"tool","content":"` + long + `","multi_content":[{"type":"text","text":"` + long + `"}]}`, 1000},
	}
	for _, tt := range tests {
		if got := decoded(t, tt.data).size; got != tt.want {
			t.Errorf("%.60s…: %d, want %d", tt.data, got, tt.want)
		}
	}
}

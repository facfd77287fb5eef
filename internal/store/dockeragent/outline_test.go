package dockeragent_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// writeParts writes session P with everything that only the parts of a message
// tell.
func writeParts(db *agenttest.DB) {
	root := db.Root(agenttest.SessionRow{ID: "P", Title: "parts"})
	root.Message("", agenttest.Message{Role: "user", MultiContent: []agenttest.Part{
		agenttest.TextPart("look "), agenttest.ImagePart(9000, 2), agenttest.ImageDocument("a.png", 3, 2100),
		agenttest.DocumentPart(agenttest.Document{Name: "a.pdf", MimeType: "application/pdf", Source: agenttest.DocumentSource{InlineData: []byte("%PDF-1.4")}}),
	}}, false)
	root.Assistant("root", agenttest.Message{
		Content: "\n\n", ReasoningContent: "hm", ThinkingSignature: "c2ln", Model: "anthropic/claude-sonnet-4-5",
		ToolCalls: []agenttest.ToolCall{agenttest.CallTool("a", "shell", `{"cmd":`), agenttest.CallTool("b", "shell", "[]"), agenttest.CallTool("c", "shell", "")},
	})
	for _, id := range []string{"a", "b", "c"} {
		root.Result("root", id, "ok")
	}
	root.Assistant("root", agenttest.Message{
		Content: "on it ", ThoughtSignature: []byte("sig"), Model: "google/gemini-3-pro",
		ToolCalls: []agenttest.ToolCall{agenttest.CallTool("d", "shell", "{}")},
	})
	root.Message("root", agenttest.Message{
		Role: "tool", Content: "ok", ToolCallID: "d", MultiContent: []agenttest.Part{agenttest.TextPart("ok"), agenttest.ImagePart(4, 3)},
	}, false)
	db.Sync()
}

// The outline of a stored message, from its row and from the old column alike.
func TestOutline(t *testing.T) {
	const text, reasoning, call, result, media = session.TextBlock, session.ReasoningBlock, session.CallBlock, session.ResultBlock, session.MediaBlock
	want := []struct {
		model  string
		flags  session.Flags
		forms  []session.ArgsForm
		blocks []session.Block // digests as 1
	}{
		{blocks: []session.Block{
			{Kind: text}, {Kind: media, Name: "image", Width: 9000, Height: 2, Media: "image/png", Is: "image/png", Bytes: 144}, {Kind: media, Name: "image", Width: 3, Height: 2100, Media: "image/png", Is: "image/png", Bytes: 128},
			{Kind: media, Name: "document", Media: "application/pdf", Is: "application/pdf", Bytes: 12},
		}},
		{
			model: "anthropic/claude-sonnet-4-5", flags: session.BlankText | session.TrailingSpace,
			forms:  []session.ArgsForm{session.ArgsBroken, session.ArgsValue, session.ArgsObject},
			blocks: []session.Block{{Kind: reasoning, Text: 1, Signature: 1}, {Kind: text, Blank: true}, {Kind: call}, {Kind: call, Nth: 1}, {Kind: call, Nth: 2}},
		},
		{}, {}, {},
		{
			model: "google/gemini-3-pro", flags: session.TrailingSpace, forms: []session.ArgsForm{session.ArgsObject},
			blocks: []session.Block{{Kind: text}, {Kind: call, Signature: 1}},
		},
		{blocks: []session.Block{{Kind: result}, {Kind: media, Name: "image", Width: 4, Height: 3, Media: "image/png", Is: "image/png", Bytes: 104, In: 1}}},
	}
	for _, generation := range []int{13, 18, 29} {
		items := treeOf(t, built(t, generation, writeParts)).Root().Items
		if len(items) != len(want) {
			t.Fatalf("generation %d: %d items, want %d", generation, len(items), len(want))
		}
		for i := range items {
			it, w := &items[i], &want[i]
			if it.Model() != w.model || it.Flags != w.flags || it.Size < 2 {
				t.Errorf("generation %d, item %d: model %q, flags %b, %d bytes", generation, i, it.Model(), it.Flags, it.Size)
			}
			for n, form := range w.forms {
				if it.Calls[n].Form != form {
					t.Errorf("generation %d, item %d, call %d: form %d, want %d", generation, i, n, it.Calls[n].Form, form)
				}
			}
			if len(it.Blocks) != len(w.blocks) {
				t.Fatalf("generation %d, item %d: blocks %+v, want %+v", generation, i, it.Blocks, w.blocks)
			}
			for n, got := range it.Blocks {
				got.Text, got.Signature = min(got.Text, 1), min(got.Signature, 1)
				if got != w.blocks[n] {
					t.Errorf("generation %d, item %d, block %d: %+v, want %+v", generation, i, n, got, w.blocks[n])
				}
			}
		}
	}
}

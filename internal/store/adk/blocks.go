package adk

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// sign says of the first call that it lacks its signature, where the document names
// a Gemini: that one gives some.
func (w *writer) sign(model string) {
	for i := range w.it.Blocks {
		if b := &w.it.Blocks[i]; b.Kind == session.CallBlock {
			b.Unsigned = b.Signature == 0 && strings.Contains(model, "gemini")
			return
		}
	}
}

// plain reports whether blocks tell no more than that there is one text at most,
// then calls, then results.
func plain(blocks []session.Block) bool {
	texts := 0
	for i, b := range blocks {
		if b.Kind == session.TextBlock {
			texts++
		}
		simple := session.Block{Kind: b.Kind, Nth: b.Nth, Blank: b.Blank}
		if b != simple || texts > 1 || b.Kind == session.ReasoningBlock || b.Kind == session.MediaBlock || i > 0 && b.Kind < blocks[i-1].Kind {
			return false
		}
	}
	return true
}

// mediaName is the kind of a medium by its mime type, "document" for those that are
// none of the others.
func mediaName(mimeType string) string {
	kind, _, _ := strings.Cut(mimeType, "/")
	if slices.Contains([]string{"image", "audio", "video"}, kind) {
		return kind
	}
	return "document"
}

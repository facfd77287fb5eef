package jsonedit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/jsonedit"
)

// TestShowNUL: what is shown reads as the text with six characters for each U+0000.
func TestShowNUL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("\x00\\u0\"é"))).Draw(t, "text")
		quoted, _ := json.Marshal(text)
		var shown string
		if err := json.Unmarshal(jsonedit.ShowNUL(quoted), &shown); err != nil || shown != strings.ReplaceAll(text, "\x00", `\u0000`) {
			t.Errorf("%s is %q: %v", quoted, shown, err)
		}
	})
}

package cmd_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/recording"
)

// TestAModelOfAnotherCommandIsPassedOver: `view` and `replay` both have a setting
// model, with words of their own, and one environment is for both.
func TestAModelOfAnotherCommandIsPassedOver(t *testing.T) {
	words := recording.Models[:]
	for _, m := range branch.Models {
		words = append(words, m.Name)
	}
	store := filepath.Join("..", "testdata", "healthy.ndjson")
	for _, word := range words {
		var out, errs bytes.Buffer
		getenv := func(name string) string { return map[string]string{"SESSCTL_MODEL": word, "HOME": t.TempDir()}[name] }
		cmd.Main([]string{"view", store, "-1"}, strings.NewReader(""), &out, &errs, getenv)
		cmd.Main([]string{"replay", "-"}, strings.NewReader(`{"type":"user_message","session_id":"P"}`), &out, &errs, getenv)
		if strings.Contains(errs.String(), "SESSCTL_MODEL") {
			t.Errorf("%s: %s", word, errs.String())
		}
	}
}

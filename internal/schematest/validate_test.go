package schematest_test

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/schematest"
)

// TestWhatTestsExpectIsValid holds the files of what is printed against the schemas; package cmd
// does it with what its scripts print. Canonical streams are left out: many are written by hand,
// and damaged.
func TestWhatTestsExpectIsValid(t *testing.T) {
	found := map[string]int{}
	hold := func(file string, text []byte) {
		name, err := schematest.ValidateOutput(text)
		if name == "canonical" {
			return
		}
		if found[name]++; err != nil {
			t.Errorf("%s is no %s: %v", file, name, err)
		}
	}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(file, "testdata/") {
			return err
		}
		text, err := fs.ReadFile(root, file)
		if path.Ext(file) == ".json" || path.Ext(file) == ".ndjson" {
			hold(file, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"view", "replay", "replay-line"} {
		if found[name] == 0 {
			t.Errorf("no test expects a %s", name)
		}
	}
}

// TestWhatIsNotAsPublished: what differs from a schema is found.
func TestWhatIsNotAsPublished(t *testing.T) {
	const good = `{"schema":"sessctl.explain/1","tool":{"name":"sessctl","version":"1"},"rules":[]}`
	for _, tt := range []struct{ text, name, wrong string }{
		{good, "explain", ""},
		{strings.Replace(good, `"rules"`, `"rule"`, 1), "explain", "rules"},
		{strings.Replace(good, `[]`, `[],"more":1`, 1), "explain", "more"},
		{strings.Replace(good, `[]`, `null`, 1), "explain", "null"},
		{strings.Replace(good, `"version":"1"`, `"version":1`, 1), "explain", "number"},
		{`{"type":"hit"}` + "\n" + `{"type":"summary","schema":"sessctl.find/1"}`, "find-line", "value 1"},
		{`{"schema":"sessctl.unheard/1"}`, "unheard", "missing"},
		{"no JSON", "", ""}, {`{"other":1}`, "", ""},
	} {
		name, err := schematest.ValidateOutput([]byte(tt.text))
		if name != tt.name || (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: got %q, %v", tt.text, name, err)
		}
	}
}

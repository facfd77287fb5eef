package machine

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/baseline"
	"github.com/sessctl/sessctl/internal/render"
)

// TestTheDocumentedKeysAreThoseOfTheDocuments compares the tables of
// docs/json.md with the types that are printed, heading by heading.
func TestTheDocumentedKeysAreThoseOfTheDocuments(t *testing.T) {
	page, err := os.ReadFile("../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := keysByHeading(string(page))
	for heading, document := range map[string]any{
		"check --format json":    checkDocument{},
		"check --format ndjson":  checkSummary{},
		"why --format json":      whyDocument{},
		"view --format json":     viewDocument{},
		"replay --format json":   replayDocument{},
		"replay --format ndjson": replaySummaryLine{},
		"find --format json":     foundDocument{},
		"find --format ndjson":   foundSummary{},
		"ls --format json":       lsDocument{},
		"ls --format ndjson":     lsSummary{},
		"watch --format ndjson":  watchStore{},
		"stores --format json":   storesDocument{},
		"diff --format json":     diffDocument{},
		"explain --format json":  explainDocument{},
		"config --format json":   configDocument{},
		"version --format json":  render.Build{},
		"The baseline file":      baseline.File{},
	} {
		keys := jsonKeys(reflect.TypeOf(document), "")
		oneMeaning(t, heading, keys)
		if slices.Contains(documented[heading], "findings[]") { // explained under another heading
			keys = collapse(keys, "findings[]")
		}
		if diff := cmp.Diff(keys, documented[heading]); diff != "" {
			t.Errorf("%s (-program +docs/json.md):\n%s", heading, diff)
		}
		delete(documented, heading)
	}
	if len(documented) > 0 {
		t.Errorf("tables for documents that this test does not know: %v", documented)
	}
}

// keysByHeading lists the keys in the tables of a page, below their headings.
func keysByHeading(page string) map[string][]string {
	row := regexp.MustCompile("^\\| `([^`]+)` \\|")
	keys, heading := map[string][]string{}, ""
	for line := range strings.Lines(page) {
		if text, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.TrimSpace(text)
		}
		if m := row.FindStringSubmatch(line); m != nil {
			keys[heading] = append(keys[heading], m[1])
		}
	}
	return keys
}

// oneMeaning fails for a key that stands for two things in a document: of two fields
// with one name, the encoder writes the outer one.
func oneMeaning(t *testing.T, heading string, keys []string) {
	t.Helper()
	for _, key := range keys {
		twice := func(other string) bool {
			return strings.HasPrefix(other, key+"[]") || strings.HasPrefix(other, key+".")
		}
		if slices.ContainsFunc(keys, twice) {
			t.Errorf("%s: %s is a value and a list or an object", heading, key)
		}
	}
}

// collapse makes one key of those of a list's objects.
func collapse(keys []string, list string) []string {
	for i := range keys {
		if strings.HasPrefix(keys[i], list+".") {
			keys[i] = list
		}
	}
	return slices.Compact(keys)
}

// jsonKeys lists the paths of the values in a document. The type of a line of
// ndjson is left out where it stands in a list.
func jsonKeys(of reflect.Type, path string) []string {
	switch {
	case of.Kind() == reflect.Pointer:
		return jsonKeys(of.Elem(), path)
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
		keys := jsonKeys(of.Elem(), path+"[]")
		return slices.DeleteFunc(keys, func(key string) bool { return key == path+"[].type" })
	case of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]():
		return []string{path}
	}
	var keys []string
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case field.Anonymous:
			keys = append(keys, jsonKeys(field.Type, path)...)
		case path == "":
			keys = append(keys, jsonKeys(field.Type, name)...)
		default:
			keys = append(keys, jsonKeys(field.Type, path+"."+name)...)
		}
	}
	return keys
}

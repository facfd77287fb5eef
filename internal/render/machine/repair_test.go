package machine

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The list in docs/json.md and the document have the same keys.
func TestTheDocumentedKeysAreThoseOfARepair(t *testing.T) {
	page, err := os.ReadFile("../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## repair --format json\n")
	section, _, _ = strings.Cut(section, "\n### ")
	var got []string
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`").FindAllStringSubmatch(section, -1) {
		got = append(got, m[1])
	}
	if diff := cmp.Diff(jsonKeys(reflect.TypeFor[repairDocument](), ""), got); diff != "" {
		t.Errorf("(-program +docs/json.md):\n%s", diff)
	}
}

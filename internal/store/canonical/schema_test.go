package canonical

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sessctl/sessctl/internal/schematest"
)

var update = flag.Bool("update", false, "write docs/schema")

// TestSchema holds docs/schema against the lines of a stream. What their members mean stands in
// docs/canonical.md, which therefore has each of them.
func TestSchema(t *testing.T) {
	page, err := os.ReadFile("../../../docs/canonical.md")
	if err != nil {
		t.Fatal(err)
	}
	meanings := documentedMembers(string(page))
	m := schematest.Maker{Types: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[looseText]():   {Type: "string"},
		reflect.TypeFor[textMember]():  {Types: []string{"string", "null"}},
		reflect.TypeFor[branchLabel](): {Types: []string{"string", "object"}},
	}}
	m.Describe = func(of reflect.Type, member string) string {
		section := strings.TrimSuffix(of.Name(), "Line")
		switch section {
		case "block":
			section = "blocks"
		case "storedRecord":
			section = "item"
		case "refusal": // told with the item
			return ""
		}
		meaning, told := meanings[section][member]
		if !told {
			t.Errorf("docs/canonical.md does not have the member %s of a %s", member, section)
		}
		return meaning
	}
	delegation := m.MakeForm(t, schematest.Form{Of: reflect.TypeFor[delegationLine]()})
	delegation.Type, delegation.Types, delegation.PropertyOrder = "", []string{"object", "null"}, nil
	m.Types[reflect.TypeFor[delegationMember]()] = delegation
	line := func(name string, of reflect.Type) schematest.Form {
		return schematest.Form{Of: of, Is: map[string]string{"type": name}}
	}
	header := line(typeHeader, reflect.TypeFor[headerLine]())
	header.Is["format"] = fmt.Sprintf("%s/%d", formatName, formatVersion)
	m.HoldSchemas(t, *update, schematest.Schema{Name: "canonical", Title: "a line of the canonical stream, as sessctl export writes it (docs/canonical.md)", Forms: []schematest.Form{
		header, line(typeSession, reflect.TypeFor[sessionLine]()), line(typeItem, reflect.TypeFor[itemLine]()), line(typeFault, reflect.TypeFor[faultLine]()),
	}})
}

// documentedMembers are what the tables of a page say of members, by their sections.
func documentedMembers(page string) map[string]map[string]string {
	required := regexp.MustCompile(`^required([;,] |$)`) // a schema says so itself
	row := regexp.MustCompile("^\\| (`.+?`) \\| .*? \\|(.*)\\|$")
	sections, section := map[string]map[string]string{}, ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if heading, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && strings.HasPrefix(line, "#") {
			section = strings.ToLower(heading)
			sections[section] = map[string]string{}
		}
		if m := row.FindStringSubmatch(line); m != nil {
			for _, member := range strings.Split(m[1], ", ") {
				sections[section][strings.Trim(member, "`")] = required.ReplaceAllString(strings.TrimSpace(m[2]), "")
			}
		}
	}
	return sections
}

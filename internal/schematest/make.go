// Package schematest makes the published JSON Schemas of what is printed from the Go types that
// are printed, and holds JSON against them.
package schematest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is one of docs/schema.
type Schema struct {
	Name, Title string
	Forms       []Form // one of a document, several of lines
}

// Form is what a document or a line can be.
type Form struct {
	Of    reflect.Type
	Is    map[string]string       // members that always say the same
	Holds map[string]reflect.Type // members that the type has as any JSON
	Nulls bool                    // it is printed by encoding/json, for which an empty list is null
}

// Maker makes schemas.
type Maker struct {
	Types    map[reflect.Type]*jsonschema.Schema // of types that print themselves
	Describe func(of reflect.Type, member string) string
	comments map[string]map[string]string        // of the fields of types, by package
	known    map[reflect.Type]*jsonschema.Schema // Types, and those that every form has
	nulls    bool
}

// address is where the schemas are published: the id of one is this with its name.
const address = "https://raw.githubusercontent.com/sessctl/sessctl/main/docs/schema/"

// HoldSchemas compares the published schemas with the types, or writes them.
func (m *Maker) HoldSchemas(t *testing.T, update bool, schemas ...Schema) {
	t.Helper()
	for _, s := range schemas {
		path := filepath.Join(projectFolder(t), "docs", "schema", s.Name+".json")
		want := m.makeSchema(t, s)
		if update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("docs/schema/%s.json is not what the types say; -update writes it, if no key lost its meaning (-types +published):\n%s", s.Name, diff)
		}
	}
}

func (m *Maker) makeSchema(t *testing.T, s Schema) []byte {
	t.Helper()
	root := &jsonschema.Schema{}
	for _, f := range s.Forms {
		form := m.MakeForm(t, f)
		if len(s.Forms) == 1 {
			root = form
		} else {
			root.AnyOf = append(root.AnyOf, form)
		}
	}
	body, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf(`{"$schema":%q,"$id":%q,"title":%q,`, "https://json-schema.org/draft/2020-12/schema", address+s.Name+".json", s.Title)
	var out bytes.Buffer
	if err := json.Indent(&out, append([]byte(head), body[1:]...), "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

// MakeForm makes the schema of one form.
func (m *Maker) MakeForm(t *testing.T, f Form) *jsonschema.Schema {
	t.Helper()
	m.nulls = f.Nulls
	m.known = map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[jsontext.Value]():  {},
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
	}
	maps.Copy(m.known, m.Types)
	m.addTextTypes(f.Of)
	form, err := jsonschema.ForType(f.Of, &jsonschema.ForOptions{TypeSchemas: m.known})
	if err != nil {
		t.Fatal(err)
	}
	m.describeMembers(t, form, f.Of)
	for member, of := range f.Holds {
		held := m.MakeForm(t, Form{Of: of, Nulls: true})
		held.Description = form.Properties[member].Description
		form.Properties[member] = held
	}
	for _, member := range slices.Sorted(maps.Keys(f.Is)) {
		if form.Properties[member] == nil {
			form.Properties[member] = &jsonschema.Schema{Type: "string"}
		}
		form.Properties[member].Const = jsonschema.Ptr(any(f.Is[member]))
		if !slices.Contains(form.Required, member) {
			form.Required = append(form.Required, member)
		}
	}
	return form
}

// addTextTypes adds the types that print themselves as text.
func (m *Maker) addTextTypes(t reflect.Type) {
	switch {
	case m.known[t] != nil:
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		m.known[t] = &jsonschema.Schema{Type: "string"}
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		m.addTextTypes(t.Elem())
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			if f.Tag.Get("json") != "-" {
				m.addTextTypes(f.Type)
			}
		}
	}
}

// describeMembers gives the members of a schema what comments say of the fields. Other members may
// come with later versions. What is left out when it is empty is never null.
func (m *Maker) describeMembers(t *testing.T, s *jsonschema.Schema, of reflect.Type) {
	t.Helper()
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case m.known[of] != nil:
	case of.Kind() == reflect.Slice, of.Kind() == reflect.Array:
		m.describeMembers(t, s.Items, of.Elem())
		dropNull(s.Items)
	case of.Kind() == reflect.Struct:
		s.AdditionalProperties = nil
		seen := map[string]bool{}
		for _, f := range reflect.VisibleFields(of) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			member, left := s.Properties[name], strings.Contains(options, "omit")
			if seen[name] && name != "" && name != "-" { // of two, the encoder writes the outer one
				t.Errorf("%v has two members %s", of, name)
			}
			seen[name] = true
			switch {
			case options == "embed":
				m.embedMembers(t, s, f)
			case f.Anonymous || member == nil:
			case name == "type" && left: // of a line; in a list it is left out
				delete(s.Properties, name)
			default:
				m.describeMembers(t, member, f.Type)
				if m.Types[f.Type] == nil && (left || !m.nulls) {
					dropNull(member)
				}
				owner := of
				for _, i := range f.Index[:len(f.Index)-1] {
					owner = owner.Field(i).Type
				}
				member.Description = m.commentOf(t, owner, f.Name, name)
			}
		}
	}
}

// embedMembers puts the members of a field into the schema of its struct, or lets any others be
// there.
func (m *Maker) embedMembers(t *testing.T, s *jsonschema.Schema, f reflect.StructField) {
	t.Helper()
	part := s.Properties[f.Name]
	drop := func(list []string) []string {
		return slices.DeleteFunc(list, func(name string) bool { return name == f.Name })
	}
	delete(s.Properties, f.Name)
	s.Required, s.PropertyOrder = drop(s.Required), drop(s.PropertyOrder)
	if m.known[f.Type] != nil {
		s.AdditionalProperties = &jsonschema.Schema{}
		return
	}
	m.describeMembers(t, part, f.Type)
	maps.Copy(s.Properties, part.Properties)
	s.PropertyOrder = append(s.PropertyOrder, part.PropertyOrder...)
}

func dropNull(s *jsonschema.Schema) {
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
}

// commentOf is what a member means.
func (m *Maker) commentOf(t *testing.T, of reflect.Type, field, member string) string {
	t.Helper()
	if m.Describe != nil {
		return m.Describe(of, member)
	}
	if m.comments == nil {
		m.comments = map[string]map[string]string{}
	}
	if m.comments[of.PkgPath()] == nil {
		_, folder, _ := strings.Cut(of.PkgPath(), "sessctl/sessctl/")
		m.comments[of.PkgPath()] = readComments(t, filepath.Join(projectFolder(t), filepath.FromSlash(folder)))
	}
	return m.comments[of.PkgPath()][of.Name()+"."+field]
}

// readComments reads the comments on the fields of the types of a package.
func readComments(t *testing.T, folder string) map[string]string {
	t.Helper()
	comments := map[string]string{}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files in %s: %v", len(files), folder, err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, isType := n.(*ast.TypeSpec)
			if !isType {
				return true
			}
			if fields, isStruct := spec.Type.(*ast.StructType); isStruct {
				for _, f := range fields.Fields.List {
					for _, name := range f.Names {
						comments[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
					}
				}
			}
			return false
		})
	}
	return comments
}

// projectFolder is the way from a package to the project.
func projectFolder(t *testing.T) string {
	t.Helper()
	for folder := "."; len(folder) < 20; folder = filepath.Join("..", folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
	}
	t.Fatal("the test runs outside of the project")
	return ""
}

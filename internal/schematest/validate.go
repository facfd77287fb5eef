package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sessctl/sessctl/docs"
)

// compiled are the published schemas, with no member that they do not name.
var compiled = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	files, err := fs.Glob(docs.Schemas, "schema/*.json")
	if err != nil {
		return nil, err
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, file := range files {
		text, err := docs.Schemas.ReadFile(file)
		if err != nil {
			return nil, err
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		forbidOthers(document)
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if err := compiler.AddResource(file, document); err != nil {
			return nil, err
		}
		if schemas[strings.TrimSuffix(path.Base(file), ".json")], err = compiler.Compile(file); err != nil {
			return nil, err
		}
	}
	return schemas, nil
})

// forbidOthers allows no member that a schema does not name.
func forbidOthers(value any) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			forbidOthers(v)
		}
	case map[string]any:
		if _, isObject := value["properties"].(map[string]any); isObject && value["additionalProperties"] == nil {
			value["additionalProperties"] = false
		}
		for _, v := range value {
			forbidOthers(v)
		}
	}
}

// ValidateOutput holds a text against the schema of what it is: a document of the program, or its lines.
// It says which one that was, "" where the text is nothing of that.
func ValidateOutput(text []byte) (name string, err error) {
	var values []any
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			break
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return "", err
		}
		values = append(values, value)
	}
	if len(values) == 0 {
		return "", nil
	}
	if name = nameOf(values[0], values[len(values)-1]); name == "" {
		return "", nil
	}
	schemas, err := compiled()
	if err != nil {
		return "", err
	}
	if schemas[name] == nil {
		return name, fmt.Errorf("docs/schema/%s.json is missing", name)
	}
	for i, value := range values {
		if err := schemas[name].Validate(value); err != nil {
			return name, fmt.Errorf("value %d: %w", i+1, err)
		}
	}
	return name, nil
}

// nameOf is the name of the schema of some values.
func nameOf(first, last any) string {
	head, _ := first.(map[string]any)
	end, _ := last.(map[string]any)
	schema, _ := end["schema"].(string)
	if head["type"] == "begin" {
		schema, _ = head["schema"].(string)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(schema, "sessctl."), "/")
	switch {
	case head["record"] == "repair":
		return "receipt"
	case head["type"] == "header" && head["format"] != nil:
		return "canonical"
	case (head["type"] == "note" || head["type"] == "error") && head["message"] != nil:
		return "message"
	case strings.HasPrefix(schema, "sessctl.") && (head["type"] == "begin" || end["type"] == "summary"):
		return name + "-line"
	case strings.HasPrefix(schema, "sessctl."):
		return name
	case head["name"] == "sessctl" && head["version"] != nil:
		return "version"
	}
	return ""
}

// RequireValid is ValidateOutput for tests that print.
func RequireValid(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text []byte) {
	t.Helper()
	if name, err := ValidateOutput(text); err != nil {
		t.Fatalf("this is no %s: %v\n%s", name, err, text)
	}
}

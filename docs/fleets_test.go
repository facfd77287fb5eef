package docs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// kubernetes are the types of Kubernetes, of which none takes a member that it does not name.
func kubernetes(t *testing.T) (definitions map[string]map[string]any, compiler *jsonschema.Compiler) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "bin", "schemas", "kubernetes.json"))
	if err != nil {
		if os.Getenv("SESSCTL_MUST_VALIDATE") != "" {
			t.Fatal(err)
		}
		t.Skip("there is no bin/schemas/kubernetes.json; `make schemas` fetches it")
	}
	var all struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, d := range all.Definitions {
		if d["properties"] != nil && d["additionalProperties"] == nil {
			d["additionalProperties"] = false
		}
	}
	strict, err := json.Marshal(map[string]any{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": all.Definitions})
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(strict))
	if err != nil {
		t.Fatal(err)
	}
	compiler = jsonschema.NewCompiler()
	if err := compiler.AddResource("kubernetes.json", document); err != nil {
		t.Fatal(err)
	}
	return all.Definitions, compiler
}

// TestManifestsAreThoseOfKubernetes: every manifest of the page is one that an API server takes,
// and its parts fit together.
func TestManifestsAreThoseOfKubernetes(t *testing.T) {
	definitions, compiler := kubernetes(t)
	page, err := os.ReadFile("fleets.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for _, manifest := range strings.Split(block[1], "\n---\n") {
			var value map[string]any
			if err := yaml.Unmarshal([]byte(manifest), &value); err != nil {
				t.Fatalf("%v\n%s", err, manifest)
			}
			name := typeOf(definitions, value)
			if name == "" {
				t.Fatalf("no type of Kubernetes:\n%s", manifest)
			}
			kinds[value["kind"].(string)]++
			schema, err := compiler.Compile("kubernetes.json#/definitions/" + name)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if err := validated(schema, plain); err != nil {
				t.Errorf("%v\n%s", err, manifest)
			}
			if validated(schema, bytes.Replace(plain, []byte(`"containers"`), []byte(`"container"`), 1)) == nil && bytes.Contains(plain, []byte(`"containers"`)) {
				t.Error("a misspelled member passes")
			}
			mounts := regexp.MustCompile(`name: ([a-z]+), mountPath`).FindAllStringSubmatch(manifest, -1)
			for _, mount := range mounts {
				if !strings.Contains(manifest, "- name: "+mount[1]+"\n") {
					t.Errorf("no volume %s:\n%s", mount[1], manifest)
				}
			}
		}
	}
	if kinds["CronJob"] != 1 || kinds["Job"] != 2 {
		t.Errorf("%v", kinds)
	}
}

func validated(schema *jsonschema.Schema, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// typeOf is the definition of what a manifest says it is, "" for none.
func typeOf(definitions map[string]map[string]any, manifest map[string]any) string {
	group, version, grouped := strings.Cut(manifest["apiVersion"].(string), "/")
	if !grouped {
		group, version = "", group
	}
	for name, d := range definitions {
		kinds, _ := d["x-kubernetes-group-version-kind"].([]any)
		for _, k := range kinds {
			if k := k.(map[string]any); k["group"] == group && k["version"] == version && k["kind"] == manifest["kind"] && len(kinds) == 1 {
				return name
			}
		}
	}
	return ""
}

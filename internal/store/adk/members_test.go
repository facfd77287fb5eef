package adk

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/docedit"
)

// refused are values that neither reader takes for a type, however lax.
var refused = map[string][]string{
	"text": {`[1]`, `{"x":1}`, `5`, `true`, `1.5`}, "span": {`[1]`, `{"x":1}`, `5`}, "label": {`[1]`, `5`, `true`},
	"int": {`[1]`, `{"x":1}`, `"x"`, `1.5`}, "long": {`[1]`, `{"x":1}`, `"x"`, `1.5`}, "number": {`[1]`, `{"x":1}`, `"x"`},
	"bool": {`[1]`, `{"x":1}`, `"x"`, `5`, `1.5`}, "bytes": {`[1]`, `{"x":1}`, `5`, `true`, `"x"`},
	"object": {`[1]`, `"x"`, `5`, `true`}, "[": {`{"x":1}`, `5`, `true`, `1.5`},
}

// tried is a member in the text of what holds it: %s stands for its value.
type tried struct{ path, text, kind string }

// within are all members of a type, and the type itself, by the table.
func within(models map[string]string, at tried, of string, snake bool) (list []tried) {
	of = strings.TrimRight(of, "!+")
	put := func(path, text, of string) {
		list = append(list, within(models, tried{path, fmt.Sprintf(at.text, text), ""}, of, snake)...)
	}
	switch {
	case of == "any":
	case of[0] == '[':
		list = append(list, tried{at.path, at.text, "["})
		put(at.path+"[]", "[%s]", of[1:len(of)-1])
	case of[0] == '{':
		list = append(list, tried{at.path, at.text, "object"})
		put(at.path+"{}", `{"k":%s}`, of[1:len(of)-1])
	case models[of] == "":
		list = append(list, tried{at.path, at.text, of})
	default:
		list = append(list, tried{at.path, at.text, "object"})
		for _, m := range strings.Split(models[of], ", ") {
			name, of, _ := strings.Cut(strings.TrimPrefix(m, "*"), " ")
			if !snake {
				name = inCamel(name)
			}
			beside := ""
			if at.path == "event_data" && name != "author" {
				beside = `"author":"a",`
			}
			put(at.path+"/"+name, "{"+beside+`"`+name+`":%s}`, of)
		}
	}
	return list
}

// TestEveryMember gives every member of every form values of other types: each is told, its
// repair keeps the event and what was read of it, and what is stored then is read.
func TestEveryMember(t *testing.T) {
	text, err := os.ReadFile("members/models.txt")
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, list, _ := strings.Cut(line, ": ")
		models[strings.TrimSuffix(name, "*")] = list
	}
	for _, g := range []generation{p0, p1, ps, g1, g2} {
		columns, members, told := map[string]string{"event_data": "Event"}, map[string]bool{}, 0
		if !g.hasDocument() {
			columns = columnTypes[g == p0]
		}
		for name, of := range columns {
			for _, m := range within(models, tried{name, "%s", ""}, of, g.isPython()) {
				if m.path == "event_data" || g == p1 && (m.path == "event_data/id" || m.path == "event_data/invocation_id" || m.path == "event_data/timestamp") {
					continue // the columns count
				}
				members[m.path] = true
				for _, value := range refused[m.kind] {
					if name == "long_running_tool_ids_json" && g == p0 && m.path == name && value[0] == '{' {
						continue // Python makes a set of its names
					}
					if wrong := mends(g, row{name: fmt.Sprintf(m.text, value), "author": "a"}); wrong != "" {
						t.Errorf("%s %s: %s: %s", g, m.path, fmt.Sprintf(m.text, value), wrong)
					}
					told++
				}
			}
		}
		t.Logf("%s: %d members tried, %d values told and mended", g, len(members), told)
	}
}

// mends says what is wrong with how a value that is not taken is told and mended.
func mends(g generation, stored row) string {
	if text, ok := stored["actions"].(string); ok {
		stored["actions"] = []byte(text)
	}
	was, list := decoded(g, stored)
	r := newRevision(rowRecord(stored))
	told := 0
	for _, f := range list {
		if f.Kind != session.Undecodable {
			continue
		}
		if told++; f.Default == nil || !f.Unloads || f.Field == "" || f.Detail == "" {
			return fmt.Sprintf("told as %+v", f)
		}
		if err := r.SetField(f.Field, f.Default); err != nil {
			return err.Error()
		}
	}
	if told == 0 {
		return "not told"
	}
	mended := row{}
	for name, value := range stored {
		mended[name] = value
	}
	for _, c := range r.Changes() {
		mended[c.Name] = c.New
	}
	is, list := decoded(g, mended)
	for _, f := range list {
		if f.Kind == session.Undecodable {
			return fmt.Sprintf("mended to %s, still %+v", mended, f)
		}
	}
	was.Body.Raw, is.Body.Raw = nil, nil
	if outline(was, nil) != outline(is, nil) || was.Meaning != is.Meaning {
		return fmt.Sprintf("mended to %s, another event:\n%s\n%s", mended, outline(was, nil), outline(is, nil))
	}
	return ""
}

// rowRecord is a row for writing.
type rowRecord row

func (r rowRecord) Value(column string) any { return r[column] }

func (r rowRecord) HasColumn(column string) bool { _, has := r[column]; return has }

var _ docedit.Record = rowRecord{}

// TestTakenMembers are values that look odd, and that the reader takes: pydantic 2.13 was run.
func TestTakenMembers(t *testing.T) {
	for _, tc := range []struct {
		gen generation
		row row
	}{
		{p1, row{"event_data": `{"author":"a","avg_logprobs":1,"partial":"false","turnComplete":1,"interrupted":"no","usage_metadata":{"prompt_token_count":"12","totalTokenCount":3.0}}`}},
		{p1, row{"event_data": `{"author":"a","id":5,"timestamp":"x","invocation_id":null,"branch":{"tokens":[1]},"output":5,"unknown_member":[]}`}},
		{p1, row{"event_data": `{"author":"a","avg_logprobs":NaN,"custom_metadata":{"a":[1,null]},"usage_metadata":null,"long_running_tool_ids":null}`}},
		{p1, row{"event_data": `{"author":"a","content":{"role":"model","parts":[{"thought_signature":"QQ","thought":0,"text":"x"},{"inlineData":{"data":"a-_b","mimeType":"image/png"}}]}}`}},
		{ps, row{"event_data": `{"author":"a","id":"","invocation_id":"","timestamp":"1795210800.5","actions":{"artifact_delta":{"f":"3"},"route":["a",1],"requestedAuthConfigs":{"c":{}}}}`}},
		{p0, row{"author": "a", "content": `null`, "usage_metadata": `{"total_token_count":"7"}`, "citation_metadata": `null`, "input_transcription": `{}`, "long_running_tool_ids_json": `"ab"`}},
		{g2, row{"author": "a", "content": `{"role":"model","parts":[null,{"text":null,"function_call_id":5,"FunctionCall":{"name":"f"}}]}`, "output_json": `5`, "usage_metadata": `null`}},
		{g1, row{"author": "a", "actions": []byte(`{"StateDelta":{},"ArtifactDelta":null,"Escalate":false}`)}},
		{j1, row{"timestamp": int64(1795210800000), "event_data": `{"author":"a","usage_metadata":[],"avg_logprobs":"x"}`}},
	} {
		_, list := decoded(tc.gen, tc.row)
		for _, f := range list {
			if f.Kind == session.Undecodable || f.Kind == session.BadMetadata {
				t.Errorf("%s %s: %+v", tc.gen, tc.row, f)
			}
		}
	}
}

// TestColumnsOfModels tells of the six columns in whose place newer releases read nothing, as
// google/adk-python#6348 has them, and of the seventh, which all releases refuse.
func TestColumnsOfModels(t *testing.T) {
	for name := range columnTypes[true] {
		_, list := decoded(p0, row{"author": "a", name: `"null"`})
		if name == "long_running_tool_ids_json" {
			continue
		}
		if len(list) != 1 || *list[0].Default != "" || list[0].Loses || strings.Contains(list[0].Detail, "6348") != (name != "custom_metadata") {
			t.Errorf("%s: %+v", name, list)
		}
	}
	if _, list := decoded(p0, row{"author": "a", "usage_metadata": ""}); len(list) != 1 || list[0].Kind != session.BadMetadata {
		t.Errorf("an empty text, which json.loads refuses: %+v", list)
	}
}

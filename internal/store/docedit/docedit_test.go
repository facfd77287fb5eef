package docedit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/table"
)

// row is a stored row.
type row map[string]any

func (r row) Value(column string) any { return r[column] }

func (r row) HasColumn(column string) bool {
	_, ok := r[column]
	return ok
}

// stored has odd white space, numbers and escapes, which all stay.
func stored() row {
	return row{
		"doc":    []byte(`{ "parts":[ {"id":"\u0061","args":{"n":1.50e+0}}, {"id":"b" ,"out":"{\"child\": \"caf\u00e9\", \"n\":1.0}"},{"id":"c"}],"x":null }`),
		"branch": "p.x", "text": " ", "n": int64(3),
	}
}

func part(n int) docedit.Spot { return docedit.Spot{Column: "doc", Pointer: "/parts"}.Element(n) }

// place is a table of an adapter.
func place(v change.Value) docedit.Place {
	switch v.Field {
	case session.FieldCallID, session.FieldResultID:
		return docedit.Place{Spot: part(v.Nth).Member("id"), Form: docedit.Text}
	case session.FieldBlockID:
		return docedit.Place{Spot: part(v.Nth).Member("id"), Form: docedit.Text, Optional: true}
	case change.FieldName:
		return docedit.Place{Spot: part(v.Nth).Member("name"), Form: docedit.Text, Optional: true}
	case change.FieldArgs:
		return docedit.Place{Spot: part(v.Nth).Member("args"), Form: docedit.JSON}
	case session.FieldChild:
		return docedit.Place{Spot: part(v.Nth).Member("out"), Within: "/child", Form: docedit.Text}
	case change.FieldQuestion:
		return docedit.Place{Spot: part(v.Nth).Member("out"), Within: "/n", Form: docedit.JSON}
	case session.FieldBranch:
		return docedit.Place{Spot: docedit.Spot{Column: "branch"}, Form: docedit.Column, Optional: true}
	case session.FieldText:
		return docedit.Place{Spot: docedit.Spot{Column: "text"}, Form: docedit.Column}
	case change.FieldDelegation:
		return docedit.Place{Form: docedit.Follows}
	}
	return docedit.Place{}
}

func applied(values []change.Value, taken ...int) ([]table.FieldChange, error) {
	r := docedit.NewRow(stored())
	c := &change.Item{Was: &session.Item{Key: "k"}, Part: -1, Values: values, Taken: taken}
	err := r.Apply(c, place, part)
	return r.Changes(), err
}

func TestApply(t *testing.T) {
	doc := string(stored()["doc"].([]byte))
	as := func(pairs ...string) []table.FieldChange {
		return []table.FieldChange{{Name: "doc", Old: stored()["doc"], New: []byte(strings.NewReplacer(pairs...).Replace(doc))}}
	}
	for _, tt := range []struct {
		name   string
		values []change.Value
		taken  []int
		want   []table.FieldChange
	}{
		{name: "nothing"},
		{name: "what follows from other values", values: []change.Value{{Of: change.OfCall, Field: change.FieldDelegation, Was: "s", Is: "t"}}},
		{name: "texts", values: []change.Value{{Field: session.FieldCallID, Was: "a", Is: `"q"`}, {Field: session.FieldCallID, Nth: 1, Was: "b", Is: "a"}},
			want: as(`"\u0061"`, `"\"q\""`, `"b"`, `"a"`)},
		{name: "a value as it is", values: []change.Value{{Field: change.FieldArgs, Was: `{"n":1.50e+0}`, Is: `{"INVALID_JSON":"["}`}},
			want: as(`{"n":1.50e+0}`, `{"INVALID_JSON":"["}`)},
		{name: "a value that was not there", values: []change.Value{{Field: change.FieldArgs, Nth: 2, Is: `{}`}}, want: as(`"id":"c"`, `"id":"c","args":{}`)},
		{name: "an optional one leaves", values: []change.Value{{Field: session.FieldBlockID, Nth: 2, Was: "c"}}, want: as(`{"id":"c"}`, `{}`)},
		{name: "two in a document within a text", values: []change.Value{
			{Field: session.FieldChild, Nth: 1, Was: "café", Is: "t"}, {Field: change.FieldQuestion, Nth: 1, Was: "1.0", Is: "2"},
		}, want: as(`caf\u00e9`, `t`, `\"n\":1.0}"`, `\"n\":2}"`)},
		{name: "results leave, and others change", taken: []int{0, 2}, values: []change.Value{{Field: session.FieldResultID, Nth: 1, Was: "b", Is: "z"}},
			want: as(`{"id":"\u0061","args":{"n":1.50e+0}}, `, ``, `,{"id":"c"}`, ``, `"b"`, `"z"`)},
		{name: "columns", values: []change.Value{{Field: session.FieldBranch, Was: "p.x"}, {Field: session.FieldText, Was: " "}},
			want: []table.FieldChange{{Name: "branch", Old: "p.x"}, {Name: "text", Old: " ", New: ""}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := applied(tt.values, tt.taken...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	const changed = "record k cannot be changed: its doc does not hold what was read before"
	for _, tt := range []struct {
		name  string
		value change.Value
		taken []int
		want  string
	}{
		{"no place", change.Value{Field: change.FieldAgent, Is: "x"}, nil, "record k cannot be changed: a store of this kind cannot change agent_name"},
		{"no place in a call", change.Value{Of: change.OfCall, Nth: 1, Field: session.FieldArchived}, nil, "change calls/1/archived"},
		{"another text", change.Value{Field: session.FieldCallID, Was: "x"}, nil, changed},
		{"a text for a value", change.Value{Field: change.FieldArgs, Nth: 1, Was: "x", Is: "{}"}, nil, changed},
		{"no such part", change.Value{Field: session.FieldCallID, Nth: 3, Is: "x"}, nil, changed},
		{"what is no JSON", change.Value{Field: change.FieldArgs, Nth: 2, Is: "{"}, nil, changed},
		{"another text within", change.Value{Field: session.FieldChild, Nth: 1, Was: "x"}, nil, changed},
		{"a document within nothing", change.Value{Field: session.FieldChild, Nth: 2}, nil, changed},
		{"another column", change.Value{Field: session.FieldBranch, Was: "p"}, nil, "its branch does not hold"},
		{"no such result", change.Value{Field: change.FieldDelegation}, []int{3}, changed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := applied([]change.Value{tt.value}, tt.taken...)
			if problem.ClassOf(err) != problem.RolledBack || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What an adapter writes itself comes last, and its error names the record.
func TestWrite(t *testing.T) {
	r := docedit.NewRow(stored())
	c := &change.Item{Was: &session.Item{Key: "k"}, Part: -1, Taken: []int{0}, Values: []change.Value{{Field: session.FieldText}, {Field: session.FieldText}}}
	seen := 0
	err := r.Apply(c, func(change.Value) docedit.Place {
		return docedit.Place{Write: func() error {
			if seen++; r.Text(part(0).Member("id")) != "b" {
				t.Errorf("the first part is %s", r.Raw(part(0)))
			}
			if seen == 2 {
				return errors.New("it cannot be")
			}
			return nil
		}}
	}, part)
	if err == nil || err.Error() != "record k cannot be changed: it cannot be" || problem.ClassOf(err) != problem.RolledBack {
		t.Errorf("got %v", err)
	}
}

// A part of a row is changed within it, and has to be there.
func TestPart(t *testing.T) {
	for nth, there := range map[int]bool{1: true, 3: false} {
		r := docedit.NewRow(stored())
		c := &change.Item{Was: &session.Item{Key: "k"}, Part: nth}
		if there {
			c.Values = []change.Value{{Field: change.FieldAgent, Is: "x"}, {Of: change.OfResult, Nth: nth, Field: session.FieldResultID, Was: "b", Is: "z"}}
		}
		if err := r.Apply(c, place, part); (err == nil) != there {
			t.Errorf("part %d: %v", nth, err)
		}
		if there && r.Text(part(nth).Member("id")) != "z" {
			t.Errorf("part %d is %s", nth, r.Raw(part(nth)))
		}
	}
}

// TestColumnsKeepTheirTypes: a text stays a text, a BLOB a BLOB.
func TestColumnsKeepTheirTypes(t *testing.T) {
	r := docedit.NewRow(row{"text": `{"a":1}`, "blob": []byte(`{"a":1}`), "null": nil, "n": 1.5})
	for _, column := range []string{"text", "blob"} {
		if err := r.Put(docedit.Spot{Column: column, Pointer: "/a"}, jsontext.Value("2")); err != nil {
			t.Fatal(err)
		}
	}
	r.SetText("null", []byte("x"))
	r.Set("n", 2.5)
	want := []table.FieldChange{
		{Name: "text", Old: `{"a":1}`, New: `{"a":2}`}, {Name: "blob", Old: []byte(`{"a":1}`), New: []byte(`{"a":2}`)},
		{Name: "null", Old: nil, New: "x"}, {Name: "n", Old: 1.5, New: 2.5},
	}
	if diff := cmp.Diff(want, r.Changes()); diff != "" {
		t.Error(diff)
	}
	if err := r.Put(docedit.Spot{Column: "n", Pointer: "/a"}, jsontext.Value("2")); problem.ClassOf(err) != problem.RolledBack {
		t.Errorf("got %v", err)
	}
}

// TestManyValues holds a change of many values at once against one after another.
func TestManyValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringN(0, 4, -1), 1, 8).Draw(t, "ids")
		type element struct {
			ID string `json:"id"`
		}
		var parts []element
		for _, name := range names {
			parts = append(parts, element{name})
		}
		doc, err := json.Marshal(map[string]any{"parts": parts})
		if err != nil {
			t.Fatal(err)
		}
		var taken []int
		c := &change.Item{Was: &session.Item{Key: "k"}, Part: -1}
		var want []element
		for i := range parts {
			is := fmt.Sprint(rapid.StringN(0, 4, -1).Draw(t, "new"), i)
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				taken = append(taken, i)
				continue
			case 1:
				c.Values = append(c.Values, change.Value{Of: change.OfResult, Nth: i, Field: session.FieldResultID, Was: parts[i].ID, Is: is})
				parts[i].ID = is
			}
			want = append(want, parts[i])
		}
		c.Taken = taken
		r := docedit.NewRow(docedit.Whole{Column: "doc", Text: slices.Clone(doc)})
		if err := r.Apply(c, place, part); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Parts []element `json:"parts"`
		}
		if err := json.Unmarshal(r.Document("doc"), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append([]element{}, want...), got.Parts); diff != "" {
			t.Fatal(diff)
		}
	})
}

package adk

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

func TestFaults(t *testing.T) {
	const at = 1795210800.000001
	text := "2026-11-20 21:40:00.000001"
	for _, tc := range []struct {
		name  string
		gen   generation
		row   row
		kind  session.FaultKind // 0 for no fault
		field string
	}{
		{"copies that agree", p1, row{"id": "1", "invocation_id": "e-1", "timestamp": text, "event_data": `{"id":"1","invocation_id":"e-1","author":"a","timestamp":1795210800.000001}`}, 0, ""},
		{"a microsecond between", p1, row{"id": "1", "invocation_id": "e-1", "timestamp": text, "event_data": `{"author":"a","timestamp":1795210800.0000021}`}, 0, ""},
		{"the server's zone", p1, row{"id": "1", "invocation_id": "e-1", "timestamp": "2026-11-21 03:10:00.000001", "event_data": `{"author":"a","timestamp":1795210800.000001}`}, 0, ""},
		{"another second", p1, row{"id": "1", "invocation_id": "e-1", "timestamp": text, "event_data": `{"author":"a","timestamp":1795210801}`}, session.CopiesDiffer, "timestamp"},
		{"another day", p1, row{"id": "1", "invocation_id": "e-1", "timestamp": text, "event_data": `{"author":"a","timestamp":1795297200.000001}`}, session.CopiesDiffer, "timestamp"},
		{"an hour, where there are no zones", ps, row{"id": "1", "timestamp": at + 3600, "event_data": `{"author":"a","timestamp":1795210800.000001}`}, session.CopiesDiffer, "timestamp"},
		{"another id", p1, row{"id": "1", "event_data": `{"id":"2","author":"a"}`}, session.CopiesDiffer, "id"},
		{"another invocation", ps, row{"id": "1", "invocation_id": "e-1", "event_data": `{"invocation_id":"e-2","author":"a"}`}, session.CopiesDiffer, "invocation_id"},
		{"a document time in milliseconds", ps, row{"id": "1", "event_data": `{"author":"a","timestamp":1795210800000}`}, session.BadTime, "event_data timestamp"},
		{"adk-js's document, and adk-python's column", p1, row{"id": "1", "event_data": `{"author":"a","timestamp":1795210800000}`}, 0, ""},
		{"the same in another millisecond", p1, row{"id": "1", "event_data": `{"author":"a","timestamp":1795210800001}`}, session.CopiesDiffer, "timestamp"},
		{"milliseconds with a fraction", p1, row{"id": "1", "event_data": `{"author":"a","timestamp":1795210800000.5}`}, session.BadTime, "event_data timestamp"},
		{"a column of PostgreSQL with a zone", p1, row{"id": "1", "timestamp": "2026-11-20 21:40:00.000001+00", "event_data": `{"author":"a","timestamp":1795210800.000001}`}, 0, ""},
		{"a column time that is none", g2, row{"timestamp": "soon", "content": `null`}, session.BadTime, "timestamp"},
		{"no time", g2, row{"timestamp": nil}, session.RequiredNull, "timestamp"},
		{"no document", p1, row{"id": "1", "event_data": nil}, session.RequiredNull, "event_data"},
		{"an empty document", ps, row{"event_data": ""}, session.Undecodable, "event_data"},
		{"no actions", p0, row{"actions": nil}, session.RequiredNull, "actions"},
		{"a document that breaks off", ps, row{"event_data": `{"author":"a"`}, session.Undecodable, "event_data"},
		{"a content that is a text", g2, row{"content": `"hello"`}, session.Undecodable, "content"},
		{"text that is no Unicode, Python", p1, row{"event_data": `{"author":"a","content":{"role":"user","parts":[{"text":"\ud800"}]}}`}, session.Undecodable, "event_data"},
		{"text that is no Unicode, Go", g2, row{"author": "a", "content": `{"role":"user","parts":[{"text":"\ud800"}]}`}, 0, ""},
		{"ids that are no list", g1, row{"long_running_tool_ids_json": `"adk-1"`}, session.Undecodable, "long_running_tool_ids_json"},
		{"metadata that is no JSON", g2, row{"usage_metadata": `{`}, session.BadMetadata, "usage_metadata"},
		{"actions that are no JSON", g2, row{"actions": []byte(`{`)}, session.Undecodable, "actions"},
		{"a pickle in Go's table", g2, row{"actions": []byte("\x80\x05N.")}, session.Undecodable, "actions"},
		{"JSON in Python's table", p0, row{"actions": []byte("{}")}, session.Undecodable, "actions"},
		{"a pickle that is more than data", p0, row{"actions": []byte("\x80\x05Pabc\n.")}, 0, ""},
		{"a summary that ends before it starts", p1, row{"event_data": `{"author":"user","actions":{"compaction":{"start_timestamp":20,"end_timestamp":10,"compacted_content":{"role":"model","parts":[{"text":"s"}]}}}}`}, session.BadSummary, "actions compaction"},
		{"a summary of what comes later", p1, row{"event_data": `{"author":"user","actions":{"compaction":{"start_timestamp":20,"end_timestamp":1895210800,"compacted_content":{"role":"model","parts":[{"text":"s"}]}}}}`}, session.BadSummary, "actions compaction"},
		{"a summary without a text", p1, row{"event_data": `{"author":"user","actions":{"compaction":{"start_timestamp":10,"end_timestamp":20,"compacted_content":{"role":"model","parts":[]}}}}`}, session.BadSummary, "actions compaction"},
		{"a summary in milliseconds", p1, row{"event_data": `{"author":"user","actions":{"compaction":{"startTimestamp":1795210700000,"endTimestamp":1795210750000,"compactedContent":{"role":"model","parts":[{"text":"s"}]}}}}`}, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			it, list := decoded(tc.gen, tc.row)
			switch {
			case tc.kind == 0 && len(list) > 0, tc.kind != 0 && (len(list) != 1 || list[0].Kind != tc.kind || list[0].Field != tc.field):
				t.Errorf("got %s", outline(it, list))
			}
		})
	}
}

func TestFaultsOfASession(t *testing.T) {
	for _, tc := range []struct {
		name string
		gen  generation
		row  row
		want session.FaultKind
	}{
		{"sound", p1, row{"state": `{"a":1}`, "create_time": "2026-11-20 21:40:00", "update_time": "2026-11-20 21:40:00.5"}, 0},
		{"no state, Go", g2, row{"state": nil}, 0},
		{"a null state, Go", g1, row{"state": "null"}, 0},
		{"no state, Python", p0, row{"state": nil}, session.RequiredNull},
		{"a state that breaks off", ps, row{"state": `{"a":`}, session.BadMetadata},
		{"Python's numbers", p1, row{"state": `{"a":NaN,"b":[-Infinity]}`}, 0},
		{"Python's numbers, Go", g2, row{"state": `{"a":NaN}`}, session.BadMetadata},
		{"half of a surrogate pair", p0, row{"state": `{"a":"\ud800"}`}, 0},
		{"half of a surrogate pair, Go", g1, row{"state": `{"a":"\ud800"}`}, 0},
		{"no UTF-8, which SQLite's driver for Python refuses", p1, row{"state": "{\"a\":\"\xff\"}"}, session.BadMetadata},
		{"a name twice", ps, row{"state": `{"a":1,"a":2}`}, 0},
		{"a large number", p1, row{"state": `{"a":123456789012345678901234567890,"b":1e999}`}, 0},
		{"a byte order mark", p1, row{"state": "\ufeff{}"}, session.BadMetadata},
		{"a state that is a list", p1, row{"state": `[]`}, session.BadMetadata},
		{"a time that is none", g2, row{"state": `{}`, "create_time": "x"}, session.BadTime},
		{"Go's zero time", g2, row{"state": `{}`, "update_time": "0001-01-01 00:00:00+00:00"}, session.BadTime},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := tc.gen.makeSession(tc.row.columns).Faults
			if tc.want == 0 && len(list) > 0 || tc.want != 0 && (len(list) != 1 || list[0].Kind != tc.want) {
				t.Errorf("got %+v", list)
			}
		})
	}
}

// A state that several sessions share keeps each of them from loading, and no other.
func TestSharedStates(t *testing.T) {
	_, sessions := read(t, database(t, goTables+goEvents+`);
		CREATE TABLE app_states (app_name text, state text, update_time datetime);
		CREATE TABLE user_states (app_name text, user_id text, state text, update_time datetime);
		INSERT INTO app_states VALUES ('sound', '{"a":1}', '0001-01-01 00:00:00+00:00'), ('none', NULL, NULL), ('null', 'null', NULL), ('cut', '{"a":', NULL), ('alone', '[', NULL);
		INSERT INTO user_states VALUES ('sound', 'u', '{}', NULL), ('sound', 'other', '[]', NULL);
		DELETE FROM sessions;
		INSERT INTO sessions(app_name, user_id, id, state) VALUES
			('sound', 'u', '1', '{}'), ('sound', 'other', '2', '{}'), ('null', 'u', '3', '{}'), ('cut', 'u', '4', '{}'), ('cut', 'other', '5', '{}')`))
	got := map[string]string{}
	for _, s := range sessions {
		for _, f := range s.Faults {
			if f.Unloads {
				got[s.ID] += f.Field
			}
		}
	}
	want := map[string]string{"2": "user_states.state", "4": "app_states.state", "5": "app_states.state"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

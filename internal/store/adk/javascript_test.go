package adk

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// jsStore makes a database in the tables of adk-js, with one session "s" and events.
func jsStore(t *testing.T, rows ...string) string {
	t.Helper()
	script := jsTables + metadata + "INSERT INTO adk_internal_metadata VALUES ('schema_version', '1');" + jsEvents + ";" +
		"INSERT INTO sessions VALUES ('s', 'a', 'u', '{}', 1795400000000, 1795400000300);"
	for i, row := range rows {
		script += fmt.Sprintf("INSERT INTO events VALUES ('e%d', 'a', 'u', %s);", i, row)
	}
	return database(t, script)
}

func jsEvent(id int, at, stamp string) string {
	return fmt.Sprintf(`'s', 'e-1', %s, '{"id":"e%d","invocation_id":"e-1","author":"user","timestamp":%s,"content":{"role":"user","parts":[{"text":"x"}]}}'`, at, id, stamp)
}

// What is wrong with times, copies and owners in a database of adk-js.
func TestFaultsOfJavaScript(t *testing.T) {
	healthy := jsEvent(0, "1795400000100", "1795400000100")
	for _, tc := range []struct {
		name string
		row  string
		want []session.FaultKind
	}{
		{"a healthy one", jsEvent(1, "1795400000200", "1795400000200"), nil},
		{"a time of the same millisecond", jsEvent(1, "1795400000100", "1795400000100"), nil},
		{"another time in the document", jsEvent(1, "1795400000200", "1795400000201"), []session.FaultKind{session.CopiesDiffer}},
		{"another time by an hour", jsEvent(1, "1795403600200", "1795400000200"), []session.FaultKind{session.CopiesDiffer}},
		{"seconds in the document", jsEvent(1, "1795400000200", "1795400000.2"), []session.FaultKind{session.CopiesDiffer}},
		{"another id in the document", jsEvent(7, "1795400000200", "1795400000200"), []session.FaultKind{session.CopiesDiffer}},
		{"an event of adk-python", jsEvent(1, "'2026-11-23 02:13:20.200000'", "1795400000.2"), []session.FaultKind{session.MixedDialects}},
		{"no time at all", jsEvent(1, "'soon'", "1795400000200"), []session.FaultKind{session.BadTime, session.BadTime}},
		{"a time behind the year 9999", jsEvent(1, "1795400000200", "1e18"), []session.FaultKind{session.BadTime}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts, sessions := read(t, jsStore(t, healthy, tc.row))
			var got []session.FaultKind
			for _, f := range sessions["s"].Faults {
				got = append(got, f.Kind)
			}
			if !slices.Equal(got, tc.want) || facts.Generation != "J1" || len(facts.Faults) > 0 {
				t.Errorf("%v, generation %s, store %v", got, facts.Generation, facts.Faults)
			}
		})
	}
	facts, _ := read(t, jsStore(t, healthy, `'gone', 'e-1', 1795400000200, '{}'`))
	if len(facts.Faults) != 1 || facts.Faults[0].Kind != session.OrphanRecord {
		t.Errorf("an event of a deleted session: %v", facts.Faults)
	}
}

// A table of adk-python in which adk-js wrote, too, has its events in milliseconds.
func TestEventsOfJavaScriptInTablesOfPython(t *testing.T) {
	const row = `'s', 'e-1', %s, '{"id":"e%d","invocation_id":"e-1","author":"user","timestamp":%s,"content":{"role":"user","parts":[{"text":"x"}]}}'`
	script := pyTables + metadata + "INSERT INTO adk_internal_metadata VALUES ('schema_version', '1');" + pyEvents + ", event_data TEXT);" +
		"INSERT INTO sessions VALUES ('a', 'u', 's', '{}', '2026-11-23 02:13:19.000000', 1795400000300);"
	for i, at := range [][2]string{
		{"'2026-11-23 02:13:20.000000'", "1795400000.0"}, {"'2026-11-23 02:13:20.100000'", "1795400000.1"}, {"1795400000200", "1795400000200"},
	} {
		script += fmt.Sprintf("INSERT INTO events VALUES ('e%d', 'a', 'u', "+row+");", i, at[0], i, at[1])
	}
	facts, sessions := read(t, database(t, script))
	s := sessions["s"]
	if facts.Generation != "P1" || len(s.Faults) != 1 || s.Faults[0].Kind != session.MixedDialects {
		t.Errorf("%s: %+v", facts.Generation, s.Faults)
	}
	if !s.Items[0].Time.After(s.Items[2].Time) { // numbers come before texts in SQLite
		t.Errorf("%v stands before %v", s.Items[0].Time, s.Items[2].Time)
	}
}

// TestValuesThatJavaScriptTakes: adk-js decodes nothing, so that a value of another type keeps an
// event from loading only where it builds a request with it. What is here was tried with the
// builder of adk-js 2.0.0 (see internal/tools/adkoracle).
func TestValuesThatJavaScriptTakes(t *testing.T) {
	for member, values := range map[string]map[string]bool{ // whether it builds a request
		`"author":%s`:    {`5`: true, `[]`: true, `{}`: true},
		`"actions":%s`:   {`5`: true, `"x"`: true, `[1]`: true, `{"compaction":5}`: true, `{"requested_tool_confirmations":[]}`: true},
		`"branch":%s`:    {`5`: true, `["a"]`: true},
		`"partial":%s`:   {`"x"`: true, `[]`: true},
		`"node_info":%s`: {`"x"`: true},
		`"content":{"role":"model","parts":%s}`: {
			`"x"`: true, `["a"]`: true, `5`: false, `true`: false, `{}`: false, `[{"text":"x","thought":"yes"}]`: true,
			`[{"function_call":{"name":"t","id":5}}]`: false, `[{"function_call":{"name":"t","id":[]}}]`: false,
			`[{"function_response":{"name":5,"id":"c"}}]`: true, `[{"function_response":[]}]`: true,
		},
	} {
		for value, builds := range values {
			odd := `'s', 'e-1', 1795400000200, '{"id":"e1","invocation_id":"e-1","timestamp":1795400000200,` + fmt.Sprintf(member, value) + `}'`
			_, sessions := read(t, jsStore(t, jsEvent(0, "1795400000100", "1795400000100"), odd))
			unloads := slices.ContainsFunc(sessions["s"].Faults, func(f session.Fault) bool { return f.Kind == session.Undecodable })
			if unloads == builds || len(sessions["s"].Faults) == 0 {
				t.Errorf("%s: %+v", fmt.Sprintf(member, value), sessions["s"].Faults)
			}
		}
	}
}

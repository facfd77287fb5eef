package adktest

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Every generation stores every script that it has a place for, event by event.
func TestEveryGenerationStoresTheScripts(t *testing.T) {
	for _, g := range Generations {
		t.Run(string(g), func(t *testing.T) {
			scripts, count := g.For(Scripts()), 0
			for _, s := range scripts {
				count += len(s.Events)
			}
			path := filepath.Join(t.TempDir(), "adk.db")
			if err := Create(path, g, scripts...); err != nil {
				t.Fatal(err)
			}
			events, _ := g.names("events", nil)
			sessions, _ := g.names("sessions", nil)
			got := rows(t, path, "select count(*), count(distinct id), (select count(*) from "+sessions+") from "+events)
			if want := fmt.Sprint(count, " ", count, " ", len(scripts)); got[0] != want {
				t.Errorf("events, ids and sessions: %s, want %s", got[0], want)
			}
		})
	}
}

func TestWhatAGenerationLacksIsSaid(t *testing.T) {
	lacking := map[Generation][]string{}
	for _, g := range Generations {
		for _, s := range Scripts() {
			if g.Lacks(s) != "" {
				lacking[g] = append(lacking[g], s.ID)
				if err := Create(filepath.Join(t.TempDir(), "adk.db"), g, s); err == nil {
					t.Errorf("%s stores %s", g, s.ID)
				}
			}
		}
	}
	want := map[Generation][]string{
		P0First: {"long-running", "pending", "confirmed", "asked", "asked-and-left", "requested", "single-turn", "single-turn-of-call", "task-mode", "compacted", "rewound"},
		P0:      {"single-turn", "single-turn-of-call", "task-mode"},
		G1:      {"single-turn", "single-turn-of-call", "task-mode", "compacted", "rewound"},
		G2:      {"compacted", "rewound"},
		J1:      {"rewound"},
		K1:      {"single-turn", "single-turn-of-call", "task-mode"},
	}
	if diff := cmp.Diff(want, lacking); diff != "" {
		t.Error(diff)
	}
}

// The forms of one event are those of the notes and of recorded databases.
func TestFormsOfAnEvent(t *testing.T) {
	at := time.Date(2026, 11, 20, 22, 56, 19, 190_000_000, time.FixedZone("", 3600))
	call := Event{ID: "x", Author: "a", Invocation: "e-1", Branch: "p1.a", Parts: []Part{Calls("adk-x", "look", `{"q":1}`)}, Waits: []string{"adk-x"}, Time: at}
	const content = "content, actions, long_running_tool_ids_json"
	tests := []struct {
		generation Generation
		columns    string
		want       string
	}{
		{P0, "timestamp, author, branch, typeof(actions)", "2026-11-20 22:56:19.190000 a p1.a blob"},
		{P0, "content, long_running_tool_ids_json", `{"parts":[{"function_call":{"id":"adk-x","args":{"q":1},"name":"look"}}],"role":"model"} ["adk-x"]`},
		{P1, "timestamp", "2026-11-20 22:56:19.190000"},
		{P1, "event_data", `{"content":{"parts":[{"function_call":{"id":"adk-x","args":{"q":1},"name":"look"}}],"role":"model"},"invocation_id":"e-1","author":"a",` +
			`"actions":{"state_delta":{},"artifact_delta":{},"requested_auth_configs":{},"requested_tool_confirmations":{}},` +
			`"long_running_tool_ids":["adk-x"],"branch":"p1.a","id":"x","timestamp":1795211779.19}`},
		{J1, "timestamp, typeof(timestamp)", "1795211779190 integer"},
		{J1, "event_data", `{"content":{"parts":[{"function_call":{"id":"adk-x","args":{"q":1},"name":"look"}}],"role":"model"},"invocation_id":"e-1","author":"a",` +
			`"actions":{"state_delta":{},"artifact_delta":{},"requested_auth_configs":{},"requested_tool_confirmations":{}},` +
			`"branch":"p1.a","long_running_tool_ids":["adk-x"],"id":"x","timestamp":1795211779190}`},
		{K1, "timestamp, invocationId", "1795211779190 e-1"},
		{K1, "eventData", `{"content":{"parts":[{"functionCall":{"id":"adk-x","args":{"q":1},"name":"look"}}],"role":"model"},"invocationId":"e-1","author":"a",` +
			`"longRunningToolIds":["adk-x"],"branch":"p1.a","id":"x","timestamp":1795211779190}`},
		{PS, "timestamp, typeof(timestamp), timestamp = 1795211779.19", "1795211779.19 real 1"},
		{G1, "timestamp, partial, turn_complete, interrupted", "2026-11-20 22:56:19.19+01:00 0 1 0"},
		{G1, content, `{"parts":[{"functionCall":{"id":"adk-x","args":{"q":1},"name":"look"}}],"role":"model"} ` +
			`{"StateDelta":{},"ArtifactDelta":{},"RequestedToolConfirmations":null,"SkipSummarization":false,"TransferToAgent":"","Escalate":false} ["adk-x"]`},
		{G2, content, `{"parts":[{"functionCall":{"id":"adk-x","args":{"q":1},"name":"look"}}],"role":"model"} {"stateDelta":{},"artifactDelta":{}} ["adk-x"]`},
	}
	for _, tt := range tests {
		t.Run(string(tt.generation)+" "+tt.columns, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "adk.db")
			if err := Create(path, tt.generation, Session{ID: "s", Events: []Event{call}}); err != nil {
				t.Fatal(err)
			}
			name, _ := tt.generation.names("events", nil)
			if got := rows(t, path, "select "+strings.Replace(tt.columns, "timestamp", "cast(timestamp as text)", 1)+" from "+name); got[0] != tt.want {
				t.Errorf("got  %s\nwant %s", got[0], tt.want)
			}
		})
	}
}

// The sample of the notes, byte by byte.
func TestPickledActions(t *testing.T) {
	const want = "80059520010000000000008c1f676f6f676c652e61646b2e6576656e74732e6576656e745f616374696f6e73948c0c4576656e74416374696f6e73" +
		"9493942981947d94288c085f5f646963745f5f947d94288c12736b69705f73756d6d6172697a6174696f6e944e8c0b73746174655f64656c7461947d948c016b944b01738c0e" +
		"61727469666163745f64656c7461947d948c117472616e736665725f746f5f6167656e74948c0762696c6c696e67948c08657363616c617465944e8c16726571756573746564" +
		"5f617574685f636f6e66696773947d94758c125f5f707964616e7469635f65787472615f5f944e8c175f5f707964616e7469635f6669656c64735f7365745f5f948f94286808" +
		"680d908c145f5f707964616e7469635f707269766174655f5f944e75622e"
	got, err := Actions{Transfer: "billing", StateDelta: `{"k":1}`}.pickleActions()
	if err != nil || hex.EncodeToString(got) != want {
		t.Errorf("got  %x, %v\nwant %s", got, err, want)
	}
}

// The tables are those that adk-go made in recorded databases.
func TestSchemaOfRecordedDatabases(t *testing.T) {
	for file, g := range map[string]Generation{"adk-go-v1.5.0-observed.sqlite.sql": G1, "adk-go-v2.2.0-observed.sqlite.sql": G2} {
		dump, err := os.ReadFile(filepath.Join("../../../../../shared/corpus/adk", file))
		if os.IsNotExist(err) {
			t.Skip("the recorded databases are not beside the module")
		}
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for line := range strings.Lines(string(dump)) {
			if strings.HasPrefix(line, "CREATE TABLE") {
				want = append(want, strings.TrimRight(line, ";\n"))
			}
		}
		got := g.schemaStatements()
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

func rows(t *testing.T, path, query string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	found, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for found.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, v := range values {
			line = append(line, v.String)
		}
		list = append(list, strings.Join(line, " "))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

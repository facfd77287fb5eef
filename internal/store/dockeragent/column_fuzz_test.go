package dockeragent

import (
	"encoding/json"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// FuzzColumn: whatever the legacy column of a session holds, its entries become
// items with keys of their own, in trees that hold every session once.
func FuzzColumn(f *testing.F) {
	for _, seed := range []string{
		`[]`, `{}`, `[null]`, `[1,"x",{}]`,
		`[{"message":{"agentName":"","message":{"role":"user","content":"hi","created_at":"2026-02-03T09:56:40+01:00"}}}]`,
		`[{"message":{"agent_name":"root","message":{"role":"assistant","content":"","tool_calls":[{"id":"t","type":"function",
			"function":{"name":"transfer_task","arguments":"{\"agent\":\"worker\",\"task\":\"do it\"}"}}]}}},
		  {"sub_session":{"id":"C","title":"Transferred task","messages":[{"message":{"message":{"role":"user","content":"x"}}},
			{"sub_session":{"id":"S","messages":[{"summary":"of itself"}]}},{"sub_session":{"messages":[{}]}}]}},
		  {"message":{"message":{"role":"tool","tool_call_id":"t","content":"done"}}},{"summary":"so far","cost":0.1}]`,
		`[{"role":"user","content":"before the wrapper"},{"role":"assistant","content":7}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		owner := &session.Session{ID: "S"}
		compareColumn(owner, []byte(text), 1)
		var list []json.RawMessage
		if json.Unmarshal([]byte(text), &list) != nil {
			return
		}
		if n, ok := countEntries([]byte(text)); n != len(list) || ok != (list != nil) {
			t.Errorf("%d entries, want %d", n, len(list))
		}
		p := newPart(tableColumn)
		st := &agentStore{numbers: map[string]uint32{}, rowids: map[string]int64{}, costs: map[string]float64{}, parts: []*part{p}}
		st.addSession(owner, 0)
		st.addColumn(p, st.numbers["S"], "S", "", list)
		st.groupTrees()
		seen, keys := map[string]bool{}, map[string]bool{}
		for _, bare := range st.trees {
			for _, s := range st.copyWithItems(bare).Sessions {
				if seen[s.ID] {
					t.Errorf("session %q comes twice", s.ID)
				}
				seen[s.ID] = true
				for i := range s.Items {
					if keys[s.Items[i].Key] {
						t.Errorf("key %q is used twice", s.Items[i].Key)
					}
					keys[s.Items[i].Key] = true
				}
			}
		}
		if len(seen) != len(st.sessions) {
			t.Errorf("%d of %d sessions in the trees", len(seen), len(st.sessions))
		}
	})
}

// FuzzEncoded: a message is written into the column as encoding/json writes it, whether
// the bytes that are stored could be taken or not. A message is encoded twice: the second
// time its tool definitions are known.
func FuzzEncoded(f *testing.F) {
	for _, seed := range []string{
		`{"role":"user","content":"hi \\ \" \u003c \n"}`, `{"role":"user","content":"<&>"}`, `{"role":"<"}`, `{ "role":"user"}`, `{"role":"user"} `,
		"{\"content\":\"\u2028\"}", "{\"x\":\"\u2029 \xff\"}", `{"content":"\u2028\/\u0041"}`, `{"role":5}`, `null`, `{"x":[1.0e5,{"<":" "}]}`,
		`{"tool_definitions":[{"name":"a","parameters":{"b":1,"a":{"d":[],"c":"<"}},"outputSchema":null},{"outputSchema":{"z":1, "y":2}}],"role":"assistant"}`,
		`{"tool_definitions":[{"name":"<","parameters":[ ]},null],"tool_definitions":[{"parameters":{"b":1,"a":2},"parameters":3}],"content":"]}"}`,
		`{"tool_definitions":[{"param\u0065ters":{"b":1,"a":2},"Parameters":{"b":1,"a":2}}],"Tool_definitions":[{"parameters":{"b":1,"a":2}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		want, err := reencodeMessage(stored)
		e := &encoder{sorted: map[string][]byte{}}
		for range 2 {
			got, failed := e.appendMessage([]byte("["), stored)
			if (err == nil) != (failed == nil) || err == nil && string(got) != "["+string(want) {
				t.Fatalf("%v, want %v\ngot  %s\nwant [%s", failed, err, got, want)
			}
		}
	})
}

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
		compareColumn(owner, text, 1)
		var list []json.RawMessage
		if json.Unmarshal([]byte(text), &list) != nil {
			return
		}
		p := newPart(tableColumn)
		st := &agentStore{numbers: map[string]uint32{}, rowids: map[string]int64{}, costs: map[string]float64{}, parts: []*part{p}}
		st.add(owner, 0)
		st.addColumn(p, st.numbers["S"], "S", "", list)
		st.group()
		seen, keys := map[string]bool{}, map[string]bool{}
		for _, bare := range st.trees {
			for _, s := range st.filled(bare).Sessions {
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

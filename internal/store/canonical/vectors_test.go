package canonical_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// vectors are the neutral conversations that the rules are tested with
// (provider-rules.md 4.1), kept outside the module.
type vectors struct {
	Vectors []struct {
		ID, Encoding string
		Messages     json.RawMessage // of the neutral encoding: []vectorMessage
	}
	MultiAgent []multiAgentVector `json:"multi_agent_vectors"`
}

type multiAgentVector struct {
	ID       string
	Sessions []vectorSession
}

func (v *multiAgentVector) stream(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(header)
	for _, s := range v.Sessions {
		line, err := json.Marshal(map[string]any{"type": "session", "id": s.ID, "parent": s.Parent, "agent": s.Agent})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", line)
		for i := range s.Items {
			b.WriteString(s.Items[i].line(t, s.ID))
		}
	}
	return b.String()
}

type vectorMessage struct {
	K          string // of multi-agent items: msg, sub, summary
	Role, Text string
	Agent      string
	Branch     string
	Ref        string
	ResultFor  string `json:"result_for"`
	Calls      []struct{ ID, Name, Args string }
	Results    []struct {
		ID, Text                  string
		Error, Synthetic, Pending bool
	}
}

type vectorSession struct {
	ID, Parent, Agent string
	Items             []vectorMessage
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "shared", "vectors", "provider.json")
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skip("the shared vectors are not beside this checkout (../shared/vectors/provider.json)")
	}
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// line writes a message as a canonical item.
func (m *vectorMessage) line(t *testing.T, id string) string {
	t.Helper()
	rec := map[string]any{"type": "item", "session": id, "kind": "message", "role": m.Role,
		"agent": m.Agent, "branch": m.Branch, "text": m.Text}
	switch m.K {
	case "sub":
		rec = map[string]any{"type": "item", "session": id, "kind": "sub_session", "child": m.Ref}
	case "summary":
		rec["kind"] = "summary"
	}
	var calls, results []map[string]any
	for _, c := range m.Calls {
		calls = append(calls, map[string]any{"id": c.ID, "name": c.Name, "args": c.Args})
	}
	for _, r := range m.Results {
		results = append(results, map[string]any{"call": r.ID, "text": r.Text,
			"error": r.Error, "synthetic": r.Synthetic, "pending": r.Pending})
	}
	if m.ResultFor != "" {
		results = append(results, map[string]any{"call": m.ResultFor, "text": m.Text})
		rec["text"] = ""
	}
	rec["calls"], rec["results"] = calls, results
	line, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

func TestConversationVectors(t *testing.T) {
	for _, v := range readVectors(t).Vectors {
		if v.Encoding != "neutral" {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			var messages []vectorMessage
			if err := json.Unmarshal(v.Messages, &messages); err != nil {
				t.Fatal(err)
			}
			lines := []string{sessionP}
			for i := range messages {
				lines = append(lines, strings.TrimSpace(messages[i].line(t, "P")))
			}
			s := readOne(t, lines...)
			if f := showFaults(s.Faults); f != "" {
				t.Errorf("faults: %s", f)
			}
			if len(s.Items) != len(messages) {
				t.Fatalf("%d items of %d messages", len(s.Items), len(messages))
			}
			for i := range s.Items {
				if got, want := showItem(&s.Items[i]), messages[i].show(); got != want {
					t.Errorf("item %d\ngot  %s\nwant %s", i, got, want)
				}
			}
		})
	}
}

func (m *vectorMessage) show() string {
	s := fmt.Sprintf("%s %q", m.Role, m.Text)
	for _, c := range m.Calls {
		s += fmt.Sprintf(" call %s %s %s", c.ID, c.Name, c.Args)
	}
	for _, r := range m.Results {
		s += fmt.Sprintf(" result %s %q %v %v %v", r.ID, r.Text, r.Error, r.Synthetic || session.IsPlaceholder(r.Text), r.Pending)
	}
	return s
}

func showItem(it *session.Item) string {
	s := fmt.Sprintf("%v %q", it.Role, it.Body.Text)
	for _, c := range it.Calls {
		s += fmt.Sprintf(" call %s %s %s", c.ID, c.Name, c.Args)
	}
	for _, r := range it.Results {
		s += fmt.Sprintf(" result %s %q %v %v %v", r.CallID, r.Text, r.IsError, r.Synthetic, r.Pending)
	}
	return s
}

// In every multi-agent vector all sessions belong together, and only M07 has
// parents in a loop.
func TestMultiAgentVectors(t *testing.T) {
	list := readVectors(t).MultiAgent
	for i := range list {
		v := &list[i]
		t.Run(v.ID, func(t *testing.T) {
			st := openStream(t, v.stream(t))
			trees := outlines(t, st)
			if len(trees) != 1 || len(trees[0].Sessions) != len(v.Sessions) {
				t.Fatalf("%d trees", len(trees))
			}
			for _, want := range v.Sessions {
				s := trees[0].Session(want.ID)
				if len(s.Items) != len(want.Items) || s.Parent != want.Parent || s.Agent != want.Agent {
					t.Errorf("session %+v", s)
				}
				for i := range s.Items {
					it := &s.Items[i]
					if gone := it.Child() != "" && trees[0].Session(it.Child()) == nil; gone != it.Flags.Has(session.Dangling) {
						t.Errorf("item %d of %s: flags %b", i, s.ID, it.Flags)
					}
				}
			}
			wantFaults := ""
			if v.ID == "M07" {
				wantFaults = "ParentCycle  sessions/P: P → C → P\n"
			}
			if got := showFaults(append(st.Facts().Faults, trees[0].Root().Faults...)); got != wantFaults {
				t.Errorf("faults %q", got)
			}
		})
	}
}

package agenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// play writes a program into a fixed database.
func play(t *testing.T, p Program) Written {
	t.Helper()
	db := create(t, 19)
	written, err := WriteFixed(db, p)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	return written
}

// told lists the events that move or store something, with numbers for sessions.
func told(t *testing.T, w *Written) string {
	t.Helper()
	silent := map[string]bool{
		"agent_info": true, "team_info": true, "mcp_init_started": true, "mcp_init_finished": true,
		"toolset_info": true, "partial_tool_call": true, "token_usage": true,
	}
	var b strings.Builder
	for line := range bytes.Lines(w.Events(EventStyle{Form: WithIDs})) {
		var e strictEvent
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if silent[e.Type] && (e.Type != "token_usage" || e.Usage.InputTokens != 40) {
			continue
		}
		fmt.Fprintf(&b, "%s %s %s", e.Type, e.AgentName, e.SessionID)
		if e.ToolCall != nil {
			fmt.Fprintf(&b, " %s", e.ToolCall.ID)
		}
		b.WriteByte('\n')
	}
	return anonymousIDs(b.String())
}

func parallel(s Step) Step {
	s.Parallel = true
	return s
}

func TestEventsOfNewShapes(t *testing.T) {
	skill := Call{ID: "s1", Task: &Task{Skill: "commit", Text: "do", Steps: []Step{says("committed")}}}
	background := Call{ID: "b1", Task: &Task{Agent: "worker", Text: "do", Background: true}}
	siblings := parallel(says("", delegate("r1", "alpha", "A", says("", delegate("a1", "gamma", "C", says("c")))), delegate("r2", "beta", "B", says("b"))))
	one := parallel(says("", delegate("r1", "alpha", "A", says("a"))))
	cases := []struct {
		name string
		step Step
		want map[string]int // how often events occur
	}{
		{"skill", says("", skill), map[string]int{"agent_switching": 0, "stream_started root S2": 1, "sub_session_completed root": 1}},
		{"background", says("", background), map[string]int{"stream_started": 1, "token_usage worker S2": 1, "tool_call_response root  b1": 1}},
		{"siblings, and what is below them, do not switch", siblings, map[string]int{"agent_switching": 0, "stream_started": 4, "sub_session_completed root": 2}},
		{"a single transfer of a batch does", one, map[string]int{"agent_switching": 2, "stream_started": 2}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			written := play(t, Program{Turns: script("go", c.step, says("done"))})
			got := told(t, &written)
			for event, want := range c.want {
				if n := strings.Count(got, event); n != want {
					t.Errorf("%s occurs %d times, want %d:\n%s", event, n, want, got)
				}
			}
		})
	}
}

// TestParallelCallsInterleave: events of one child come between those of
// another, and results arrive in the order in which the children end.
func TestParallelCallsInterleave(t *testing.T) {
	interleaved, crossed := false, false
	for seed := range uint64(20) {
		db := create(t, 19, Seed(seed))
		written, err := WriteFixed(db, Program{Turns: script("go", parallel(says("", delegate("r1", "alpha", "A", alphaTwice...),
			delegate("r2", "beta", "B", says("beta says", shell("b1", "b")), says("beta done")), shell("r3", "ls"))), says("done"))})
		if err != nil {
			t.Fatal(err)
		}
		closed(t, db)
		got := told(t, &written)
		a, b := strings.Index(got, "stream_stopped alpha"), strings.Index(got, "stream_stopped beta")
		interleaved = interleaved || strings.Index(got, "stream_started alpha") < b && strings.Index(got, "stream_started beta") < a
		crossed = crossed || strings.Index(got, "tool_call_response root  r2") < strings.Index(got, "tool_call_response root  r1")
	}
	if !interleaved || !crossed {
		t.Errorf("children interleaved: %t; a later result came first: %t", interleaved, crossed)
	}
}

func TestEventForms(t *testing.T) {
	written := play(t, Program{Turns: script("go", says("let me look", shell("c1", "ls")), says("done"))})
	cases := []struct {
		name  string
		style EventStyle
		want  []string
		none  []string
	}{
		{"v1.32.0", EventStyle{}, []string{`{"type":"agent_choice","content":"let ","agent_name":"root"`,
			`"function":{"name":"shell","arguments":"{\"cmd\":\"ls\"}"}},"tool_definition":{"name":"shell"`}, []string{"tool_call_id", "session_title", "data:"}},
		{"v1.32.1", EventStyle{Form: WithIDs}, []string{`{"type":"agent_choice","content":"let ","session_id":"`}, []string{`"tool_call_response","tool_call_id"`}},
		{"v1.34.0", EventStyle{Form: WithDeltas}, []string{`"function":{"name":"shell","arguments":":\"ls\"}"}},"agent_name"`,
			`{"type":"tool_call_response","tool_call_id":"c1","tool_definition"`}, nil},
		{"SSE", EventStyle{SSE: true}, []string{"data: {", "}\n\ndata: {"}, []string{"\n{"}},
		{"title", EventStyle{Title: "a title"}, []string{`"title":"a title"`}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			stream := string(written.Events(c.style))
			for _, want := range c.want {
				if !strings.Contains(stream, want) {
					t.Errorf("no %s in:\n%s", want, stream)
				}
			}
			for _, none := range c.none {
				if strings.Contains(stream, none) {
					t.Errorf("%s in:\n%s", none, stream)
				}
			}
		})
	}
}

// TestEventsFollowTheDatabase plays random programs of all shapes: both writers
// tell the same events, every line is JSON, and a program gives its stream again.
func TestEventsFollowTheDatabase(t *testing.T) {
	found := map[string]bool{}
	for seed := range uint64(30) {
		all := RandomWith(seed, 30, Shapes{Skills: true, Background: true, Parallel: true})
		for i := range all.Turns {
			lookNewer(found, all.Turns[i].Steps)
		}
		first, second := play(t, all), play(t, all)
		stream := first.Events(EventStyle{Form: WithDeltas})
		if !bytes.Equal(stream, second.Events(EventStyle{Form: WithDeltas})) {
			t.Errorf("seed %d: the same program gave two streams", seed)
		}
		for line := range bytes.Lines(stream) {
			if !json.Valid(line) {
				t.Fatalf("seed %d: %s", seed, line)
			}
		}
		old := Random(seed, 30)
		leaky := create(t, 18)
		written, err := WriteLeaky(leaky, old)
		if err != nil {
			t.Fatal(err)
		}
		closed(t, leaky)
		fixed := play(t, old)
		if diff := cmp.Diff(told(t, &fixed), told(t, &written)); diff != "" {
			t.Fatalf("seed %d: fixed (-), leaky (+):\n%s", seed, diff)
		}
	}
	for _, want := range []string{"skill", "background", "siblings", "parallel in a child", "parallel tools"} {
		if !found[want] {
			t.Errorf("no program has: %s", want)
		}
	}
}

func lookNewer(found map[string]bool, steps []Step) {
	for i := range steps {
		s := &steps[i]
		found["siblings"] = found["siblings"] || s.hasSiblings()
		found["parallel tools"] = found["parallel tools"] || s.Parallel && len(s.Calls) > 1 && !s.hasSiblings()
		for _, c := range s.Calls {
			if c.Task == nil {
				continue
			}
			found["skill"] = found["skill"] || c.Task.Skill != ""
			found["background"] = found["background"] || c.Task.Background
			for j := range c.Task.Steps {
				found["parallel in a child"] = found["parallel in a child"] || c.Task.Steps[j].Parallel
			}
			lookNewer(found, c.Task.Steps)
		}
	}
}

// TestWriteLeakyRefusesWhatCameLater: no version that leaked had skills or ran
// calls at the same time.
func TestWriteLeakyRefusesWhatCameLater(t *testing.T) {
	skill := says("", Call{ID: "s1", Task: &Task{Skill: "commit", Text: "do"}})
	for _, step := range []Step{parallel(says("", shell("a", "b"))), skill, says("", delegate("r1", "alpha", "A", skill))} {
		if _, err := WriteLeaky(create(t, 18), Program{Turns: script("go", step)}); err == nil {
			t.Errorf("%+v was written", step)
		}
	}
}

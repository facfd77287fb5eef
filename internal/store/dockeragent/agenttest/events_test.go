package agenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEventsCorpus compares the streams of the corpus' programs with what the
// runtime emitted, but for ids and times.
func TestEventsCorpus(t *testing.T) {
	if _, err := os.Stat(corpusDir); err != nil {
		t.Skip("the corpus of recorded streams is not next to the module")
	}
	writers := []struct {
		name  string
		form  EventForm
		write func(*DB, Program) (Written, error)
	}{{"leaky", WithoutIDs, WriteLeaky}, {"fixed", WithIDs, WriteFixed}}
	for name, program := range corpusPrograms {
		for _, w := range writers {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				db := create(t, 18)
				written, err := w.write(db, program)
				if err != nil {
					t.Fatal(err)
				}
				closed(t, db)
				recorded, err := os.ReadFile(filepath.Join(corpusDir, w.name, name+".events.jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				got := plain(t, written.Events(EventStyle{Form: w.form}))
				if diff := cmp.Diff(plain(t, recorded), got); diff != "" {
					t.Errorf("recorded (-), written (+):\n%s", diff)
				}
			})
		}
	}
}

// strictEvent is an event with all keys that events have, in their order (docker-agent.md 5).
type strictEvent struct {
	Type string `json:"type"`

	Message         string          `json:"message,omitempty"`
	Content         string          `json:"content,omitempty"`
	ToolCall        *ToolCall       `json:"tool_call,omitempty"`
	ToolCallID      string          `json:"tool_call_id,omitempty"` // v1.34.0
	ToolDefinition  *ToolDefinition `json:"tool_definition,omitempty"`
	Response        string          `json:"response,omitempty"`
	Result          *toolResult     `json:"result,omitempty"`
	Switching       *bool           `json:"switching,omitempty"`
	From            string          `json:"from_agent,omitempty"`
	To              string          `json:"to_agent,omitempty"`
	ParentSession   string          `json:"parent_session_id,omitempty"`
	SubSession      *strictSession  `json:"sub_session,omitempty"`
	AvailableAgents []agentDetails  `json:"available_agents,omitempty"`
	CurrentAgent    string          `json:"current_agent,omitempty"`
	AvailableTools  *int            `json:"available_tools,omitempty"`
	Loading         *bool           `json:"loading,omitempty"`

	SessionID       string      `json:"session_id,omitempty"`
	Error           string      `json:"error,omitempty"`
	Reason          string      `json:"reason,omitempty"` // of a stream_stopped, 2026-06
	SessionPosition *int        `json:"session_position,omitempty"`
	Title           string      `json:"title,omitempty"`
	Summary         string      `json:"summary,omitempty"`
	FirstKept       int64       `json:"first_kept_entry,omitempty"`
	Status          string      `json:"status,omitempty"`
	Usage           *tokenUsage `json:"usage,omitempty"`

	AgentName   string  `json:"agent_name,omitempty"`
	Model       string  `json:"model,omitempty"`
	Description *string `json:"description,omitempty"`
	Timestamp   string  `json:"timestamp"`
}

// strictSession is a session within an event, with all keys in their order; those of the
// pointers came with a later generation.
type strictSession struct {
	ID              string       `json:"id"`
	Title           string       `json:"title"`
	Messages        []strictItem `json:"messages"`
	CreatedAt       string       `json:"created_at"`
	ToolsApproved   bool         `json:"tools_approved"`
	Thinking        *bool        `json:"thinking,omitempty"` // generation 13
	HideToolResults bool         `json:"hide_tool_results"`
	WorkingDir      string       `json:"working_dir,omitempty"`
	SendUserMessage bool
	MaxIterations   int     `json:"max_iterations"`
	Starred         *bool   `json:"starred,omitempty"` // generation 9
	InputTokens     int64   `json:"input_tokens"`
	OutputTokens    int64   `json:"output_tokens"`
	Cost            float64 `json:"cost"`
}

type strictItem struct {
	Message    *strictMessage `json:"message,omitempty"`
	SubSession *strictSession `json:"sub_session,omitempty"`
	Summary    string         `json:"summary,omitempty"`
}

type strictMessage struct {
	AgentName string          `json:"agentName"`
	Message   json.RawMessage `json:"message"`
	Implicit  bool            `json:"implicit,omitempty"`
}

type toolResult struct {
	Output  string `json:"output"`
	IsError bool   `json:"isError,omitempty"`
}

type agentDetails struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Provider    string `json:"provider"`
	Model       string `json:"model"`
}

type tokenUsage struct {
	InputTokens   int64         `json:"input_tokens"`
	OutputTokens  int64         `json:"output_tokens"`
	ContextLength int64         `json:"context_length"`
	ContextLimit  int64         `json:"context_limit"`
	Cost          float64       `json:"cost"`
	LastMessage   *messageUsage `json:"last_message,omitempty"`
}

// plain lists the events of a stream, with numbers for the ids of sessions, T
// for times, without what upstream says in prose, and with the pieces of one
// answer put together. It fails where an event has other keys, or keys in
// another order, than events have here.
func plain(t *testing.T, stream []byte) string {
	t.Helper()
	var list []strictEvent
	for line := range bytes.Lines(stream) {
		var e strictEvent
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			t.Fatalf("%s%v", line, err)
		}
		if again := encodeJSON(e); !bytes.Equal(again, bytes.TrimSpace(line)) {
			t.Fatalf("other keys:\n%s%s", line, again)
		}
		list = joined(list, e)
	}
	return anonymous(list)
}

// joined adds an event to a list; a piece is put together with the one before.
func joined(list []strictEvent, e strictEvent) []strictEvent {
	if e.AvailableTools != nil {
		*e.AvailableTools = 1 // the corpus' agents have other tools
	}
	e.AvailableAgents = nil // and a team that is told at the start
	if len(list) == 0 {
		return append(list, e)
	}
	last := &list[len(list)-1]
	switch {
	case e.Type != last.Type:
	case e.Content != "":
		last.Content += e.Content
		return list
	case e.Type == "partial_tool_call" && e.ToolCall.ID == last.ToolCall.ID && last.ToolCall.Function.Arguments != "":
		*last = e
		return list
	}
	return append(list, e)
}

func anonymous(list []strictEvent) string {
	var b strings.Builder
	for _, e := range list {
		b.Write(encodeJSON(e))
		b.WriteByte('\n')
	}
	text := b.String()
	for pattern, with := range map[string]string{
		`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`: "T",
		`"description":"(?:[^"\\]|\\.)*"`:                         `"description":""`,
		`(handed off the conversation to you\.)(?:[^"\\]|\\.)*"`:  `$1"`,
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, with)
	}
	return anonymousIDs(text)
}

// anonymousIDs puts numbers in place of the ids of sessions.
func anonymousIDs(text string) string {
	names := map[string]string{}
	return regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAllStringFunc(text, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("S%d", len(names)+1)
		}
		return names[id]
	})
}

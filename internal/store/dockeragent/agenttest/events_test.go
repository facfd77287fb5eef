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

// plain lists the events of a stream, with numbers for the ids of sessions, T
// for times, without what upstream says in prose, and with the pieces of one
// answer put together. It fails where an event has other keys, or keys in
// another order, than events have here.
func plain(t *testing.T, stream []byte) string {
	t.Helper()
	var list []event
	for line := range bytes.Lines(stream) {
		var e event
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			t.Fatalf("%s%v", line, err)
		}
		if again := encode(e); !bytes.Equal(again, bytes.TrimSpace(line)) {
			t.Fatalf("other keys:\n%s%s", line, again)
		}
		list = joined(list, e)
	}
	return anonymous(list)
}

// joined adds an event to a list; a piece is put together with the one before.
func joined(list []event, e event) []event {
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

func anonymous(list []event) string {
	var b strings.Builder
	for _, e := range list {
		b.Write(encode(e))
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

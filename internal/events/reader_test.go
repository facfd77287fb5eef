package events_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/recording"
)

const (
	choiceA = `{"type":"agent_choice","content":"a"}`
	choiceB = `{"type":"agent_choice","content":"b"}`
)

// Forms of recordings: the events as "LINE TEXT", and what is skipped.
func TestForms(t *testing.T) {
	for _, tc := range []struct {
		name, stream string
		events       []string
		skipped      []string
	}{
		{"nothing", "", nil, nil},
		{"lines", choiceA + "\n" + choiceB + "\n", []string{"1 a", "2 b"}, nil},
		{"no line end at the end", choiceA + "\n" + choiceB, []string{"1 a", "2 b"}, nil},
		{"CRLF, blank lines and a byte order mark", "\xef\xbb\xbf" + choiceA + "\r\n\r\n  \n" + choiceB + "\r\n", []string{"1 a", "4 b"}, nil},
		{"logs between", "time=12 level=INFO msg=x\n" + choiceA + "\n{\"level\":\"INFO\"}\n[1]\n" + choiceB, []string{"2 a", "5 b"},
			[]string{"1 it is not a JSON object", "3 the object has no type, so it is not an event", "4 it is not a JSON object"}},
		{"a type that is no text", `{"type":7}`, nil, []string{"1 the object has no type, so it is not an event"}},
		{"broken in the middle", choiceA + "\n{\"type\":x}\n" + choiceB, []string{"1 a", "3 b"},
			[]string{"2 it is not valid JSON from byte 9 on"}},
		{"something behind", choiceA + choiceB, nil,
			[]string{"1 something follows the JSON object, which ends at byte 37"}},
		{"cut off in a text", choiceA + "\n" + choiceB[:len(choiceB)-3], []string{"1 a"},
			[]string{"2 the line ends in the middle: the recording was cut off"}},
		{"cut off before a line end", choiceA + "\n{\"type\"\n\n", []string{"1 a"},
			[]string{"2 the line ends in the middle: the recording was cut off"}},
		{"cut off and gone on", "{\"type\":\n" + choiceB, []string{"2 b"}, []string{"1 the line ends in the middle"}},

		{"server-sent events", "data: " + choiceA + "\n\ndata:" + choiceB + "\n\ndata: [DONE]\n\n", []string{"1 a", "3 b"}, nil},
		{"all their fields", ": hello\nid: 7\nevent: message\nretry: 5\ndata: " + choiceA + "\nid: 8\n\n", []string{"5 a"}, nil},
		{"no blank lines", "data: " + choiceA + "\ndata: " + choiceB, []string{"1 a", "2 b"}, nil},
		{"several lines of data", "data: {\"type\":\"agent_choice\",\ndata: \ndata:  \"content\":\ndata: \"a\"}\n\ndata: " + choiceB + "\n\n",
			[]string{"1 a", "6 b"}, nil},
		{"the last without a blank line", "data: {\"type\":\"agent_choice\",\ndata: \"content\":\"a\"}", []string{"1 a"}, nil},
		{"cut off between lines of data", "data: " + choiceA + "\n\ndata: {\"type\":\ndata: \"agent", []string{"1 a"},
			[]string{"3 the line ends in the middle: the recording was cut off"}},
		{"something else in between", "data: {\"type\":\n" + choiceB + "\n", []string{"2 b"}, []string{"1 the line ends in the middle"}},
		{"data that is no event", "data: hello\n\ndata:\n\ndata: " + choiceA + "\n\n", []string{"5 a"}, []string{"1 it is not a JSON object"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list, skipped := readAll(t, iotest.OneByteReader(strings.NewReader(tc.stream)))
			var got []string
			for _, e := range list {
				got = append(got, fmt.Sprint(e.Line, " ", e.Text))
			}
			if diff := cmp.Diff(tc.events, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			var told []string
			for _, s := range skipped {
				told = append(told, fmt.Sprint(s.Line, " ", s.Why))
			}
			if diff := cmp.Diff(tc.skipped, told); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
		})
	}
}

// Of very many skipped lines the first are told, and all are counted.
func TestManySkipped(t *testing.T) {
	r := events.NewReader(strings.NewReader(strings.Repeat("log\n", 250)))
	if err := r.Next(&recording.Event{}); err != io.EOF {
		t.Fatal(err)
	}
	if list := r.Skipped(); len(list) != 100 || list[99].Line != 100 || r.SkippedCount() != 250 {
		t.Errorf("%d told, %d counted", len(list), r.SkippedCount())
	}
}

// What cannot be read is an error, and what was read before it counts.
func TestUnreadable(t *testing.T) {
	broken := errors.New("broken")
	r := events.NewReader(io.MultiReader(strings.NewReader(choiceA+"\n{"), iotest.ErrReader(broken)))
	var e recording.Event
	if err := r.Next(&e); err != nil || e.Text != "a" {
		t.Errorf("event %+v, error %v", e, err)
	}
	if err := r.Next(&e); !errors.Is(err, broken) || !strings.Contains(err.Error(), "after line 1") {
		t.Errorf("error %v", err)
	}
}

// An event does not change when the next one is read.
func TestEventsStay(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, `{"type":"kind %d","agent_name":"agent %d","session_id":"session %d"}`+"\n", i, i, i)
	}
	list, _ := readAll(t, strings.NewReader(b.String()))
	for i, e := range list {
		want := recording.Event{Line: int64(i + 1), Name: fmt.Sprint("kind ", i), Agent: fmt.Sprint("agent ", i), Session: fmt.Sprint("session ", i)}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

// The same events come from JSON lines and from server-sent events, however their
// data is spread over lines.
func TestServerSentIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines, sent strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "events") {
			members := []string{
				fmt.Sprintf(`"type":%q`, rapid.SampledFrom([]string{"agent_choice", "error", "user_message", "x"}).Draw(t, "type")),
				fmt.Sprintf(`"content":"%s"`, rapid.StringMatching(`([a-z {}:\[\]]|\\n|\\"|\\u00e9|data:){0,12}`).Draw(t, "content")),
				fmt.Sprintf(`"agent_name":%q`, rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "agent")),
			}
			lines.WriteString("{" + strings.Join(members, ",") + "}\n")
			between := rapid.SampledFrom([]string{",", ",\ndata: ", ",\ndata:\ndata:"}).Draw(t, "between")
			sent.WriteString(rapid.SampledFrom([]string{"", ": comment\n", "event: message\n", "id: 1\n"}).Draw(t, "field"))
			sent.WriteString("data: {" + strings.Join(members, between) + "}\n\n")
		}
		sent.WriteString("data: [DONE]\n\n")
		want, skippedLines := drain(lines.String())
		got, skippedSent := drain(sent.String())
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(recording.Event{}, "Line")); diff != "" {
			t.Errorf("(-lines +sent):\n%s\n%s", diff, sent.String())
		}
		if skippedLines+skippedSent > 0 {
			t.Errorf("%d and %d lines skipped", skippedLines, skippedSent)
		}
	})
}

func drain(stream string) (list []recording.Event, skipped int) {
	r := events.NewReader(strings.NewReader(stream))
	var e recording.Event
	for r.Next(&e) == nil {
		list = append(list, e)
	}
	return list, r.SkippedCount()
}

// FuzzReader: whatever the stream is, each line that is not blank and no field of
// a server-sent event is an event or skipped, once, and lines come in order.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		choiceA + "\n" + choiceB, "log\n\n{\"type\":", "\xef\xbb\xbf{}\r\n[]", "{\"type\":\"agent_choice\",\"content\":\"\\ud800\xff\"}",
		"data: {\"type\":\ndata: \"x\"}\n\ndata: [DONE]\n", "id: 1\n: c\ndata:x\ndata: {\n" + choiceA,
		`{"type":"user_message","multi_content":[{"text":"a"},[],{}]}`,
		`{"type":"tool_call_response","tool_call_id":"t","tool_definition":{"name":"n"},"result":{"isError":true}}`,
		`{"type":"tool_call","tool_call":{"id":"t","function":{"name":"transfer_task","arguments":"{\"agent\":\"w\"}"}}}`,
		`{"type":"sub_session_completed","parent_session_id":"P","sub_session":{"id":"C","messages":[{"message":{"message":{"role":"tool"}}},` +
			`{"sub_session":{"id":"G","messages":[null]}},{"summary":"s"}]}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		r := events.NewReader(strings.NewReader(stream))
		var e recording.Event
		var last int64
		var unread int // events that are also told, because their sub-session is lost
		list := 0
		for ; ; list++ {
			err := r.Next(&e)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.Line <= last || e.Name == "" && !strings.Contains(stream, `""`) {
				t.Fatalf("line %d after line %d, type %q", e.Line, last, e.Name)
			}
			last = e.Line
			if e.Kind == recording.ChildCompleted && e.Child == nil {
				unread++
			}
		}
		plain, data := 0, 0
		for i, line := range strings.Split(stream, "\n") {
			if i == 0 {
				line = strings.TrimPrefix(line, "\xef\xbb\xbf")
			}
			switch line = strings.Trim(line, " \t\r"); {
			case strings.HasPrefix(line, "data:"):
				data++
			case line != "" && !hasField(line):
				plain++
			}
		}
		if told := list + r.SkippedCount() - unread; told < plain || told > plain+data {
			t.Errorf("%d events and skipped lines of %d lines and %d lines of data", told, plain, data)
		}
	})
}

func hasField(line string) bool {
	for _, field := range []string{":", "event:", "id:", "retry:"} {
		if strings.HasPrefix(line, field) {
			return true
		}
	}
	return false
}

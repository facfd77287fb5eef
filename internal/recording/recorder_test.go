package recording_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// words are the first words of a line of events, by kind.
var words = map[string]recording.EventKind{
	"user": recording.UserMessage, "start": recording.StreamStarted, "stop": recording.StreamStopped,
	"text": recording.Choice, "think": recording.Reasoning, "part": recording.PartialCall, "call": recording.CallStarted,
	"answer": recording.CallAnswered, "added": recording.MessageAdded, "done": recording.ChildCompleted,
	"tokens": recording.TokenUsage, "title": recording.TitleSet, "summary": recording.Summarized,
	"switch": recording.Switched, "back": recording.Switched, "again": recording.Restarted, "info": recording.OtherEvent,
}

// parseEvents reads events from lines like
//
//	switch root>worker
//	call transfer_task:r1>worker @root
//	text @worker #C "on it"
//
// in which @ is the agent, # the session id, > the agent asked, and of "done"
// the first word is the child.
func parseEvents(t *testing.T, text string) []*recording.Event {
	t.Helper()
	var list []*recording.Event
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		e := &recording.Event{Line: int64(len(list) + 1)}
		line, said, _ := strings.Cut(strings.TrimSpace(line), ` "`)
		e.Text = strings.TrimSuffix(said, `"`)
		for i, word := range strings.Fields(line) {
			switch {
			case i == 0:
				kind, ok := words[word]
				if !ok {
					t.Fatalf("there is no event %q", word)
				}
				e.Kind, e.Name, e.Start = kind, word, word == "switch"
			case word[0] == '@':
				e.Agent = word[1:]
			case word[0] == '#':
				e.Session = word[1:]
			case e.Kind == recording.Switched:
				e.From, e.To, _ = strings.Cut(word, ">")
			case e.Kind == recording.ChildCompleted:
				e.Child = &session.Tree{Sessions: []*session.Session{{ID: word}}}
			default:
				setCall(e, word)
			}
		}
		list = append(list, e)
	}
	return list
}

// setCall reads NAME:ID>AGENT.
func setCall(e *recording.Event, word string) {
	name, rest, _ := strings.Cut(word, ":")
	id, agent, delegates := strings.Cut(rest, ">")
	e.Call = session.Call{ID: id, Name: name, Args: "{}"}
	if delegates {
		e.Call.Args = fmt.Sprintf(`{"agent":%q}`, agent)
	}
	e.Call.Delegation = session.DelegationFor(name, e.Call.Args)
}

// describeStep prints a step: the depth, the frame, and what becomes of the event.
//
//	1 root/worker skip C: delegation-open (persist: not-guarded)
func describeStep(s *recording.Step) string {
	var b strings.Builder
	if s.Before != s.Depth {
		fmt.Fprintf(&b, "%d→", s.Before)
	}
	fmt.Fprintf(&b, "%d", s.Depth)
	var path []string
	for f := s.Frame; f != nil; f = f.Parent {
		path = append([]string{f.Agent}, path...)
	}
	fmt.Fprintf(&b, " /%s", strings.Join(path, "/"))
	if s.Action != replay.None {
		fmt.Fprintf(&b, " %s %s", s.Action, s.Target)
	}
	if s.Row != session.NoRole {
		fmt.Fprintf(&b, " [%s]", s.Row)
	}
	if s.Call != "" {
		fmt.Fprintf(&b, " %s", s.Call)
	}
	if s.Reason != replay.NothingStored {
		fmt.Fprintf(&b, ": %s", s.Reason)
	}
	if s.Disagree() {
		fmt.Fprintf(&b, " (%s: %s)", s.Other, s.OtherReason)
	}
	if s.Anomaly != nil {
		b.WriteString(" " + describeAnomaly(s.Anomaly))
	}
	return b.String()
}

func describeAnomaly(a *recording.Anomaly) string {
	kind := [...]string{"unmatched end", "unmatched start", "cut off", "begun inside"}[a.Kind]
	return fmt.Sprintf("! %s at %d of %s>%s %s opened %d", kind, a.Line, a.Caller, a.Agent, a.Call, a.Opened)
}

// eventCase is a stream, with the verdict behind each event, and what is odd at
// its end.
type eventCase struct{ name, events, odd string }

func runEvents(t *testing.T, model recording.Model, cases []eventCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var events, want []string
			for line := range strings.SplitSeq(strings.TrimSpace(tc.events), "\n") {
				event, verdict, _ := strings.Cut(line, "|")
				events, want = append(events, event), append(want, strings.TrimSpace(verdict))
			}
			r := recording.NewRecorder(model, true, "(no output)")
			var got []string
			for _, e := range parseEvents(t, strings.Join(events, "\n")) {
				step := r.Take(e)
				got = append(got, describeStep(&step))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
			var odd []string
			for _, a := range r.End().Anomalies {
				odd = append(odd, describeAnomaly(&a))
			}
			if diff := cmp.Diff(strings.TrimSpace(tc.odd), strings.Join(odd, "\n")); diff != "" {
				t.Errorf("anomalies, want (-), got (+):\n%s", diff)
			}
		})
	}
}

func TestATransferBeforeAnswersCarriedIDs(t *testing.T) {
	runEvents(t, recording.Auto, []eventCase{{"", `
		user #P                              | 0 / persist P [user]: own-id
		start #P @root                       | 0 /: run-begins
		text @root                           | 0 / persist P: own-stream
		part transfer_task:r1>worker @root   | 0 / persist P r1: own-stream
		added #P @root                       | 0 / persist P [assistant]: own-id
		call transfer_task:r1>worker @root   | 0 / r1
		switch root>worker                   | 0→1 /worker r1: opens
		start #C @worker                     | 1 /worker
		text @worker                         | 1 /worker skip C: child-stream
		added #C @worker                     | 1 /worker skip C [assistant]: child-id
		tokens #C @worker                    | 1 /worker skip C: child-id (persist: not-guarded)
		stop #C @worker                      | 1 /worker
		done C #P @root                      | 1 / persist P r1: own-record
		back worker>root                     | 1→0 / r1: closes
		answer transfer_task:r1 @root        | 0 / persist P r1: own-call
		added #P @root                       | 0 / persist P [tool] r1: own-id
		title #P                             | 0 / persist P: own-id
		stop #P @root                        | 0 /
	`, ""}})
}

func TestParallelDelegationsOfOneMessage(t *testing.T) {
	runEvents(t, recording.Auto, []eventCase{
		{"no switch: docker-agent#4156", `
		start #P @root                       | 0 /: run-begins
		part transfer_task:r1>a @root        | 0 / persist P r1: own-stream
		part transfer_task:r2>b @root        | 0 / persist P r2: own-stream
		part shell:r3 @root                  | 0 / persist P r3: own-stream
		added #P @root                       | 0 / persist P [assistant]: own-id
		start #A @a                          | 0→1 /a r1: opens
		start #B @b                          | 1→2 /b r2: opens
		text #B @b                           | 2 /b skip B: child-id (persist: depth-zero)
		part shell:x @a                      | 2 /a skip A x: child-stream (persist: depth-zero)
		answer shell:r3 @root                | 2 / persist P r3: own-call
		added #P @root                       | 2 / persist P [tool] r3: own-id
		added #A @a                          | 2 /a skip A [assistant]: child-id (persist: depth-zero)
		stop #B @b                           | 2→1 /b r2: closes
		done B #P @root                      | 1 / persist P: own-record
		answer transfer_task:r2 @root        | 1 / persist P r2: own-call
		answer shell:x @a                    | 1 /a skip A x: child-call (persist: depth-zero)
		added #P @root                       | 1 / persist P [tool] r2: own-id
		stop #A @a                           | 1→0 /a r1: closes
	`, ""},
		{"one of them switches", `
		start #P @root                       | 0 /: run-begins
		part transfer_task:r1>a @root        | 0 / persist P r1: own-stream
		part transfer_task:r2>a @root        | 0 / persist P r2: own-stream
		added #P @root                       | 0 / persist P [assistant]: own-id
		switch root>a                        | 0→1 /a r1: opens
		start #A @a                          | 1 /a
		start #B @a                          | 1→2 /a r2: opens
		stop #B @a                           | 2→1 /a r2: closes
		answer transfer_task:r2 @root        | 1 / persist P r2: own-call (skip: delegation-open)
		added #P @root                       | 1 / persist P [tool] r2: own-id (skip: delegation-open)
		stop #A @a                           | 1 /a
		back a>root                          | 1→0 / r1: closes
	`, ""},
	})
}

func TestASkillHasNoSwitch(t *testing.T) {
	runEvents(t, recording.Auto, []eventCase{{"", `
		start #P @root                       | 0 /: run-begins
		part run_skill:s1 @root              | 0 / persist P s1: own-stream
		added #P @root                       | 0 / persist P [assistant]: own-id
		start #S @root                       | 0→1 /root s1: opens
		text @root                           | 1 /root skip S: child-stream (persist: depth-zero)
		added #S @root                       | 1 /root skip S [assistant]: child-id (persist: depth-zero)
		stop #S @root                        | 1→0 /root s1: closes
		done S #P @root                      | 0 / persist P: own-record
		answer run_skill:s1 @root            | 0 / persist P s1: own-call
		added #P @root                       | 0 / persist P [tool] s1: own-id
	`, ""}})
}

func TestAHandoffOpensNothing(t *testing.T) {
	runEvents(t, recording.Auto, []eventCase{{"also to an agent that waits outside", `
		start #P @root                       | 0 /: run-begins
		part transfer_task:r1>a @root        | 0 / persist P r1: own-stream
		added #P @root                       | 0 / persist P [assistant]: own-id
		switch root>a                        | 0→1 /a r1: opens
		start #A @a                          | 1 /a
		part handoff:h1>root @a              | 1 /a skip A h1: child-stream
		added #A @a                          | 1 /a skip A [assistant]: child-id
		answer handoff:h1 @a                 | 1 /a skip A h1: child-call
		added #A @a                          | 1 /a skip A [tool] h1: child-id
		text @root                           | 1 /a skip A: child-stream
		back a>root                          | 1→0 / r1: closes
	`, ""}})
}

func TestStartsAndEndsThatDoNotMatch(t *testing.T) {
	runEvents(t, recording.Auto, []eventCase{
		{"an end too many is clamped", `
		start #P @root                       | 0 /: run-begins
		back a>root                          | 0 /: clamped ! unmatched end at 2 of root>a  opened 0
		switch root>a                        | 0→1 /a: opens
		text @a                              | 1 /a skip : delegation-open
		back a>root                          | 1→0 /: closes
	`, "! unmatched end at 2 of root>a  opened 0"},
		{"an end of another delegation closes nothing", `
		start #P @root                       | 0 /: run-begins
		switch root>a                        | 0→1 /a: opens
		back b>root                          | 1 /a: clamped ! unmatched end at 3 of root>b  opened 0
		back a>root                          | 1→0 /: closes
	`, "! unmatched end at 3 of root>b  opened 0"},
		{"an end closes what is open below", `
		start #P @root                       | 0 /: run-begins
		switch root>a                        | 0→1 /a: opens
		switch a>b                           | 1→2 /a/b: opens
		back a>root                          | 2→0 /: closes ! unmatched start at 4 of a>b  opened 3
	`, "! unmatched start at 4 of a>b  opened 3"},
		{"the next message of the user closes everything", `
		user #P                              | 0 / persist P [user]: own-id
		switch root>a                        | 0→1 /a: opens
		start #A @a                          | 1 /a
		user #P                              | 1→0 / persist P [user]: own-id ! unmatched start at 4 of root>a  opened 2
	`, "! unmatched start at 4 of root>a  opened 2"},
		{"so does the next recording in the same file", `
		user #P                              | 0 / persist P [user]: own-id
		start #P @root                       | 0 /: run-begins
		switch root>a                        | 0→1 /a: opens
		start #A @a                          | 1 /a
		user #Q                              | 1→0 / persist Q [user]: own-id ! unmatched start at 5 of root>a  opened 3
		start #Q @root                       | 0 /: run-begins
	`, "! unmatched start at 5 of root>a  opened 3"},
		{"the recording ends inside", `
		start #P @root                       | 0 /: run-begins
		switch root>a                        | 0→1 /a: opens
		start #A @a                          | 1 /a
	`, "! cut off at 3 of root>a  opened 2"},
		{"the recording begins inside", `
		start #C @worker                     | 0 /: run-begins
		text #C @worker                      | 0 / persist C: own-id
		stop #C @worker                      | 0 /
		done C #P @root                      | 0 / persist P: own-record ! begun inside at 4 of root>worker  opened 1
		back worker>root                     | 0 /: clamped ! unmatched end at 5 of root>worker  opened 0
		added #P @root                       | 0 / persist P: own-id
	`, "! begun inside at 4 of root>worker  opened 1\n! unmatched end at 5 of root>worker  opened 0"},
		{"inside one that fails", `
		text #C @worker                      | 0 / persist C: own-id
		tokens #X @worker                    | 0 / skip X: child-id (persist: not-guarded)
		back worker>root                     | 0 /: clamped ! unmatched end at 3 of root>worker  opened 0
		added #P @root                       | 0 / persist P: own-id
	`, "! unmatched end at 3 of root>worker  opened 0"},
		{"at a switch", `
		switch root>a                        | 0→1 /a: opens
		start #A @a                          | 1 /a
		added #A @a                          | 1 /a skip A: child-id
		done A #P @root                      | 1 / persist P: own-record
		back a>root                          | 1→0 /: closes
		added #P @root                       | 0 / persist P: own-id
	`, ""},
		{"an end that is missing while the run goes on", `
		user #P                              | 0 / persist P [user]: own-id
		part transfer_task:r1>a @root        | 0 / persist P r1: depth-zero
		switch root>a                        | 0→1 /a r1: opens
		answer transfer_task:r1 @root        | 1 / persist P r1: own-call (skip: delegation-open)
		added #P @root                       | 1 / persist P [tool] r1: own-id (skip: delegation-open)
		switch root>b                        | 1→2 /b: opens
		stop #P @root                        | 2 /
	`, "! unmatched start at 4 of root>a r1 opened 3\n! cut off at 7 of root>b  opened 6"},
		{"a closed session names nobody any more", `
		start #P @root                       | 0 /: run-begins
		switch root>a                        | 0→1 /a: opens
		start #A @a                          | 1 /a
		back a>root                          | 1→0 /: closes
		switch root>b                        | 0→1 /b: opens
		text #A @a                           | 1 / skip A: child-id
		start #B @b                          | 1 /b
		back b>root                          | 1→0 /: closes
	`, ""},
	})
}

func TestModels(t *testing.T) {
	const nested = `
		start #P @root | %s
		part transfer_task:r1>a @root | %s
		added #P @root | %s
		switch root>a | %s
		start #A @a | %s
		part transfer_task:a1>b @a | %s
		added #A @a | %s
		switch a>b | %s
		text @b | %s
		done B #A @a | %s
		back b>a | %s
		tokens #OUT @c | %s`
	fill := func(verdicts ...any) string { return fmt.Sprintf(nested, verdicts...) }
	runEvents(t, recording.ByDepth, []eventCase{{"depth", fill(
		"0 /: run-begins",
		"0 / persist P r1: depth-zero",
		"0 / persist P [assistant]: depth-zero",
		"0→1 /a r1: opens",
		"1 /a",
		"1 /a skip A a1: delegation-open",
		"1 /a skip A [assistant]: delegation-open",
		"1→2 /a/b a1: opens",
		"2 /a/b skip : delegation-open",
		"2 /a persist A a1: not-guarded (skip: child-record)",
		"2→1 /a a1: closes",
		"1 / persist OUT: not-guarded (skip: child-id)",
	), "! cut off at 12 of root>a r1 opened 4"}})
	runEvents(t, recording.BySession, []eventCase{{"session-id", fill(
		"0 /: run-begins",
		"0 / persist P r1: own-stream",
		"0 / persist P [assistant]: own-id",
		"0 /a r1",
		"0→1 /a r1: opens",
		"1 /a skip A a1: child-stream",
		"1 /a skip A [assistant]: child-id",
		"1 /a/b a1",
		"1 /a skip A: child-stream",
		"1 /a skip A a1: child-record (persist: not-guarded)",
		"1 /a a1",
		"1 / skip OUT: child-id (persist: not-guarded)",
	), "! cut off at 12 of root>a r1 opened 4"}})
}

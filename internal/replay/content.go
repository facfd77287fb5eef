package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
)

// content is an item with the digest of what it says. Item.Meaning is none that two
// kinds of stores share.
type content struct {
	*session.Item
	key     session.Digest // 0 of what no event makes: errors and unknown records
	cut     bool           // it may go on: what is there is the beginning
	outputs []string       // the texts of its results, "" where a tool had nothing to say
	omitted string         // session.Runtime.OmittedOutput

	// answer: the result of a child that spoke last. It takes over no row of the
	// child (docs/stores/docker-agent.md#which-versions-leak).
	answer bool
}

// sessionContents are the items of a session, as its runtime writes results.
func sessionContents(s *session.Session, runtime *session.Runtime) []content {
	if s == nil {
		return nil
	}
	list := make([]content, len(s.Items))
	for i := range s.Items {
		it := content{Item: &s.Items[i], cut: s.Items[i].Flags.Has(session.Unfinished), omitted: runtime.OmittedOutput}
		for n := range it.Results {
			text := it.Results[n].Text
			if isBlank(text) || text == runtime.NoOutput {
				text = ""
			}
			it.outputs = append(it.outputs, text)
		}
		it.key = it.meaningDigest()
		list[i] = it
	}
	return list
}

func keysOf(list []content) []session.Digest {
	return lists.MapEach(list, func(c content) session.Digest { return c.key })
}

func (it content) meaningDigest() session.Digest {
	if it.Kind == session.Other {
		return 0
	}
	var m session.Meaning
	m.Reset(it.Role, it.Agent())
	m.AddMark(byte(it.Kind))
	m.AddFlag(it.Flags.Has(session.Implicit))
	m.AddTexts(it.Agent(), it.Child(), it.Body.Text, it.Body.Reasoning)
	for i := range it.Calls {
		c := &it.Calls[i]
		m.AddMark('c')
		m.AddTexts(c.ID, c.Name, canonicalArguments(c.Args))
	}
	for i := range it.Results {
		r := &it.Results[i]
		m.AddMark('r')
		m.AddFlag(r.IsError)
		m.AddTexts(r.CallID, it.outputs[i])
	}
	return m.Digest()
}

// canonicalArguments is the text of a call's arguments in one form for equal values. No
// text counts as an object without members, as runtimes send it.
func canonicalArguments(text string) string {
	if strings.TrimSpace(text) == "" {
		return "{}"
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if !json.Valid([]byte(text)) || decoder.Decode(&value) != nil {
		return text
	}
	same, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(same)
}

// standsFor reports whether a stored item can be the recorded one although it
// says something else: because one of them was not finished, because the
// stream did not tell what the message says, or because a result took over the
// row that a child had begun, with its name (docs/stores/docker-agent.md#which-versions-leak).
func standsFor(stored, recorded content) bool {
	switch {
	case stored.Kind != session.Message || recorded.Kind != session.Message || stored.Role != recorded.Role:
		return false
	case stored.Role != session.Tool && stored.Agent() != recorded.Agent():
		return false
	case recorded.Flags.Has(session.Blank):
		return true
	}
	return isBeginningOf(recorded, stored) || isBeginningOf(stored, recorded) || len(recorded.Results) > 0 && sameResults(recorded, stored)
}

// isBeginningOf reports whether an unfinished item is the beginning of another one: it
// says no more, and what it says the other says first. A result comes at once.
func isBeginningOf(part, whole content) bool {
	if !part.cut || !strings.HasPrefix(whole.Body.Text, part.Body.Text) || !strings.HasPrefix(whole.Body.Reasoning, part.Body.Reasoning) {
		return false
	}
	return beginCalls(part.Calls, whole.Calls) && sameResults(part, whole)
}

// beginCalls reports whether calls are the first of others; the last of them may
// lack the end of its arguments.
func beginCalls(part, whole []session.Call) bool {
	if len(part) > len(whole) {
		return false
	}
	for i := range part {
		p, w := &part[i], &whole[i]
		cut := i == len(part)-1 && strings.HasPrefix(w.Name, p.Name) && strings.HasPrefix(w.Args, p.Args)
		if p.ID != w.ID || !cut && (p.Name != w.Name || canonicalArguments(p.Args) != canonicalArguments(w.Args)) {
			return false
		}
	}
	return true
}

func sameResults(a, b content) bool {
	return slices.EqualFunc(a.Results, b.Results, sameAnswered) && slices.EqualFunc(a.outputs, b.outputs, a.sameOutput)
}

// isUnsaid reports whether an item was cut off before it said anything: of one that
// ends in thought runtimes store nothing.
func (it content) isUnsaid() bool {
	return it.cut && it.Kind == session.Message && isBlank(it.Body.Text) && len(it.Calls)+len(it.Results) == 0
}

// callsAnswered are the ids of the calls that an item answers.
func callsAnswered(it *session.Item) []string {
	return lists.MapEach(it.Results, func(r session.Result) string { return r.CallID })
}

// compareParts names the parts in which a stored item differs from the recorded one.
func compareParts(recorded, stored content) []string {
	part := isBeginningOf(recorded, stored) || isBeginningOf(stored, recorded) || recorded.Flags.Has(session.Blank)
	retried := !part && isEndOf(stored, recorded)
	parts := []struct {
		name string
		same bool
	}{
		{"agent", recorded.Agent() == stored.Agent()},
		{"implicit mark", recorded.Flags&session.Implicit == stored.Flags&session.Implicit},
		{"text", part || retried || recorded.Body.Text == stored.Body.Text && sameTexts(recorded, stored)},
		{Retried, !retried},
		{"reasoning", part || recorded.Body.Reasoning == stored.Body.Reasoning},
		{"calls", part || slices.EqualFunc(recorded.Calls, stored.Calls, sameCall) && slices.Equal(callsAnswered(recorded.Item), callsAnswered(stored.Item))},
		{"arguments", part || hasSamePrefix(recorded.Calls, stored.Calls, sameArguments)},
		{"error mark", part || hasSamePrefix(recorded.Results, stored.Results, sameMark)},
		{"sub-session", recorded.Child() == stored.Child()},
	}
	var names []string
	for _, p := range parts {
		if !p.same {
			names = append(names, p.name)
		}
	}
	return names
}

// isEndOf reports whether a stored answer says the end of what was streamed: see
// Retried.
func isEndOf(stored, recorded content) bool {
	end, all := stored.Body.Text, recorded.Body.Text
	return stored.Role == session.Assistant && !isBlank(end) && end != all && strings.HasSuffix(all, end)
}

// hasSamePrefix reports whether what both lists have is the same.
func hasSamePrefix[T any](a, b []T, same func(T, T) bool) bool {
	n := min(len(a), len(b))
	return slices.EqualFunc(a[:n], b[:n], same)
}

// sameOutput reports whether two results say the same, as far as both go.
func (it content) sameOutput(a, b string) bool {
	return a == b || it.omitted != "" && (isCut(a, b, it.omitted) || isCut(b, a, it.omitted))
}

// isCut reports whether a text is another one without its middle.
func isCut(part, whole, omitted string) bool {
	head, tail, ok := strings.Cut(part, omitted)
	return ok && len(part) < len(whole) && strings.HasPrefix(whole, head) && strings.HasSuffix(whole, tail)
}

func sameAnswered(a, b session.Result) bool { return a.CallID == b.CallID }

// sameTexts reports whether the results that both have say the same.
func sameTexts(a, b content) bool {
	for i := range min(len(a.Results), len(b.Results)) {
		if a.Results[i].CallID == b.Results[i].CallID && !a.sameOutput(a.outputs[i], b.outputs[i]) {
			return false
		}
	}
	return true
}

func sameMark(a, b session.Result) bool { return a.CallID != b.CallID || a.IsError == b.IsError }
func sameCall(a, b session.Call) bool   { return a.ID == b.ID && a.Name == b.Name }
func sameArguments(a, b session.Call) bool {
	return a.ID != b.ID || canonicalArguments(a.Args) == canonicalArguments(b.Args)
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

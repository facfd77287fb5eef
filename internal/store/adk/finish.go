package adk

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// finishSession sets what only all items together can tell.
func (n *notes) finishSession(s *session.Session) {
	n.relateItems(s)
	n.tellDialects(s)
	for i := range s.Items { // nearly every event has a dialect, and nobody asks for it again
		kept := n.loadNote(&s.Items[i])
		kept.dialect, kept.aware = "", false
		n.keepNote(s.Items[i].Key, kept)
	}
}

// relateItems sets what items tell of each other, anew where it was set before.
func (n *notes) relateItems(s *session.Session) {
	for i := range s.Items {
		it := &s.Items[i]
		it.Flags &^= session.Rewound | session.Compacted
		if it.Kind == session.Other && n.loadNote(it).summary != nil {
			it.Kind = session.Summary // it was annulled
		}
		if it.Kind == session.Summary && it.KeptFrom() != 0 {
			it.Own().KeptFrom = 0
		}
	}
	n.markRewound(s)
	n.markCompacted(s)
	n.markSuperseded(s)
	n.markAsked(s)
}

// markRewound marks what was annulled: everything from the first event of an invocation
// up to the event that says so, itself included. A rewind that a later one annulled
// annuls nothing; one to an invocation that is not there, only itself.
func (n *notes) markRewound(s *session.Session) {
	for i := len(s.Items) - 1; i >= 0; i-- {
		to := n.loadNote(&s.Items[i]).rewind
		if to == "" {
			continue
		}
		first := slices.IndexFunc(s.Items[:i], func(it session.Item) bool { return it.Invocation() == to })
		if first < 0 {
			first = i
		}
		for k := first; k <= i; k++ {
			s.Items[k].Flags |= session.Rewound
			if s.Items[k].Kind == session.Summary {
				s.Items[k].Kind = session.Other // it stands for nothing any more
			}
		}
		i = first
	}
}

// markSuperseded says which results of a long-running call stand for a later one: the
// last one counts (docs/stores/adk.md#what-an-agent-sees). The only one is an answer, whatever it says: that a tool's
// own words mean that more will come, a reader cannot know, and a call that still
// waits for it is answered for every provider.
func (n *notes) markSuperseded(s *session.Session) {
	type waiting struct{ item, nth int } // of the last result, item -1 without one
	calls := map[string]waiting{}
	for i := range s.Items {
		it := &s.Items[i]
		if !it.OnWire() {
			continue
		}
		asks := n.loadNote(it).asks
		for nth := range it.Results {
			last, ok := calls[it.Results[nth].CallID]
			if !asks {
				it.SetPending(nth, false)
			}
			if !ok {
				continue
			}
			if last.item >= 0 {
				s.Items[last.item].SetPending(last.nth, true)
			}
			calls[it.Results[nth].CallID] = waiting{i, nth}
		}
		for nth := range it.Calls {
			delete(calls, it.Calls[nth].ID) // used again
			if it.Calls[nth].Waits {
				calls[it.Calls[nth].ID] = waiting{item: -1}
			}
		}
	}
}

// note is what an event says about others, which an item has no room for.
type note struct {
	rewind  string // the invocation before which the session goes on
	summary *span
	dialect string
	aware   bool // its time has an offset, as all of P1's have in PostgreSQL
	asks    bool // for a person's approval or for credentials: its answers wait
	// about are the calls that its questions to a person are about, by the ids of the
	// questions.
	about *map[string]string
}

// notes are kept by the key of the item. Few events have one.
type notes struct {
	byKey sync.Map
	some  atomic.Bool // there was one
}

func (n *notes) keepNote(key string, value note) {
	if value != (note{}) {
		n.some.Store(true)
		n.byKey.Store(key, value)
	} else if n.some.Load() {
		n.byKey.Delete(key) // a repair can have changed the event
	}
}

func (n *notes) loadNote(it *session.Item) note {
	if !n.some.Load() {
		return note{}
	}
	value, _ := n.byKey.Load(it.Key)
	v, _ := value.(note)
	return v
}

// noteOf is the note of an event.
func noteOf(g generation, s *stored) note {
	n := note{dialect: s.dialect, aware: g == p1 && s.time.Zoned}
	n.asks = len(s.Actions.RequestedToolConfirmations)+len(s.Actions.RequestedAuthConfigs) > 0
	n.about = findQuestions(g, s)
	if g.takesBack() {
		n.rewind = s.Actions.RewindBeforeInvocationID
	}
	switch c := s.Actions.Compaction; {
	case c == nil || s.broken:
	case g == j1: // everything up to the end, of the last summary only
		n.summary = &span{end: c.endTime(), sole: true}
		if n.summary.end.IsZero() {
			n.summary.end = time.Unix(endOfTime, 0)
		}
	case g.summaryFault(s) == "":
		// adk-python leaves out every event before a summary that is not older than
		// its start; the others, as adk-java does it, what lies within the span (docs/stores/adk.md#what-an-agent-sees).
		n.summary = &span{start: c.startTime(), end: c.endTime(), open: g.isPython(), local: g == p0, within: g == k1}
		for _, e := range c.ExcludedEvents {
			n.summary.except = append(n.summary.except, excluded{e.InvocationID, spanTime(e.Timestamp).Time})
		}
	}
	return n
}

// The calls by which the runtime asks a person about another call (2, 6.5).
const (
	confirmation = "adk_request_confirmation"
	credential   = "adk_request_credential"
)

// findQuestions finds the calls that an event asks a person about, by the ids of the
// questions, nil for none.
func findQuestions(g generation, s *stored) (about *map[string]string) {
	if s.Content == nil {
		return nil
	}
	for i := range s.Content.Parts {
		f := s.Content.Parts[i].FunctionCall
		if f == nil || f.Name != confirmation && f.Name != credential {
			continue
		}
		var args struct {
			FunctionCallID       string       `json:"functionCallId"` // of a request for credentials
			OriginalFunctionCall functionCall `json:"originalFunctionCall"`
		}
		if g.decodeJSON(f.Args, &args) != nil {
			continue
		}
		if about == nil {
			about = &map[string]string{}
		}
		(*about)[f.ID] = args.FunctionCallID + args.OriginalFunctionCall.ID
	}
	return about
}

// markAsked says about which calls a person was asked who can still answer: those of questions
// without an answer, as long as neither the caller nor the user went on. adk-python
// stores a question before the response that stands for the one to come, and a consumer
// that stops at the question leaves the call without any; confirmed, the tool runs, and
// its response follows.
func (n *notes) markAsked(s *session.Session) {
	type speaker struct{ agent, branch string }
	wentOn, answered, open := map[speaker]bool{}, map[string]bool{}, map[string]bool{}
	for i := len(s.Items) - 1; i >= 0; i-- {
		it := &s.Items[i]
		by := speaker{it.Agent(), it.Branch()}
		for nth := range it.Calls {
			id := it.Calls[nth].ID
			setAsked(it, nth, open[id] && !wentOn[by] && !wentOn[speaker{}])
			delete(open, id)
		}
		for nth := range it.Results {
			answered[it.Results[nth].CallID] = true
		}
		if it.OnWire() && !it.IsAnswer() {
			if it.Role == session.User {
				by = speaker{}
			}
			wentOn[by] = true
		}
		about := n.loadNote(it).about
		if about == nil || it.Flags&(session.Rewound|session.Compacted) != 0 {
			continue
		}
		for question, call := range *about {
			open[call] = open[call] || !answered[question]
		}
	}
}

// setAsked leaves the calls of an item that another session shares.
func setAsked(it *session.Item, nth int, asked bool) {
	if it.Calls[nth].Asked != asked {
		it.Calls = slices.Clone(it.Calls)
		it.Calls[nth].Asked = asked
	}
}

func (w *writer) addResponse(f *functionResponse) {
	name, value := onlyMember(f.Response)
	text := ""
	if value.Kind() == jsontext.KindString {
		least := len(value) - len(`""`) - bytes.Count(value, []byte(`\`)) - 5*bytes.Count(value, []byte(`\u`)) // bytes of the text
		if least <= session.LongestPlaceholder || string(value[1:3]) == `\u` || value[1] == session.SyntheticPrefix[0] {
			w.scratch = appendUnquoted(w.scratch[:0], value)
			text = column.ViewBytes(w.scratch) // else it is none
		}
	}
	r := session.Result{CallID: f.ID, Name: f.Name, Text: rawText(f.Response), IsError: isError(name, value), Synthetic: session.IsPlaceholder(text)}
	// The answer in the event that asks for a person's approval or for credentials
	// stands for one that comes later, under the same id (docs/stores/adk.md#what-is-read).
	_, confirmed := w.waiting.RequestedToolConfirmations[f.ID]
	_, authorised := w.waiting.RequestedAuthConfigs[f.ID]
	r.Pending = confirmed || authorised
	if strings.HasPrefix(text, session.SyntheticPrefix) { // a repair wrote it, and means this text
		r.Text = strings.Clone(text)
		w.it.Flags |= session.Synthetic
	}
	w.addResult(r)
}

func (w *writer) addResult(r session.Result) {
	r.Digest = session.DigestOf(r.Text)
	w.size += int64(len(r.Text))
	w.it.Results = append(w.it.Results, r)
}

// isError reports whether a response is one that ADK makes of a failed tool: an
// object with the member "error" and no other (docs/stores/adk.md#what-is-read). With others beside it, it is the
// tool's own answer, whatever it tells of.
func isError(name string, value jsontext.Value) bool {
	switch value.Kind() {
	case jsontext.KindNull, jsontext.KindFalse, 0:
		return false
	}
	return name == "error"
}

// onlyMember is the member of an object that has just one; the value is nil for
// everything else.
func onlyMember(v jsontext.Value) (name string, value jsontext.Value) {
	if v.Kind() != jsontext.KindBeginObject {
		return "", nil
	}
	scan := jsonscan.NewScanner(v)
	if scan.VisitMembers(func(n []byte) bool {
		if value != nil && name != string(n) {
			return false
		}
		name = string(n)
		raw, ok := scan.ReadValue()
		value = raw
		return ok
	}) {
		return name, value
	}
	var members map[string]jsontext.Value
	if written.Unmarshal(v, &members) == nil && len(members) == 1 {
		for name, value := range members {
			return name, value
		}
	}
	return "", nil
}

// segmentsSince is when adk-python 1.19.0 was released, the first version of which it
// is known that its reader compares labels by segments (docs/stores/adk.md#what-an-agent-sees), and the first with
// SqliteSessionService. What is older in the tables of P1 or PS, `adk migrate` took over.
var segmentsSince = time.Date(2025, 11, 19, 0, 0, 0, 0, time.UTC)

// comparesSegments tells from the columns of the table, and from an event of it, whether
// a version wrote the event whose reader compares labels by segments; where nothing
// shows it, it is false.
func (g generation) comparesSegments(s table.Schema) func(row columns, written time.Time) bool {
	events := s.Columns(tableEvents)
	switch {
	case g.inMilliseconds():
		return func(columns, time.Time) bool { return g == k1 }
	case g.hasDocument(), g == p0 && slices.Contains(events, "input_transcription"): // a column of 1.19
		return func(_ columns, written time.Time) bool { return !written.Before(segmentsSince) }
	case g == p0:
		return func(columns, time.Time) bool { return false }
	}
	// What version 2 adds to a table of version 1 stands behind all the others.
	workflow := slices.Index(events, "node_info_json")
	made := workflow >= 0 && workflow < slices.Index(events, "content")
	return func(row columns, _ time.Time) bool { return made || newerActions(column.Bytes(row("actions"))) }
}

// newerActions reports whether no version of adk-go before 0.4 wrote the actions. The
// rows of v0.1, which compared texts, to v0.3 are alike; from v0.4 on they name the
// confirmations, and from v2.2 on the keys are in camel case.
func newerActions(data []byte) bool {
	return bytes.Contains(data, []byte(`"RequestedToolConfirmations"`)) || keyCase(data) == lowerCase
}

package delegation

import (
	"cmp"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// asker is a call with the part of the shared session that it started.
type asker struct {
	Spawn
	result  pairing.Occurrence // the last one; its item is -1 when there is none
	answer  session.Digest     // what came back, 0 when unknown
	part    *part
	guessed bool
	// stays: no result of the call names the session, because the call failed or its caller
	// ended. What it started stays there: nothing of the call could name another one.
	stays bool
}

// replies is where a session has calls and results, by the ids of the calls.
type replies struct {
	calls   map[string][]int
	results map[string][]pairing.Occurrence
}

// repliesOf is where a session has calls and results, made when it is first asked for.
func repliesOf(s *rules.Subject) *replies {
	return rules.ComputeOnce(&s.Known, func() *replies {
		found := &replies{map[string][]int{}, map[string][]pairing.Occurrence{}}
		for i := range s.Items {
			it := &s.Items[i]
			for n := range it.Calls {
				id := it.Calls[n].ID
				found.calls[id] = append(found.calls[id], i)
			}
			for n := range it.Results {
				id := it.Results[n].CallID
				found.results[id] = append(found.results[id], pairing.Occurrence{Item: i, Nth: n})
			}
		}
		return found
	})
}

// answerResults are the results of a call, to the next one that has its id: a call that
// waited for an approval has several.
func (s *Spawn) answerResults() []pairing.Occurrence {
	id, known := s.Call().ID, repliesOf(s.From)
	end := len(s.From.Items)
	if calls := known.calls[id]; calls[len(calls)-1] > s.Item {
		end = calls[slices.IndexFunc(calls, func(i int) bool { return i > s.Item })]
	}
	return slices.DeleteFunc(slices.Clone(known.results[id]), func(at pairing.Occurrence) bool { return at.Item <= s.Item || at.Item >= end })
}

// namingResults are those that name the child.
func (s *Spawn) namingResults(child *rules.Subject) []pairing.Occurrence {
	return slices.DeleteFunc(s.answerResults(), func(at pairing.Occurrence) bool { return s.From.ResultAt(at).Child != child.ID })
}

// match pairs the calls with the parts of the session that they share.
type match struct {
	child *session.Session
	calls []*asker
	// silent are calls of the same agent of which nothing says which session they started.
	// All of them stay.
	silent []*asker
	parts  []*part
}

// matchCalls pairs the calls that share a session with what they started there, as far as
// anybody can tell. why says what is in the way of telling it all, "" when nothing is.
func matchCalls(s *share) (m *match, why string) {
	parts, why := partsOf(s.child.Session)
	m = newMatch(s, parts)
	if why == "" {
		why = m.pairParts()
	}
	return m, why
}

func newMatch(s *share, parts []*part) *match {
	m := &match{child: s.child.Session, parts: parts}
	for _, sp := range s.spawns {
		c := newAsker(sp)
		c.stays = len(c.namingResults(s.child)) == 0
		m.calls = append(m.calls, c)
	}
	for _, sp := range s.silentCalls() {
		c := newAsker(sp)
		c.stays = true
		if slices.ContainsFunc(parts, func(a *part) bool { return m.sameRun(c, a) || m.sameRequest(c, a) }) {
			m.silent = append(m.silent, c)
		}
	}
	for _, calls := range [][]*asker{m.calls, m.silent} {
		slices.SortStableFunc(calls, func(a, b *asker) int { return a.madeAt().Compare(b.madeAt()) })
	}
	return m
}

func newAsker(sp Spawn) *asker {
	c := &asker{Spawn: sp, result: pairing.Occurrence{Item: -1}}
	if at := sp.answerResults(); len(at) > 0 {
		c.result = at[len(at)-1]
		r := sp.From.ResultAt(c.result)
		c.answer = cmp.Or(r.Answer, r.Digest)
	}
	return c
}

// silentCalls are the calls of the sessions with the sharing calls that ask the same agent and
// of which nothing says which session they started.
func (s *share) silentCalls() []Spawn {
	var list []Spawn
	seen := map[*rules.Subject]bool{}
	for _, sp := range s.spawns {
		if seen[sp.From] {
			continue
		}
		seen[sp.From] = true
		for _, d := range sp.From.Replay.Delegations {
			if to := d.Call().Delegation; d.Child == nil && to.Child == "" && to.Agent == sp.Call().Delegation.Agent {
				list = append(list, Spawn{d, sp.From, s.child})
			}
		}
	}
	return list
}

// madeAt is when the call was made.
func (c *asker) madeAt() time.Time { return c.From.Items[c.Item].Time }

// evidence is what ties a call to a part, from the strongest to the weakest.
var evidence = []func(m *match, c *asker, a *part) bool{
	(*match).sameRun,
	func(m *match, c *asker, a *part) bool { return m.sameRequest(c, a) && m.sameAnswer(c, a) },
	func(m *match, c *asker, a *part) bool { return m.sameRequest(c, a) && m.beganDuring(c, a) },
	(*match).sameRequest,
	func(m *match, c *asker, a *part) bool { return c.Call().Delegation.Task == 0 && m.sameAnswer(c, a) },
}

func (m *match) sameRun(c *asker, a *part) bool {
	id := c.Call().Delegation.Run
	return id != "" && a.run >= 0 && m.child.Runs[a.run].ID == id
}

func (m *match) sameRequest(c *asker, a *part) bool {
	return a.beganWith(m.child, c.Call().Delegation.Task)
}

func (m *match) sameAnswer(c *asker, a *part) bool { return a.endedWith(m.child, c.answer) }

// beganDuring reports whether the part began after the call and before its result.
func (m *match) beganDuring(c *asker, a *part) bool {
	began, called := m.child.Items[a.First()].Time, c.madeAt()
	if began.IsZero() || called.IsZero() || c.result.Item < 0 {
		return false
	}
	return !began.Before(called) && !began.After(c.From.Items[c.result.Item].Time)
}

// pairParts gives every call its part: the only one that a kind of evidence ties it to, if
// that ties no other call to it; then, of equal ones, the next in order, which is a
// guess. What is left is no pair unless it is one of each; a silent call may never have
// reached the agent.
func (m *match) pairParts() (why string) {
	all := slices.Concat(m.calls, m.silent)
	for _, tied := range evidence {
		for m.pairOnly(all, tied) {
		}
	}
	for _, tied := range evidence {
		for _, c := range all {
			if c.part != nil {
				continue
			}
			if a := m.candidateParts(c, tied); len(a) > 0 {
				c.takePart(a[0], true)
			}
		}
	}
	calls := slices.DeleteFunc(slices.Clone(m.calls), func(c *asker) bool { return c.part != nil })
	parts := slices.DeleteFunc(slices.Clone(m.parts), func(a *part) bool { return a.taken })
	switch {
	case len(calls) == 1 && len(parts) == 1:
		calls[0].takePart(parts[0], calls[0].Call().Delegation.Task != 0)
	case len(calls) > 0:
		return "it is not known what call " + calls[0].Call().ID + " started there"
	case len(parts) > 0:
		return "it holds messages that none of these calls started"
	}
	return ""
}

// pairOnly pairs what one kind of evidence leaves no choice for, and reports whether
// there was any.
func (m *match) pairOnly(all []*asker, tied func(*match, *asker, *part) bool) bool {
	found := false
	for _, c := range all {
		if c.part != nil {
			continue
		}
		a := m.candidateParts(c, tied)
		if len(a) != 1 {
			continue
		}
		if !slices.ContainsFunc(all, func(other *asker) bool {
			return other != c && other.part == nil && tied(m, other, a[0])
		}) {
			c.takePart(a[0], false)
			found = true
		}
	}
	return found
}

// candidateParts are the parts without a call that the evidence ties one to.
func (m *match) candidateParts(c *asker, tied func(*match, *asker, *part) bool) []*part {
	return slices.DeleteFunc(slices.Clone(m.parts), func(a *part) bool { return a.taken || !tied(m, c, a) })
}

func (c *asker) takePart(a *part, guessed bool) {
	c.part, c.guessed, a.taken = a, guessed, true
}

// countGuessed counts the calls whose part, or whose run, is only the likely one.
func (m *match) countGuessed() int {
	return lists.CountIf(slices.Concat(m.calls, m.silent), func(c *asker) bool { return c.part != nil && (c.guessed || c.part.guessed) })
}

// part is what one request left in a session: an invocation, the marks before it, and
// the record of the run, where the store keeps one.
type part struct {
	*rules.Invocation
	marks   []int // before it
	run     int   // index of the run, -1 when there is none
	guessed bool  // the run is only the likely one
	taken   bool  // by a call
}

// beganWith reports whether the part began with a request.
func (a *part) beganWith(s *session.Session, request session.Digest) bool {
	return request != 0 && (request == a.Asked || a.run >= 0 && request == s.Runs[a.run].Asked)
}

// endedWith reports whether the part ended with an answer.
func (a *part) endedWith(s *session.Session, answer session.Digest) bool {
	return answer != 0 && (answer == a.Answered || a.run >= 0 && answer == s.Runs[a.run].Answered)
}

// beganAt is when the request came: as the record of the run says, else as its first
// message does. It is zero when neither does.
func (a *part) beganAt(s *session.Session) time.Time {
	if a.run >= 0 && !s.Runs[a.run].Began.IsZero() {
		return s.Runs[a.run].Began
	}
	return s.Items[a.First()].Time
}

// partsOf parts a session by its invocations. why says what cannot be told apart.
func partsOf(s *session.Session) (parts []*part, why string) {
	runs := rules.ListInvocations(s)
	if why := notClosed(s, runs); why != "" {
		return nil, why
	}
	for _, v := range runs {
		parts = append(parts, &part{Invocation: v, run: -1})
	}
	if why := giveRuns(s, parts); why != "" {
		return nil, why
	}
	giveMarks(s, parts)
	return parts, ""
}

// notClosed says what ties the invocations together: messages that belong to none, or
// a call of one with its result in another.
func notClosed(s *session.Session, runs []*rules.Invocation) string {
	of := map[int]*rules.Invocation{}
	for _, v := range runs {
		if v.Asked == 0 {
			return "it has messages without a request before them"
		}
		for _, i := range v.Items {
			of[i] = v
		}
	}
	makers := rules.CallMakers(s, runs)
	for i := range s.Items {
		it := &s.Items[i]
		switch {
		case it.Kind == session.Summary:
			return "a summary in it covers what several calls started"
		case of[i] == nil && it.OnWire():
			return "its messages do not say which request they belong to"
		case of[i] == nil && it.Invocation() == "":
			return "one of its records does not say which request it belongs to"
		}
		for _, r := range it.Results {
			if made := makers[r.CallID]; len(made) > 0 && of[i] != nil && !slices.Contains(made, of[i]) {
				return "a result of call " + r.CallID + " is among the messages that another call started"
			}
		}
	}
	return ""
}

// giveRuns gives every run to the part that it is the record of: the one that it names
// itself, else the one with its request; of equal requests in their order.
func giveRuns(s *session.Session, parts []*part) string {
	var nameless []int
	for n, r := range s.Runs {
		at := slices.IndexFunc(parts, func(a *part) bool { return a.ID == r.Invocation })
		switch {
		case at < 0:
			nameless = append(nameless, n)
		case parts[at].run >= 0:
			return "several of its runs have the same invocation id"
		default:
			parts[at].run = n
		}
	}
	for _, n := range nameless {
		fits := fittingParts(&s.Runs[n], parts)
		free := slices.IndexFunc(fits, func(a *part) bool { return a.run < 0 })
		if free < 0 {
			return "its run " + rules.ShortID(s.Runs[n].ID) + " has no messages"
		}
		fits[free].run, fits[free].guessed = n, len(fits) > 1
	}
	return ""
}

// fittingParts are the parts that a run can be the record of as far as its request tells,
// and its answer, where that chooses among them. Those that another run has for no
// better reason are among them.
func fittingParts(r *session.Run, parts []*part) []*part {
	var asked, answered []*part
	for _, a := range parts {
		if r.Asked == 0 || a.Asked != r.Asked || a.run >= 0 && !a.guessed {
			continue
		}
		asked = append(asked, a)
		if r.Answered != 0 && a.Answered == r.Answered {
			answered = append(answered, a)
		}
	}
	if slices.ContainsFunc(answered, func(a *part) bool { return a.run < 0 }) {
		return answered
	}
	return asked
}

// giveMarks gives the records that a runtime puts before a request to that request:
// they have an invocation that no message has. Where several wait for their requests
// at one time nobody can tell whose they are, and they stay.
func giveMarks(s *session.Session, parts []*part) {
	begins := map[int]*part{}
	spoken := map[string]bool{}
	for _, a := range parts {
		begins[a.First()] = a
		for _, i := range a.Items {
			spoken[s.Items[i].Invocation()] = true
		}
	}
	mark := func(i int) bool {
		it := &s.Items[i]
		return it.Kind == session.Other && it.Invocation() != "" && !spoken[it.Invocation()]
	}
	var waiting []int // the marks of which some have no request yet
	open := 0         // and how many these are
	for i := range s.Items {
		if mark(i) {
			waiting, open = append(waiting, i), open+1
			continue
		}
		a := begins[i]
		if a == nil || open == 0 {
			continue
		}
		if len(waiting) == 1 {
			a.marks = waiting
		}
		if open--; open == 0 {
			waiting = nil
		}
	}
}

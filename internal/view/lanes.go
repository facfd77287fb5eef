package view

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Lanes are what happened in a session and in those below it, one step after the other,
// each in the lane of its agent.
type Lanes struct {
	List  []Lane // in the order in which they take part
	Steps []Step
}

// Lane is an agent, or the user, from the first to the last step that it has part in.
type Lane struct {
	Name        string
	First, Last int // indexes of steps
}

// Step is what somebody said, a call, or a result. To is the lane that it leads to: of the
// agent that is asked, or of the caller that gets its answer, and of a leaked item that of
// the agent that it belongs to. It is Lane where it leads nowhere.
type Step struct {
	Session  *Session
	Row      *Row
	Call     *Call   // nil where the step is none
	Result   *Result // nil where the step is none
	Lane, To int
	Leaked   bool // the item stands in a session that is not its own: that of Lane
	More     int  // calls of the same tool behind it that are not steps of their own
}

// laneMaker finds the lanes. Two sessions of one agent share a lane, unless one calls the other
// or one message called both.
type laneMaker struct {
	*builder
	names  []string
	lanes  map[string]int           // by name
	of     map[*session.Session]int // the lanes of sessions
	beside map[batch]bool
}

// batch are the sessions of one agent that one message called.
type batch struct {
	caller *session.Session
	item   int
	agent  string
}

func (b *builder) buildLanes(shown *Session) *Lanes {
	l := &laneMaker{builder: b, lanes: map[string]int{}, of: map[*session.Session]int{}, beside: map[batch]bool{}}
	out := &Lanes{Steps: sameOnce(l.sessionSteps(shown))}
	place := map[int]int{} // of a lane that is taken part in, in the list
	for i := range out.Steps {
		s := &out.Steps[i]
		for _, n := range []*int{&s.Lane, &s.To} {
			at, known := place[*n]
			if !known {
				at = len(out.List)
				place[*n] = at
				out.List = append(out.List, Lane{Name: l.names[*n], First: i})
			}
			*n, out.List[at].Last = at, i
		}
	}
	return out
}

func (l *laneMaker) laneNamed(name string) int {
	lane, known := l.lanes[name]
	if !known {
		lane = len(l.names)
		l.names, l.lanes[name] = append(l.names, name), lane
	}
	return lane
}

// sessionLane is the lane of a session: of the agent that it was started with.
func (l *laneMaker) sessionLane(s *session.Session) int {
	if lane, known := l.of[s]; known {
		return lane
	}
	name, caller := replay.FirstAgent(s), l.trace.Callers[s]
	switch {
	case caller != nil:
		name = cmp.Or(name, caller.Call().Delegation.Agent, "sub-agent")
		one := batch{caller.Session, caller.Item, name}
		if at, known := l.of[caller.Session]; known && l.names[at] == name || l.beside[one] {
			name += " " + rules.ShortID(s.ID)
		}
		l.beside[one] = true
	case s.Parent != "":
		name = cmp.Or(name, "sub-agent")
	}
	lane := l.laneNamed(cmp.Or(name, session.Assistant.String()))
	l.of[s] = lane
	return lane
}

// sessionSteps makes the steps of a session and of those below it.
func (l *laneMaker) sessionSteps(s *Session) []Step {
	var list []Step
	of := asked{map[pairing.Occurrence]*replay.Delegation{}, map[string]Step{}}
	for _, d := range l.subjects[s.Session].Replay.Delegations {
		of.delegations[pairing.Occurrence{Item: d.Item, Nth: d.Nth}] = d
	}
	for i := 0; i < len(s.Rows); i++ {
		if s.Rows[i].Child == nil {
			list = append(list, l.rowSteps(s, &s.Rows[i], of)...)
			continue
		}
		var beside [][]Step
		for ; i < len(s.Rows) && s.Rows[i].Child != nil; i++ {
			beside = append(beside, l.sessionSteps(s.Rows[i].Child))
		}
		list = append(list, byTime(beside)...)
		i--
	}
	return list
}

// asked are the delegations of a session, and the steps of those that were passed, by call.
type asked struct {
	delegations map[pairing.Occurrence]*replay.Delegation
	steps       map[string]Step
}

// rowSteps makes the steps of an item: of what it says, and of its calls and results.
func (l *laneMaker) rowSteps(s *Session, r *Row, of asked) []Step {
	at := l.speakerLane(s, r)
	one := Step{Session: s, Row: r, Lane: at, To: at}
	if step := l.subjects[s.Session].Replay.Steps[r.Item]; step.Action == replay.Skip {
		one.Lane, one.Leaked = l.sessionLane(s.Session), true
		one.To = one.Lane
		name := r.Stored.Agent()
		if step.Frame != nil { // a store that tells whose an item is need not say so behind the call
			name = cmp.Or(step.Frame.Agent, name)
		}
		for home := range l.subjects {
			if name == "" && home.ID == r.Stored.Home() {
				one.To = l.sessionLane(home)
			}
		}
		if name != "" {
			one.To = l.laneNamed(name)
		}
		return []Step{one}
	}
	var list []Step
	if r.Text != "" || r.Label != "" || len(r.Calls) == 0 && len(r.Results) == 0 {
		list = append(list, one)
	}
	for n := range r.Calls {
		step := one
		step.Call = &r.Calls[n]
		if step.Call.Target != "" {
			step.To = l.laneNamed(step.Call.Target)
		}
		if d := of.delegations[pairing.Occurrence{Item: r.Item, Nth: n}]; d != nil {
			if d.Child != nil {
				step.To = l.sessionLane(d.Child)
			}
			of.steps[step.Call.ID] = step
		}
		list = append(list, step)
	}
	for n := range r.Results {
		step := one
		step.Result = &r.Results[n]
		call, delegated := of.steps[step.Result.Call]
		if delegated {
			step.Lane, step.To = call.To, call.Lane
		}
		if delegated || !r.Folded {
			list = append(list, step)
		}
	}
	return list
}

// speakerLane is the lane of an item: its agent's, or the user's who speaks in no sub-session.
func (l *laneMaker) speakerLane(s *Session, r *Row) int {
	it := r.Stored
	switch own := replay.FirstAgent(s.Session); {
	case it.Kind != session.Message:
	case (it.Role == session.User || it.Role == session.System) && it.Agent() == "":
		if s.Parent == "" {
			return l.laneNamed(session.User.String())
		}
	case it.Agent() != "" && it.Agent() != own:
		return l.laneNamed(it.Agent())
	}
	return l.sessionLane(s.Session)
}

// byTime puts the steps of sessions that ran beside one another in the order of their times,
// if all have one.
func byTime(beside [][]Step) []Step {
	all := slices.Concat(beside...)
	for _, steps := range beside {
		for i, s := range steps {
			if s.Row.Stored.Time.IsZero() || i > 0 && s.Row.Stored.Time.Before(steps[i-1].Row.Stored.Time) {
				return all
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Step) int { return a.Row.Stored.Time.Compare(b.Row.Stored.Time) })
	return all
}

// sameOnce counts calls of one tool that follow one another, and of which nothing else is
// to be said, with the first one.
func sameOnce(steps []Step) []Step {
	plain := func(s *Step) bool {
		return s.Call != nil && s.Lane == s.To && s.Row.Mark() == "" && s.Call.Answer.State == OK
	}
	var list []Step
	for _, s := range steps {
		if n := len(list) - 1; n >= 0 && plain(&s) && plain(&list[n]) && list[n].Session == s.Session && list[n].Lane == s.Lane && list[n].Call.Name == s.Call.Name {
			list[n].More++
			continue
		}
		list = append(list, s)
	}
	return list
}

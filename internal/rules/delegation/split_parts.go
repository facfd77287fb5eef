package delegation

import (
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// part is what one request left in a session: an invocation, the marks before it, and
// the record of the run, where the store keeps one.
type part struct {
	*rules.Invocation
	marks   []int // before it
	run     int   // index of the run, -1 when there is none
	guessed bool  // the run is only the likely one
	taken   bool  // by a call
}

// asks reports whether the part began with a request.
func (a *part) asks(s *session.Session, request session.Digest) bool {
	return request != 0 && (request == a.Asked || a.run >= 0 && request == s.Runs[a.run].Asked)
}

// answers reports whether the part ended with an answer.
func (a *part) answers(s *session.Session, answer session.Digest) bool {
	return answer != 0 && (answer == a.Answered || a.run >= 0 && answer == s.Runs[a.run].Answered)
}

// began is when the request came: as the record of the run says, else as its first
// message does. It is zero when neither does.
func (a *part) began(s *session.Session) time.Time {
	if a.run >= 0 && !s.Runs[a.run].Began.IsZero() {
		return s.Runs[a.run].Began
	}
	return s.Items[a.First()].Time
}

// partsOf parts a session by its invocations. why says what cannot be told apart.
func partsOf(s *session.Session) (parts []*part, why string) {
	runs := rules.Invocations(s)
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
		case of[i] == nil && it.Invocation == "":
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
		fits := fitting(&s.Runs[n], parts)
		free := slices.IndexFunc(fits, func(a *part) bool { return a.run < 0 })
		if free < 0 {
			return "its run " + rules.Short(s.Runs[n].ID) + " has no messages"
		}
		fits[free].run, fits[free].guessed = n, len(fits) > 1
	}
	return ""
}

// fitting are the parts that a run can be the record of as far as its request tells,
// and its answer, where that chooses among them. Those that another run has for no
// better reason are among them.
func fitting(r *session.Run, parts []*part) []*part {
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
			spoken[s.Items[i].Invocation] = true
		}
	}
	mark := func(i int) bool {
		it := &s.Items[i]
		return it.Kind == session.Other && it.Invocation != "" && !spoken[it.Invocation]
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

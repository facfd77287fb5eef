package view

import (
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Request is what the next run of a session sends to its model: every stored
// item from session.Start on, leaked ones included, since runtimes do not know
// better. Messages have the numbers of rules.(*Subject).MessageNumbers.
type Request struct {
	Covered int      // items at the beginning that are not sent because a summary stands for them
	Parts   []Part   // in the order in which they are sent
	Live    bool     // another process has the store open
	Closed  bool     // a finished sub-session: the runtime never sends this session to a model again
	Masking *Masking // what docker agent does instead; nil for other runtimes, and when it has nothing to do
}

// Part is a stored item, or something that the runtime adds.
type Part struct {
	Message  int    // number in the request, -1 without one
	Role     string // on the wire: system, user or assistant; "" when it is not sent
	Row      Row    // Item is -1 for what the runtime adds
	Unsent   bool
	Why      string // why it is not sent, where its kind does not say so
	Rejected []Rejection
}

// Kind says what a part is: the kind of its item, or what the runtime adds.
func (p *Part) Kind() string {
	switch {
	case p.Row.Stored != nil:
		return p.Row.Stored.Kind.String()
	case p.Message < 0:
		return "instructions"
	case p.Row.Text != "":
		return "summary"
	}
	return "input"
}

// Error is what the provider would answer: at the first place that it refuses,
// "" when there is none.
func (r *Request) Error() string {
	for i := range r.Parts {
		if rejected := r.Parts[i].Rejected; len(rejected) > 0 {
			return rejected[0].Error
		}
	}
	return ""
}

// request builds the request of one session.
func (b *builder) request(s *rules.Subject) *Request {
	r := &Request{Closed: s.Closed, Live: b.in.Store.Writer == session.WriterLive}
	numbers := s.MessageNumbers()
	r.Parts = append(r.Parts, Part{Message: -1, Role: "system", Row: Row{Item: -1, Label: "the agent's own instructions (not stored)"}})
	if last := s.LastSummary(); last >= 0 {
		r.Covered = coveredTo(s.Session, last)
		r.Parts = append(r.Parts, Part{Role: "user", Row: Row{Item: -1, Text: "Session Summary: " + textOf(&s.Items[last])}})
	}
	answers := answersOf(s)
	for i := s.Start; i < len(s.Items); i++ {
		p := Part{Message: numbers[i], Row: b.bare(s, answers, i)}
		if p.Unsent, p.Why = b.unsent(&s.Items[i]); !p.Unsent {
			p.Role = wireRole(s.Items[i].Role)
		}
		r.Parts = append(r.Parts, p)
	}
	r.Parts = append(r.Parts, Part{Message: numbers[len(s.Items)], Role: "user", Row: Row{Item: -1, Label: "(your next message)"}})
	w := checkWire(s, numbers)
	b.reject(s, r, w)
	if b.in.Store.ChildrenClosed {
		r.Masking = maskingOf(s, w)
	}
	return r
}

// bare is a row without what became of its calls: in a request only what is
// sent counts.
func (b *builder) bare(s *rules.Subject, answers *answers, i int) Row {
	row := b.row(s, answers, i)
	for n := range row.Calls {
		row.Calls[n].Answer = Answer{Item: -1}
	}
	row.Folded = false
	if row.Stored.Kind == session.SubSession {
		row.Label = strings.TrimSpace("sub-session " + rules.Short(row.Stored.Child))
	}
	return row
}

// wireRole is the role that Anthropic-type providers see: results are the
// user's.
func wireRole(r session.Role) string {
	if r == session.Tool {
		return session.User.String()
	}
	return r.String()
}

// unsent reports whether an item is not part of the request, and why.
func (b *builder) unsent(it *session.Item) (unsent bool, why string) {
	switch {
	case it.Kind != session.Message:
		return true, ""
	case it.Flags.Has(session.Archived):
		return true, ""
	case it.Flags.Has(session.Skipped):
		return true, "the reader passes over it"
	case !it.Flags.Has(session.Blank):
		return false, ""
	case b.in.Store.ChildrenClosed:
		return true, "docker agent drops blank messages since v1.52; before that, providers refuse them"
	}
	return true, "runtimes drop blank messages, or providers refuse them"
}

func textOf(it *session.Item) string {
	if it.Body == nil {
		return ""
	}
	return it.Body.Text
}

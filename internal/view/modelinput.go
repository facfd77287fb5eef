package view

import (
	"cmp"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// Request is what the next run of a session sends to its model: every stored
// item from session.Start on, leaked ones included, since runtimes do not know
// better. Messages have the numbers of rules.(*Subject).MessageNumbers.
type Request struct {
	Profile *rules.Profile // who gets it
	Why     string         // why this one, "" when it was asked for
	Voice   string         // who sends it, where several agents share the session; "" otherwise
	Retold  bool           // what other agents said comes as texts of the user
	AsIs    bool           // the stored messages alone, without a next one of the user

	Covered int      // items at the beginning that are not sent because a summary stands for them
	Parts   []Part   // in the order in which they are sent
	Live    bool     // another process has the store open
	Closed  bool     // a finished sub-session: the runtime never sends this session to a model again
	Masking *Masking // what the runtime's sanitiser does instead; nil without one, and when it has nothing to do

	Runtime  string // its name, for people
	Adjusted int    // defects that an adapter has to send otherwise than they are stored
	Eased    int    // defects that the runtime sends otherwise by itself

	Answer check.Answer // what becomes of it

	sentBy *session.Runtime
}

// Part is a stored item, or something that the runtime adds. What is to be said
// of the request as a whole stands at the first part.
type Part struct {
	Message  int    // number in the request of the first message that it is, -1 without one
	Last     int    // number of the last one
	Role     string // on the wire; "" when it is not sent
	Row      Row    // Item is -1 for what the runtime adds
	Unsent   bool
	Why      string // why it is not sent, where its kind does not say so
	Rejected []Rejection
	Adjusted []Adjustment
	Renamed  []Renaming
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

// Refusal is the first place that the provider refuses, nil when there is none.
func (r *Request) Refusal() *Rejection {
	for i := range r.Parts {
		if rejected := r.Parts[i].Rejected; len(rejected) > 0 {
			return &rejected[0]
		}
	}
	return nil
}

// request builds the request of one session, for the first profile that judges it.
func (b *builder) request(s *rules.Subject) *Request {
	r := &Request{
		Profile: s.Profiles[0], Why: s.Hint, Voice: s.Speaks(), Retold: b.in.Store.ForeignText, AsIs: b.in.Judge.AsIs,
		Closed: s.Closed, Live: b.in.Store.Writer == session.WriterLive, Runtime: b.in.Store.Title,
		sentBy: &b.in.Store.Runtime,
	}
	roles, numbers := &wireRoles[r.Profile.Shape], s.MessageNumbers(r.Profile)
	r.Parts = append(r.Parts, Part{Message: -1, Role: roles.system, Row: Row{Item: -1, Label: "the agent's instructions (not stored)"}})
	if last := s.LastSummary(); last >= 0 {
		r.Covered = coveredTo(s.Session, last)
		r.Parts = append(r.Parts, Part{Role: roles.user, Row: Row{Item: -1, Text: cmp.Or(b.in.Store.Retells.Summary, "Session Summary: ") + textOf(&s.Items[last])}})
	}
	answers := answersOf(s)
	for i := s.Start; i < len(s.Items); i++ {
		p := Part{Message: numbers[i], Row: b.bare(s, answers, i)}
		if p.Unsent, p.Why = b.unsent(&s.Items[i]); !p.Unsent {
			p.Role = roles.of(&s.Items[i])
		}
		r.Parts = append(r.Parts, p)
	}
	r.Parts = append(r.Parts, Part{Message: numbers[len(s.Items)], Role: roles.user, Row: Row{Item: -1, Label: "(your next message)"}})
	r.measure()
	if r.AsIs {
		r.Parts = r.Parts[:len(r.Parts)-1]
	}
	b.judge(s, r)
	r.Answer = check.Answers(b.pass, b.in.Tree.Session(b.in.Session), b.found())[0]
	for i := range r.Parts {
		if row := &r.Parts[i].Row; row.Stored != nil {
			row.Item = s.Place(row.Item)
		}
	}
	return r
}

// found are the findings of the tree.
func (b *builder) found() []*check.Finding {
	if b.in.Findings != nil {
		return b.in.Findings
	}
	return check.Tree(b.in.Store, b.in.Tree, catalogue.Usual(), b.in.Judge)
}

// judge says what the provider refuses, and what has to be sent otherwise.
func (b *builder) judge(s *rules.Subject, r *Request) {
	found := heard(s, b.asked(s))
	b.object(s, r, found, reject(s, r, found))
	r.rename()
	r.Masking = maskingOf(s, b.in.Store.Sanitiser)
}

// heard are the findings with the places that their items have for a voice.
func heard(s *rules.Subject, found []*check.Finding) []*check.Finding {
	list := make([]*check.Finding, len(found))
	for i, f := range found {
		told := *f
		if list[i] = &told; f.Session == s.ID {
			told.Item = s.Heard(f.Item)
			told.Items = nil
			for _, item := range f.Items {
				if n := s.Heard(item); n >= 0 {
					told.Items = append(told.Items, n)
				}
			}
		}
	}
	return list
}

// measure finds the last message of every part: the next number stands at the
// next part that has one.
func (r *Request) measure() {
	next := 0
	for i := len(r.Parts) - 1; i >= 0; i-- {
		p := &r.Parts[i]
		p.Last = max(p.Message, next-1)
		if p.Message >= 0 {
			next = p.Message
		} else {
			p.Last = -1
		}
	}
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

// unsent reports whether an item is not part of the request, and why.
func (b *builder) unsent(it *session.Item) (unsent bool, why string) {
	switch {
	case it.Kind != session.Message:
		return true, ""
	case it.Flags.Has(session.Skipped):
		return true, "the reader passes over it"
	case !it.OnWire():
		return true, "" // its flags say why
	case !it.Flags.Has(session.Blank):
		return false, ""
	}
	return true, cmp.Or(b.in.Store.BlankMessages, "runtimes drop blank messages, or providers refuse them")
}

func textOf(it *session.Item) string {
	if it.Body == nil {
		return ""
	}
	return it.Body.Text
}

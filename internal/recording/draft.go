package recording

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// draft is an answer that is streaming.
type draft struct {
	line            int64 // where it began
	agent           string
	text, reasoning strings.Builder
	calls           []draftCall
	at              map[string]int // where in calls one is, by its id
}

// draftCall is a call whose arguments are coming in.
type draftCall struct {
	id, name string
	args     *strings.Builder
}

func (d *draft) empty() bool { return d.line == 0 }

// hear adds a piece.
func (d *draft) hear(e *Event) {
	if d.line == 0 {
		d.line = e.Line
	}
	if e.Agent != "" {
		d.agent = e.Agent
	}
	switch e.Kind {
	case Choice:
		d.text.WriteString(e.Text)
	case Reasoning:
		d.reasoning.WriteString(e.Text)
	case PartialCall:
		d.call(&e.Call)
	}
}

// call adds a piece of a call. Until v1.33 of docker agent each event holds all
// arguments so far, from v1.34.0 on what is new (#2163).
func (d *draft) call(c *session.Call) {
	n, known := d.at[c.ID]
	if !known {
		if d.at == nil {
			d.at = map[string]int{}
		}
		n = len(d.calls)
		d.at[c.ID] = n
		d.calls = append(d.calls, draftCall{id: c.ID, args: &strings.Builder{}})
	}
	call := &d.calls[n]
	if c.Name != "" {
		call.name = c.Name
	}
	if len(c.Args) > call.args.Len() && strings.HasPrefix(c.Args, call.args.String()) {
		call.args.Reset()
	}
	call.args.WriteString(c.Args)
}

// makes reports whether the answer makes a call.
func (d *draft) makes(id string) bool {
	_, known := d.at[id]
	return known
}

// message is the answer so far.
func (d *draft) message() session.Item {
	text := d.text.String()
	it := session.Item{
		Role: session.Assistant, Agent: d.agent, Text: session.DigestOf(text),
		Body: &session.Body{Text: text, Reasoning: d.reasoning.String()},
	}
	for _, c := range d.calls {
		it.Calls = append(it.Calls, session.Call{ID: c.id, Name: c.name, Args: c.args.String()})
		settle(&it.Calls[len(it.Calls)-1])
	}
	if blank(text) && len(it.Calls) == 0 {
		it.Flags |= session.Blank
	}
	return it
}

// settle tells what the arguments of a call mean.
func settle(c *session.Call) {
	c.Delegation, c.Form = session.DelegationFor(c.Name, c.Args), session.FormOf(c.Args)
}

// started notes a call that runs. A hook may have changed its arguments, which the
// stored message does not know of: they count only where the pieces are no JSON,
// or where no piece was recorded.
func (n *node) started(c *session.Call) {
	for i := len(n.session.Items) - 1; i >= 0; i-- {
		it := &n.session.Items[i]
		if it.Role != session.Assistant {
			continue
		}
		at := slices.IndexFunc(it.Calls, func(known session.Call) bool { return known.ID == c.ID })
		switch {
		case at < 0 && !it.Flags.Has(session.Blank):
			return
		case at < 0:
			it.Calls, it.Flags = append(it.Calls, session.Call{ID: c.ID, Name: c.Name, Args: c.Args}), it.Flags&^session.Blank
			at = len(it.Calls) - 1
		case it.Calls[at].Form == session.ArgsBroken:
			it.Calls[at].Args = c.Args
		}
		settle(&it.Calls[at])
		return
	}
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
)

var isolationBreach = Rule{
	ID: "SC708", Name: "isolation-breach", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "a sub-session begins with a copy of its parent's conversation",
	Run: func(p *Pass) {
		for _, s := range p.Subjects {
			for _, child := range s.Children {
				if copied := copiedFrom(s.Session, child); !child.Forked && len(copied) >= leastCopied {
					reportBreach(p, s.Session, child, copied)
				}
			}
		}
	},
}

// leastCopied is how many messages make a copy: one alone, the user's question
// passed on as it is, is how some callers delegate.
const leastCopied = 2

// copiedFrom are the messages that parent and child both begin with, by their
// index. What every child may begin with alike is left out: what a system says,
// and messages that the runtime writes for the user.
func copiedFrom(parent, child *session.Session) []int {
	var copied []int
	for i := range min(len(parent.Items), len(child.Items)) {
		a, b := &parent.Items[i], &child.Items[i]
		if a.Meaning == 0 || a.Meaning != b.Meaning {
			break
		}
		if b.OnWire() && b.Role != session.System && !b.Flags.Has(session.Implicit) {
			copied = append(copied, i)
		}
	}
	return copied
}

func reportBreach(p *Pass, parent, child *session.Session, copied []int) {
	f := p.find(child, copied[0])
	f.Items = copied
	for _, i := range copied {
		f.Related = append(f.Related, Place{Session: parent.ID, Item: i})
	}
	f.Message = fmt.Sprintf("the sub-session begins with %s of its parent, %s, and nothing says that it is a copy on purpose",
		count(len(copied), "message"), Short(parent.ID))
	p.Report(f)
}

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
				if pairs := copiedFrom(s.Session, child); !child.Forked && len(pairs) >= leastCopied {
					reportBreach(p, s.Session, child, pairs)
				}
			}
		}
	},
}

// leastCopied is how many messages make a copy: one alone, the user's question
// passed on as it is, is how some callers delegate.
const leastCopied = 2

// copiedPair is a message by its index in the parent and in the child.
type copiedPair struct{ parent, child int }

// copiedFrom are the messages that the conversations of parent and child both
// begin with.
func copiedFrom(parent, child *session.Session) []copiedPair {
	var pairs []copiedPair
	var at copiedPair
	for {
		at.parent, at.child = nextSaid(parent, at.parent), nextSaid(child, at.child)
		if at.parent == len(parent.Items) || at.child == len(child.Items) {
			return pairs
		}
		if meaning := parent.Items[at.parent].Meaning; meaning == 0 || meaning != child.Items[at.child].Meaning {
			return pairs
		}
		pairs = append(pairs, at)
		at.parent++
		at.child++
	}
}

// nextSaid is the index of the first item from an index on that is said in a
// conversation. What every child may begin with alike is not: what a system says,
// and messages that the runtime writes for the user.
func nextSaid(s *session.Session, from int) int {
	for ; from < len(s.Items); from++ {
		if it := &s.Items[from]; it.OnWire() && it.Role != session.System && !it.Flags.Has(session.Implicit) {
			break
		}
	}
	return from
}

func reportBreach(p *Pass, parent, child *session.Session, pairs []copiedPair) {
	f := p.find(child, pairs[0].child)
	for _, pair := range pairs {
		f.Items = append(f.Items, pair.child)
		f.Related = append(f.Related, parent.At(pair.parent))
	}
	f.Message = fmt.Sprintf("the sub-session begins with %s of its parent, %s, and nothing says that it is a copy on purpose",
		count(len(pairs), "message"), Short(parent.ID))
	p.Report(f)
}

package delegation

import (
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var isolationBreach = rules.Rule{
	ID: "SC708", Name: "isolation-breach", Severity: rules.Warning, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a sub-session begins with a copy of its parent's conversation",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		for _, child := range s.Children {
			if told := toldCopies(s.Session, child); len(told) > 0 {
				reportCopies(p, s.Session, child, told)
			} else if pairs := CopiedFrom(s.Session, child); !child.Forked && len(pairs) >= LeastCopied {
				reportBreach(p, s.Session, child, pairs)
			}
		}
	}),
}

// LeastCopied is how many messages make a copy: one alone, the user's question
// passed on as it is, is how some callers delegate.
const LeastCopied = 2

// CopiedPair is a message by its index in the parent and in the child.
type CopiedPair struct{ Parent, Child int }

// CopiedFrom are the messages that the conversations of parent and child both
// begin with.
func CopiedFrom(parent, child *session.Session) []CopiedPair {
	var pairs []CopiedPair
	var at CopiedPair
	for {
		at.Parent, at.Child = nextSaid(parent, at.Parent), nextSaid(child, at.Child)
		if at.Parent == len(parent.Items) || at.Child == len(child.Items) {
			return pairs
		}
		if meaning := parent.Items[at.Parent].Meaning; meaning == 0 || meaning != child.Items[at.Child].Meaning {
			return pairs
		}
		pairs = append(pairs, at)
		at.Parent++
		at.Child++
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

func reportBreach(p *rules.Pass, parent, child *session.Session, pairs []CopiedPair) {
	f := p.FindItems(child, lists.MapEach(pairs, func(pair CopiedPair) int { return pair.Child }))
	f.Related = lists.MapEach(pairs, func(pair CopiedPair) session.Place { return parent.ItemPlace(pair.Parent) })
	f.Message = "the sub-session begins with a copy of " + rules.CountedNoun(len(pairs), "message") + " of its parent " + rules.ShortID(parent.ID)
	f.AddSentence("Nothing says that this copy is intended")
	p.Report(f)
}

// toldCopies are the items of a child of which the store tells that they are copies of its
// parent's.
func toldCopies(parent, child *session.Session) (items []int) {
	for i := range child.Items {
		if it := &child.Items[i]; it.Copied && it.Home() == parent.ID {
			items = append(items, i)
		}
	}
	return items
}

// reportCopies reports copies whose originals prove that nothing is lost without them.
func reportCopies(p *rules.Pass, parent, child *session.Session, items []int) {
	f := p.FindItems(child, items)
	count := rules.CountedNoun(len(items), "message")
	f.Message = count + " of the parent " + rules.ShortID(parent.ID) + rules.VerbForm(len(items), " is", " are") + " stored here again, with the call that started this sub-session"
	f.SetFix(rules.Kept, "remove the copies here, which the receipt keeps; the parent has them", rules.QuarantineItems(child, items)...)
	p.Report(f)
}

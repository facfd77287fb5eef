package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

var goalOnlyPrompt = Rule{
	ID: "SC801", Name: "goal-only-prompt", Severity: Warning, Safety: None, Scope: PerTree, Bodies: true, Since: "0.1.0",
	Title: "a sub-session begins with more than its goal",
	Run: func(p *Pass) {
		list := p.isolated()
		passed := p.passedOn(list)
		for _, s := range list {
			copied := p.inherited(s)
			if s.child.hasSteps(copied) {
				continue // SC804
			}
			p.reportPrompt(&s, copied, passed)
		}
	},
}

// hasSteps reports whether one of the copied messages makes a call or answers one.
func (s *Subject) hasSteps(copied []copiedPair) bool {
	for _, pair := range copied {
		if it := &s.Items[pair.child]; len(it.Calls)+len(it.Results) > 0 {
			return true
		}
	}
	return false
}

// reportPrompt reports what a child got besides its goal: messages that are the
// parent's, several prompts, or a passage of the parent's history.
func (p *Pass) reportPrompt(s *spawn, copied []copiedPair, passed map[*Subject]copiedPair) {
	var why []string
	var items []int
	var related []session.Place
	if len(copied) > 0 {
		why = append(why, "has "+count(len(copied), "message")+" that agents said in "+Short(s.parent.ID)+" before the delegation")
		for _, pair := range copied {
			items, related = append(items, pair.child), append(related, s.parent.At(pair.parent))
		}
	}
	if asked := s.asked(copied); len(asked) > 1 {
		why = append(why, fmt.Sprintf("begins with %d different messages for it, where one goal is enough", len(asked)))
		items = union(items, asked)
	}
	if pair, known := passed[s.child]; known {
		why = append(why, fmt.Sprintf("begins with a message that has a passage of at least %d characters of what was said in %s before the delegation, and that is no part of the goal",
			p.isolation().Passage, Short(s.parent.ID)))
		items, related = union(items, []int{pair.child}), append(related, s.parent.At(pair.parent))
	}
	if len(why) == 0 {
		return
	}
	f := p.find(s.child.Session, items[0])
	f.Items, f.Related, f.Call = items, append(related, s.parent.At(s.Item)), s.Call().ID
	f.Message = "the sub-session of call " + callName(s.Call()) + " " + strings.Join(why, ", and ")
	p.Report(f)
}

// asked are the prompts among the messages that the child begins with, those that are
// said twice once. What the user had told the parent, too (a runtime gives the rules of
// a project to every agent), and an image beside the goal are no second goal.
func (s *spawn) asked(copied []copiedPair) []int {
	var list []int
	told := map[session.Digest]bool{}
	for _, i := range s.lead(copied) {
		if it := &s.child.Items[i]; isPrompt(it) && it.Text != 0 && !told[it.Meaning] {
			list, told[it.Meaning] = append(list, i), true
		}
	}
	if len(list) < 2 || len(copied) > 0 { // with what agents said there, it is a copied history
		return list
	}
	return slices.DeleteFunc(list, func(i int) bool {
		before, known := s.parent.pastOf().asked[s.child.Items[i].Meaning]
		return known && before < s.Item
	})
}

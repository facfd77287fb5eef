package isolation

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var goalOnlyPrompt = rules.Rule{
	ID: "SC801", Name: "goal-only-prompt", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Bodies: true, Since: "0.1.0",
	Title: "a sub-session begins with more than its goal",
	Run: func(p *rules.Pass) {
		list := isolatedSpawns(p)
		passed := passedOn(p, list)
		for _, s := range list {
			if copied := inheritedPairs(s); !hasSteps(s.To, copied) { // else SC804
				reportPrompt(p, &s, copied, passed)
			}
		}
	},
}

// hasSteps reports whether one of the copied messages makes a call or answers one.
func hasSteps(s *rules.Subject, copied []delegation.CopiedPair) bool {
	return slices.ContainsFunc(copied, func(pair delegation.CopiedPair) bool {
		return len(s.Items[pair.Child].Calls)+len(s.Items[pair.Child].Results) > 0
	})
}

// placesOfPairs are the copied items of the child, and where the parent has the originals.
func placesOfPairs(s *delegation.Spawn, copied []delegation.CopiedPair) (items []int, originals []session.Place) {
	for _, pair := range copied {
		items, originals = append(items, pair.Child), append(originals, s.From.ItemPlace(pair.Parent))
	}
	return items, originals
}

// reportPrompt reports what a child got besides its goal: messages that are the
// parent's, several prompts, or a passage of the parent's history.
func reportPrompt(p *rules.Pass, s *delegation.Spawn, copied []delegation.CopiedPair, passed map[*rules.Subject]delegation.CopiedPair) {
	var why []string
	items, related := placesOfPairs(s, copied)
	if len(copied) > 0 {
		why = append(why, "has "+rules.CountedNoun(len(copied), "message")+" that agents wrote in "+rules.ShortID(s.From.ID)+" before the delegation")
	}
	if asked := askedPrompts(s, copied); len(asked) > 1 {
		why = append(why, fmt.Sprintf("begins with %d different prompts, where one goal is enough", len(asked)))
		items = rules.ItemUnion(items, asked)
	}
	if pair, known := passed[s.To]; known {
		why = append(why, fmt.Sprintf("repeats at least %d characters of session %s. They are not part of its goal.",
			p.Isolation().Passage, rules.ShortID(s.From.ID)))
		items, related = rules.ItemUnion(items, []int{pair.Child}), append(related, s.From.ItemPlace(pair.Parent))
	}
	if len(why) == 0 {
		return
	}
	f := findInChild(p, s, items)
	f.Related = append(related, f.Related...)
	f.Message = "the sub-session of call " + rules.CallName(s.Call()) + " " + why[0]
	for _, other := range why[1:] {
		f.AddSentence("It also " + other)
	}
	p.Report(f)
}

// askedPrompts are the prompts among the messages that the child begins with, those that are
// said twice once. What the user had told the parent, too (a runtime gives the rules of
// a project to every agent), and an image beside the goal are no second goal.
func askedPrompts(s *delegation.Spawn, copied []delegation.CopiedPair) []int {
	var list []int
	told := map[session.Digest]bool{}
	for _, i := range openingItems(s, copied) {
		if it := &s.To.Items[i]; isPrompt(it) && it.Text != 0 && !told[it.Meaning] {
			list, told[it.Meaning] = append(list, i), true
		}
	}
	if len(list) < 2 || len(copied) > 0 { // with what agents said there, it is a copied history
		return list
	}
	return slices.DeleteFunc(list, func(i int) bool {
		before, known := pastOf(s.From).asked[s.To.Items[i].Meaning]
		return known && before < s.Item
	})
}

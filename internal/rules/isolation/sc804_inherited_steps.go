package isolation

import "github.com/sessctl/sessctl/internal/rules"

var inheritedSteps = rules.Rule{
	ID: "SC804", Name: "inherited-steps", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Bodies: true, Since: "0.1.0",
	Title: "a sub-session contains steps of its parent",
	Run: func(p *rules.Pass) {
		for _, s := range isolatedSpawns(p) {
			copied := inheritedPairs(s)
			if !hasSteps(s.To, copied) {
				continue // SC801
			}
			items, originals := placesOfPairs(&s, copied)
			f := findInChild(p, &s, items)
			f.Related = append(originals, f.Related...)
			f.Message = "the sub-session of call " + rules.CallName(s.Call()) + " contains " + rules.CountedNoun(len(copied), "step") + " of session " + rules.ShortID(s.From.ID)
			f.AddSentence("They are from before the delegation, and the sub-agent did not take them itself")
			p.Report(f)
		}
	},
}

package check

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
)

// Use says for how many sessions a profile was the judge, and why.
type Use struct {
	Profile  *rules.Profile
	Sessions int
	Why      string // "" when it was asked for
}

// uses counts the sessions by profile and reason.
type uses map[Use]int

func (u uses) sortedUses() []Use {
	var list []Use
	for use, n := range u {
		use.Sessions = n
		list = append(list, use)
	}
	slices.SortFunc(list, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Profile.Name, b.Profile.Name), cmp.Compare(a.Why, b.Why))
	})
	return list
}

// UsedProfiles are the profiles of some uses, without repetition.
func UsedProfiles(list []Use) []*rules.Profile {
	var profiles []*rules.Profile
	for _, use := range list {
		if !slices.Contains(profiles, use.Profile) {
			profiles = append(profiles, use.Profile)
		}
	}
	return profiles
}

// countProfiles counts who judged the sessions of a tree. Sessions that are never sent
// to a model again have no next request.
func (e *engine) countProfiles(pass *rules.Pass) {
	if pass == nil || e.result == nil {
		return
	}
	counted := uses{}
	for _, s := range pass.Subjects {
		if s.Closed {
			continue
		}
		for _, profile := range s.Profiles {
			counted[Use{Profile: profile, Why: s.Hint}]++
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for use := range maps.Keys(counted) {
		e.uses[use] += counted[use]
	}
	if !e.opts.Explain {
		return
	}
	for _, s := range pass.Subjects {
		if s.ID == e.opts.Session {
			e.result.Answers = AskProfiles(pass, s.Session, RunTree(e.facts, pass.Tree, catalogue.UsualRules(), e.opts.Judge))
		}
	}
}

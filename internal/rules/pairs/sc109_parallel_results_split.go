package pairs

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var parallelResultsSplit = rules.Rule{
	ID: "SC109", Name: "parallel-results-split", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "the results of one turn are spread over several user messages",
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		for _, group := range answerGroups(j.Subject) {
			if parts := userItems(j.Subject, group); len(parts) > 1 && !j.IsHistory(group.turn) {
				reportSpread(p, j, group.turn, parts)
			}
		}
	}),
}

// userItems are the user items of a group. Tool items do not count: every adapter
// makes one message of those where the provider wants one.
func userItems(s *rules.Subject, group answerGroup) []int {
	return slices.DeleteFunc(slices.Clone(group.items), func(i int) bool { return s.Items[i].Role != session.User })
}

func reportSpread(p *rules.Pass, j rules.Judged, turn int, parts []int) {
	f := p.FindItems(j.Session, parts)
	f.Profile = j.Profile
	f.Message = "the results of one turn are spread over " + rules.CountedNoun(len(parts), "user message")
	f.Related = []session.Place{j.ItemPlace(turn)}
	f.Sent = "all these results in one message"
	answered := map[string]bool{}
	for i := range j.Items[parts[0]].Results {
		answered[j.Items[parts[0]].Results[i].CallID] = true
	}
	f.ProviderError = j.Profile.ErrorText("SC109", rules.Said{Message: j.WireIndex(j.Profile, parts[0]), ID: strings.Join(openCalls(j.Subject, turn, answered), ", ")})
	p.Report(f)
}

// openCalls are the ids of a turn's calls but for those that are answered.
func openCalls(s *rules.Subject, turn int, answered map[string]bool) []string {
	var list []string
	for _, c := range s.Items[turn].Calls {
		if !c.Server && !answered[c.ID] {
			list = append(list, c.ID)
		}
	}
	return list
}

package rules

import (
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

var parallelResultsSplit = Rule{
	ID: "SC109", Name: "parallel-results-split", Severity: Warning, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "the results of one turn are spread over several messages of the user",
	Run: func(p *Pass) {
		for j := range p.judged() {
			for _, group := range j.answerGroups() {
				if parts := j.userItems(group); len(parts) > 1 && !j.history(group.turn) {
					reportSpread(p, j, group.turn, parts)
				}
			}
		}
	},
}

// userItems are the user items of a group. Tool items do not count: every adapter
// makes one message of those where the provider wants one.
func (s *Subject) userItems(group answerGroup) []int {
	var list []int
	for _, i := range group.items {
		if s.Items[i].Role == session.User {
			list = append(list, i)
		}
	}
	return list
}

func reportSpread(p *Pass, j Judged, turn int, parts []int) {
	f := p.find(j.Session, parts[0])
	f.Items, f.Profile = parts, j.Profile
	f.Message = "the results of one turn are spread over " + count(len(parts), "message") + " of the user"
	f.Related = []session.Place{j.At(turn)}
	f.Sent = "the results in one message"
	answered := map[string]bool{}
	for i := range j.Items[parts[0]].Results {
		answered[j.Items[parts[0]].Results[i].CallID] = true
	}
	f.ProviderError = j.Profile.Error("SC109", Said{Message: j.wireIndex(j.Profile, parts[0]), ID: strings.Join(j.openCalls(turn, answered), ", ")})
	p.Report(f)
}

// openCalls are the ids of a turn's calls but for those that are answered.
func (s *Subject) openCalls(turn int, answered map[string]bool) []string {
	var list []string
	for _, c := range s.Items[turn].Calls {
		if !c.Server && !answered[c.ID] {
			list = append(list, c.ID)
		}
	}
	return list
}

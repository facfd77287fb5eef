package pairs

import (
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var resultsNotFirst = rules.Rule{
	ID: "SC110", Name: "results-not-first", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "text or media before the results in a user message",
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		for _, group := range answerGroups(j.Subject) {
			for _, i := range group.items {
				if !j.IsHistory(i) && j.Items[i].Role == session.User && resultsBehind(j.Items[i].Blocks) {
					reportNotFirst(p, j, group.turn, i)
				}
			}
		}
	}),
}

// resultsBehind reports whether a result stands behind something else.
func resultsBehind(blocks []session.Block) bool {
	other := false
	for i := range blocks {
		if other && blocks[i].Kind == session.ResultBlock {
			return true
		}
		other = other || blocks[i].Kind != session.ResultBlock
	}
	return false
}

func reportNotFirst(p *rules.Pass, j rules.Judged, turn, item int) {
	f := p.FindItem(j.Session, item)
	f.Profile = j.Profile
	f.Message = "the message has other content before its results"
	f.Related = []session.Place{j.ItemPlace(turn)}
	f.Sent = "the results first, then the rest in the same order"
	f.ProviderError = j.Profile.ErrorText("SC110", rules.Said{
		Message: j.WireIndex(j.Profile, turn), ID: strings.Join(openCalls(j.Subject, turn, nil), ", "),
	})
	p.Report(f)
}

package pairs

import (
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
)

var resultWithoutName = rules.Rule{
	ID: "SC207", Name: "result-without-name", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "results do not name their tool",
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		if list := namelessResults(j.Subject); len(list) > 0 {
			reportWithoutName(p, j, list)
		}
	}),
}

// namelessResults are the pairs of the next request whose result names no tool,
// where other results of the session do or the call has no name either. A store
// that records none leaves it to the adapter, which knows the call's.
func namelessResults(s *rules.Subject) []pairing.Pair {
	named := false
	for i := range s.Items {
		for n := range s.Items[i].Results {
			named = named || s.Items[i].Results[n].Name != ""
		}
	}
	var list []pairing.Pair
	for _, pair := range s.Pairs.Pairs {
		if !s.IsHistory(pair.Result.Item) && s.ResultAt(pair.Result).Name == "" && (named || s.CallAt(pair.Call).Name == "") {
			list = append(list, pair)
		}
	}
	return list
}

func reportWithoutName(p *rules.Pass, j rules.Judged, pairs []pairing.Pair) {
	first := pairs[0]
	f := p.FindCall(j.Subject, first.Result, j.CallAt(first.Call).ID)
	f.Profile, f.Count = j.Profile, len(pairs)
	f.Items = rules.SortUnique(lists.MapEach(pairs, func(pair pairing.Pair) int { return pair.Result.Item }))
	f.Message = rules.CountedNoun(len(pairs), "result") + rules.VerbForm(len(pairs), " does not name its tool", " do not name their tools")
	f.Sent = "the tool name of the call"
	f.ProviderError = j.Profile.ErrorText("SC207", rules.Said{Message: j.WireIndex(j.Profile, first.Result.Item), Block: first.Result.Nth, ID: f.Call})
	p.Report(f)
}

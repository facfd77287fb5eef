package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
)

var resultWithoutName = Rule{
	ID: "SC207", Name: "result-without-name", Severity: Error, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "results do not name the tool that they are of",
	Run: func(p *Pass) {
		for j := range p.judged() {
			if list := j.namelessResults(); len(list) > 0 {
				reportWithoutName(p, j, list)
			}
		}
	},
}

// namelessResults are the pairs of the next request whose result names no tool,
// where other results of the session do or the call has no name either. A store
// that records none leaves it to the adapter, which knows the call's.
func (s *Subject) namelessResults() []pairing.Pair {
	named := false
	for i := range s.Items {
		for n := range s.Items[i].Results {
			named = named || s.Items[i].Results[n].Name != ""
		}
	}
	var list []pairing.Pair
	for _, pair := range s.Pairs.Pairs {
		if !s.history(pair.Result.Item) && s.result(pair.Result).Name == "" && (named || s.call(pair.Call).Name == "") {
			list = append(list, pair)
		}
	}
	return list
}

func reportWithoutName(p *Pass, j Judged, pairs []pairing.Pair) {
	first := pairs[0]
	f := p.findCall(j.Subject, first.Result, j.call(first.Call).ID)
	f.Profile, f.Items = j.Profile, nil
	f.Count = len(pairs)
	for _, pair := range pairs {
		f.Items = append(f.Items, pair.Result.Item)
	}
	slices.Sort(f.Items)
	f.Items = slices.Compact(f.Items)
	f.Message = count(len(pairs), "result") + verb(len(pairs), " does not name its tool", " do not name their tools")
	f.Sent = "the name that the call has"
	f.ProviderError = j.Profile.Error("SC207", Said{Message: j.wireIndex(j.Profile, first.Result.Item), Block: first.Result.Nth, ID: f.Call})
	p.Report(f)
}

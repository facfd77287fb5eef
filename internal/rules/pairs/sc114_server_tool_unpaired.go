package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
)

var serverToolUnpaired = rules.Rule{
	ID: "SC114", Name: "server-tool-unpaired", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a tool that the provider ran has a call without a result, or a result without a call",
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		for i := range j.SentItems() {
			calls, results := serverParts(j.Subject, i)
			if len(calls) > 0 && !onlyResultsFollow(j.Subject, i) {
				for _, n := range calls {
					reportServerCall(p, j, pairing.Occurrence{Item: i, Nth: n})
				}
			}
			for _, n := range results {
				reportServerResult(p, j, pairing.Occurrence{Item: i, Nth: n})
			}
		}
	}),
}

// serverParts are the calls and results of an item that the provider made and
// that have no counterpart in it.
func serverParts(s *rules.Subject, item int) (calls, results []int) {
	it := &s.Items[item]
	open := map[string][]int{}
	for n := range it.Calls {
		if c := &it.Calls[n]; c.Server {
			open[c.ID] = append(open[c.ID], n)
		}
	}
	for n := range it.Results {
		r := &it.Results[n]
		switch waiting := open[r.CallID]; {
		case !r.Server:
		case len(waiting) == 0:
			results = append(results, n)
		default:
			open[r.CallID] = waiting[1:]
		}
	}
	for n := range it.Calls {
		if c := &it.Calls[n]; c.Server && len(open[c.ID]) > 0 && open[c.ID][0] <= n {
			calls = append(calls, n)
		}
	}
	return calls, results
}

func reportServerCall(p *rules.Pass, j rules.Judged, at pairing.Occurrence) {
	f := p.FindCall(j.Subject, at, j.CallAt(at).ID)
	f.Profile = j.Profile
	f.Message = "call " + rules.CallName(j.CallAt(at)) + " has no result in its message. The provider ran this tool itself, and its result belongs there."
	f.Sent = "the message without the call"
	said := j.CallSaid(j.Profile, at)
	said.Name = j.CallAt(at).Name
	f.ProviderError = j.Profile.ErrorText("SC114", said)
	p.Report(f)
}

func reportServerResult(p *rules.Pass, j rules.Judged, at pairing.Occurrence) {
	f := p.FindCall(j.Subject, at, j.ResultAt(at).CallID)
	f.Profile = j.Profile
	f.Message = "result " + rules.QuoteText(f.Call) + " has no call in its message. The provider ran this tool itself, and its call belongs there."
	f.Sent = "the message without the result"
	p.Report(f)
}

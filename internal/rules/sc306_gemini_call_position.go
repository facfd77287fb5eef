package rules

import "github.com/sessctl/sessctl/internal/session"

var geminiCallPosition = Rule{
	ID: "SC306", Name: "gemini-call-position", Severity: Error, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "calls that follow neither a user's message nor results",
	Run: func(p *Pass) {
		for j := range p.requests() {
			turns := j.turns()
			if first, merged := callsOutOfPlace(turns); first || len(merged) > 0 {
				p.reportCallPosition(j, turns, first, merged)
			} else if last, ok := j.nextBehindTool(turns); ok && p.Store.Adaptation(ownMessage, j.Profile.Name) == "" {
				f := p.findSent(j, []int{last}, Said{})
				f.Severity, f.ProviderError = Warning, "" // what they answer then is not known
				f.Message = "the user's next message follows function results; some servers refuse both in one message"
				f.Sent = "the user's text as a message of its own"
				p.Report(f)
			}
		}
	},
}

// ownMessage is the key of session.Store.Adapts for runtimes that never send a
// user's text and results in one message.
const ownMessage = "SC306 next"

// callsOutOfPlace says whether the request starts with calls, and which turns
// with calls follow another one of the assistant.
func callsOutOfPlace(turns []turn) (first bool, merged []turn) {
	for n, t := range turns {
		switch {
		case !t.calls:
		case n == 0:
			first = true
		case turns[n-1].role == session.Assistant:
			merged = append(merged, t)
		}
	}
	return first, merged
}

func (p *Pass) reportCallPosition(j Judged, turns []turn, first bool, merged []turn) {
	var items []int
	var what, sent []string
	if first {
		items = append(items, turns[0].item)
		what, sent = append(what, "the request starts with calls"), append(sent, "a short user message in front")
	}
	if n := len(merged); n > 0 {
		what = append(what, "calls follow another message of the assistant in "+count(n, "place"))
		sent = append(sent, "each message with the calls behind it as one")
	}
	for _, t := range merged {
		items = append(items, t.item)
	}
	f := p.findSent(j, items, Said{})
	f.Message = list(what) + ", where only a user's message or results may stand before them"
	f.Sent = list(sent)
	p.Report(f)
}

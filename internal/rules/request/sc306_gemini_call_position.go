package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var geminiCallPosition = rules.Rule{
	ID: "SC306", Name: "gemini-call-position", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "calls that follow neither a user message nor results",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		turns := j.Turns()
		if first, merged := callsOutOfPlace(turns); first || len(merged) > 0 {
			reportCallPosition(p, j, turns, first, merged)
		} else if last, ok := nextBehindTool(&j, turns); ok && p.Store.Adaptation(ownMessage, j.Profile.Name) == "" {
			f := p.FindSent(j, []int{last}, rules.Said{})
			f.Severity, f.ProviderError = rules.Warning, "" // what they answer then is not known
			f.Message = "the next user message follows function results. Some servers refuse both in one message."
			f.Sent = "the user's text as a message of its own"
			p.Report(f)
		}
	}),
}

// ownMessage is the key of session.Store.Adapts for runtimes that never send a
// user's text and results in one message.
const ownMessage = "SC306 next"

// callsOutOfPlace says whether the request starts with calls, and which turns
// with calls follow another one of the assistant.
func callsOutOfPlace(turns []rules.Turn) (first bool, merged []rules.Turn) {
	for n, t := range turns {
		switch {
		case !t.Calls:
		case n == 0:
			first = true
		case turns[n-1].Role == session.Assistant:
			merged = append(merged, t)
		}
	}
	return first, merged
}

func reportCallPosition(p *rules.Pass, j rules.Judged, turns []rules.Turn, first bool, merged []rules.Turn) {
	var items []int
	var what, sent []string
	if first {
		items = append(items, turns[0].Item)
		what, sent = append(what, "the request starts with calls"), append(sent, "a short user message before it")
	}
	if n := len(merged); n > 0 {
		what = append(what, "calls follow another message of the assistant in "+rules.CountedNoun(n, "place"))
		sent = append(sent, "each message together with the calls after it")
	}
	for _, t := range merged {
		items = append(items, t.Item)
	}
	f := p.FindSent(j, items, rules.Said{})
	f.Message = rules.JoinWords(what) + ". Calls must follow a user message or results."
	f.Sent = rules.JoinWords(sent)
	p.Report(f)
}

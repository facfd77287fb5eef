package request

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var geminiSignatureMissing = rules.Rule{
	ID: "SC506", Name: "gemini-signature-missing", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "the first call of a step in the current turn has no thought signature", Profiled: true, Wire: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		if !j.AsIs || lenientGemini().MatchString(strings.ToLower(j.Model)) || !recordsSignatures(j.Subject) {
			return // with a next message of the user, the current turn has no call yet
		}
		steps := unsignedSteps(j.Subject)
		p.ReportSent(j, steps, func(f *rules.Finding) {
			f.Message = "the first call of " + rules.CountedNoun(len(steps), "step") + " since the last user message has no thought signature. Gemini 3 requires that signature."
			f.Sent = "the sentinel " + j.Profile.Sentinel + " in place of the missing signature"
		})
	}),
}

// lenientGemini are the models that know thought signatures at most as a help.
var lenientGemini = pattern.Lazy(`gemini-[12]\b`)

// recordsSignatures reports whether the store keeps the signatures of calls, as
// far as this session shows.
func recordsSignatures(s *rules.Subject) bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool {
		return slices.ContainsFunc(it.Blocks, func(b session.Block) bool {
			return b.Kind == session.CallBlock && (b.Unsigned || b.Signature != 0)
		})
	})
}

// unsignedSteps are the items of the current turn, behind the user's last
// message, whose first call is not signed.
func unsignedSteps(s *rules.Subject) []int {
	var steps []int
	for i, it := range s.SentItems() {
		switch {
		case it.Role == session.User && !rules.AnswersOnly(it):
			steps = nil
		case it.Role == session.Assistant && len(it.Calls) > 0 && !firstCallSigned(it):
			steps = append(steps, i)
		}
	}
	return steps
}

func firstCallSigned(it *session.Item) bool {
	for _, b := range it.Blocks {
		if b.Kind == session.CallBlock {
			return b.Signature != 0
		}
	}
	return false
}

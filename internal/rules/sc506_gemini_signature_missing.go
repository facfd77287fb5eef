package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

var geminiSignatureMissing = Rule{
	ID: "SC506", Name: "gemini-signature-missing", Severity: Error, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "the first call of a step in the current turn has no thought signature", Profiled: true, Wire: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			if !j.AsIs || lenientGemini.MatchString(strings.ToLower(j.Model)) || !j.recordsSignatures() {
				continue // with a next message of the user, the current turn has no call yet
			}
			steps := j.unsignedSteps()
			if len(steps) == 0 {
				continue
			}
			f := p.findSent(j, steps, Said{})
			f.Message = "the first call of " + count(len(steps), "step") + " since the user's last message has no thought signature, which Gemini 3 wants back"
			f.Sent = "the sentinel " + j.Profile.Sentinel + " in place of the missing signature"
			p.Report(f)
		}
	},
}

// lenientGemini are the models that know thought signatures at most as a help.
var lenientGemini = regexp.MustCompile(`gemini-[12]\b`)

// recordsSignatures reports whether the store keeps the signatures of calls, as
// far as this session shows.
func (s *Subject) recordsSignatures() bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool {
		return slices.ContainsFunc(it.Blocks, func(b session.Block) bool {
			return b.Kind == session.CallBlock && (b.Unsigned || b.Signature != 0)
		})
	})
}

// unsignedSteps are the items of the current turn, behind the user's last
// message, whose first call is not signed.
func (s *Subject) unsignedSteps() []int {
	var steps []int
	for i, it := range s.sent() {
		switch {
		case it.Role == session.User && !answersOnly(it):
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

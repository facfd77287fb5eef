package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// judges says whose requests were judged, and why: "requests judged as by
// anthropic (the model is claude-opus-4-1) and generic (2 sessions)".
func judges(uses []check.Use) string {
	var words []string
	for _, p := range check.Profiles(uses) {
		words = append(words, p.Name+because(p, uses))
	}
	if len(words) == 0 {
		return ""
	}
	return "requests judged as by " + strings.Join(words, ", ")
}

// because is the reason for a profile in parentheses: what the sessions say,
// with their number where they do not say the same.
func because(p *rules.Profile, uses []check.Use) string {
	var why []string
	sessions := 0
	for _, use := range uses {
		if use.Profile == p {
			sessions += use.Sessions
			why = append(why, ui.Clean(use.Why))
		}
	}
	switch {
	case why[0] == "":
		return " (--profile)"
	case len(why) == 1:
		return " (" + why[0] + ")"
	}
	return fmt.Sprintf(" (%s: %s, and more)", ui.Count(sessions, "session"), why[0])
}

// answer is what a provider says to the next request of the session.
func answer(a *check.Answer) document.Document {
	head := words(span(document.Strong, "The next request, to "+a.Profile.Name), " ("+cmp.Or(a.Why, "--profile")+")")
	var facts document.Facts
	for _, sentence := range answerSentences(a) {
		facts = append(facts, words(sentence))
	}
	doc := document.Document{document.Line(head), facts}
	if a.Error != "" {
		doc = append(doc, document.Quotation(words(a.Error)))
	}
	return append(doc, document.Gap{})
}

// answerSentences say what becomes of the request. The provider's own words follow
// where they are known.
func answerSentences(a *check.Answer) []string {
	var sentences []string
	if a.Closed {
		sentences = append(sentences, "There will be none: this sub-session is finished, and its runtime never sends it to a model again.")
	}
	if a.Verdict == check.Accept {
		return append(sentences, "It is accepted, as far as is known.")
	}
	says, whose := "It is refused", "it"
	if a.Voice != "" {
		whose = "that of " + ui.Clean(a.Voice)
		says = "That of " + ui.Clean(a.Voice) + " is refused"
	}
	switch {
	case a.Verdict == check.Risk:
		says = "Some models or servers refuse " + whose
	case a.Closed:
		says = "As it is stored it would be refused"
	}
	if a.Item >= 0 {
		says += fmt.Sprintf(" because of item %d", a.Item)
	}
	if len(a.Rules) > 0 {
		says += " (" + strings.Join(a.Rules, ", ") + ")"
	}
	if a.Error == "" {
		return append(sentences, says+"; with which words is not known.")
	}
	return append(sentences, says+":")
}

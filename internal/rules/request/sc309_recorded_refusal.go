package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var recordedRefusal = rules.Rule{
	ID: "SC309", Name: "recorded-refusal", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "the last requests were refused, and nothing was answered since",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		if refused := lastRefusals(s.Session); refused != nil {
			slices.Reverse(refused)
			reportRefusals(p, s, refused)
		}
	}),
}

// reportRefusals reports requests that were refused alike for what they hold. Whether one that
// was refused once is a matter of the session, check tells by what else is found.
func reportRefusals(p *rules.Pass, s *rules.Subject, refused []int) {
	is := s.Items[refused[0]].Refusal()
	said := errtext.ParseAnswer(is.Text)
	known := said.IsCause() && (len(said.Stores) == 0 || slices.Contains(said.Stores, p.Store.Kind))
	again := said.Kind == errtext.Unknown && is.Status != 0 && len(refused) > 1
	if !known && !again || !slices.Contains([]int{0, 400, 415, 422}, is.Status) {
		return // of the others, the key, the account, the model, the length or the provider is the cause
	}
	f := p.FindItems(s.Session, refused)
	f.Count = len(refused)
	if known {
		f.Causes = said.Causes()
	}
	f.Discreet = rules.VerbForm(len(refused), "the last request was refused", fmt.Sprintf("the last %d requests were refused alike", len(refused))) + ", and nothing was answered since"
	f.Message = f.Discreet + ". It said: " + strings.TrimRight(said.Text, ".") + "."
	refuses := func(profile *rules.Profile) bool { // else somebody asks about another one
		return s.Hint != "" || len(said.Profiles) == 0 || slices.Contains(said.Profiles, profile.Name)
	}
	f.Failing = func(profile *rules.Profile) string {
		if refuses(profile) {
			return said.Text
		}
		return ""
	}
	why := changedSince(s, refused[len(refused)-1])
	if !slices.ContainsFunc(s.Profiles, refuses) {
		why = "It was another provider that refused"
	}
	if f.AddSentence(why); why != "" {
		f.Severity, f.Failing = rules.Info, nil
	} else if s.Mended {
		n := len(refused)
		title := "take out " + rules.CountedNoun(n, "recorded refusal") + " of what is repaired now; the receipt keeps " + rules.VerbForm(n, "it", "them")
		f.SetFix(rules.Kept, title, rules.QuarantineItems(s.Session, refused)...)
	}
	p.Report(f)
}

// refusedAs reports whether the last requests were refused with a text that is about what a
// rule finds, before all others.
func refusedAs(s *session.Session, rule string) bool {
	refused := lastRefusals(s)
	if refused == nil {
		return false
	}
	said := errtext.ParseAnswer(s.Items[refused[0]].Refusal().Text)
	causes := said.Causes()
	return len(causes) > 0 && causes[0] == rule
}

// lastRefusals are the items of the last requests that were refused with one text, where
// nothing but prompts came between them and after them, the last one first; nil for none.
func lastRefusals(s *session.Session) (list []int) {
	for i := range slices.Backward(s.Items) {
		it := &s.Items[i]
		switch {
		case it.Refusal() != session.Refusal{}:
			if list != nil && !refusedAlike(it.Refusal(), s.Items[list[0]].Refusal()) {
				return list
			}
			list = append(list, i)
		case it.Kind == session.Message && it.Role == session.User && len(it.Results) == 0, it.Kind == session.Other:
		case it.OnWire():
			return list
		}
	}
	return list
}

// varies is what differs between two texts of one refusal: ids, numbers, sizes.
var varies = pattern.Lazy(`[\w-]*\d[\w-]*`)

// refusedAlike reports whether two requests were refused with the same text.
func refusedAlike(a, b session.Refusal) bool {
	plain := func(text string) string { return varies().ReplaceAllString(text, "#") }
	return a.Status == b.Status && plain(a.Text) == plain(b.Text)
}

// changedSince says what was changed in what is sent since a request was refused, as far as
// the store tells; "" for nothing.
func changedSince(s *rules.Subject, refused int) string {
	it := &s.Items[refused]
	switch {
	case s.Closed:
		return "The sub-session is over, so no further request is made of it"
	case it.Flags&(session.Archived|session.Rewound) != 0:
		return "Its branch is not sent any more"
	case it.Flags.Has(session.Compacted), refused < s.Start:
		return "The session was compacted since"
	case slices.ContainsFunc(s.Items[refused:], func(next session.Item) bool {
		return next.Model() != "" && it.Model() != "" && next.Model() != it.Model()
	}):
		return "The last prompt is for another model"
	}
	return ""
}

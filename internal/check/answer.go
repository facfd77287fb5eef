package check

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
)

// Verdict is what becomes of a request.
type Verdict uint8

// The verdicts. Risk: some models or servers of the provider refuse it.
const (
	Accept Verdict = iota
	Risk
	Reject
)

func (v Verdict) String() string { return [...]string{"accept", "risk", "reject"}[v] }

// Answer is what a provider would say to the next request of a session as it is
// stored, without the help of any client.
type Answer struct {
	Profile *rules.Profile
	Why     string // why this profile: "" when it was asked for
	Closed  bool   // a sub-session that its runtime never sends to a model again
	Verdict Verdict
	Error   string // in the provider's words; "" when it accepts, or when no words are known
	Item    int    // where it refuses: position in the session, -1 when the request as a whole is meant
	Rules   []string
}

// answers asks every profile of a session. A provider names the first thing that
// it refuses, and only that.
func answers(s *rules.Subject, found []*Finding) []Answer {
	var list []Answer
	for _, profile := range s.Profiles {
		a := Answer{Profile: profile, Why: s.Hint, Closed: s.Closed, Item: -1}
		for _, f := range found {
			if f.Session == s.ID {
				a.hear(f)
			}
		}
		slices.Sort(a.Rules)
		a.Rules = slices.Compact(a.Rules)
		list = append(list, a)
	}
	return list
}

// hear lets a finding change the answer, if it is worse than what was heard, or
// as bad and earlier in the session.
func (a *Answer) hear(f *Finding) {
	verdict, text := f.verdict(a.Profile)
	switch {
	case verdict == Accept || verdict < a.Verdict || verdict == a.Verdict && f.Item > a.Item:
	case verdict == a.Verdict && f.Item == a.Item:
		a.Rules = append(a.Rules, f.Rule.ID)
		if a.Error == "" {
			a.Error = text
		}
	default:
		a.Verdict, a.Error, a.Item, a.Rules = verdict, text, f.Item, []string{f.Rule.ID}
	}
}

// Refused reports whether a provider that was asked refuses the next request because of
// what was found.
func (f *Finding) Refused() bool {
	return slices.ContainsFunc(f.Judged, func(j rules.Judgement) bool {
		verdict, _ := f.verdict(j.Profile)
		return verdict == Reject
	})
}

// verdict is what a profile makes of a finding, and its words. Where the profile
// has no level of its own, a broken pair is refused whatever the severity: a
// result that may still come is missing now.
func (f *Finding) verdict(profile *rules.Profile) (Verdict, string) {
	for _, j := range f.Judged {
		if j.Profile != profile {
			continue
		}
		_, listed := profile.Levels[f.Rule.ID]
		switch {
		case !listed && j.Error != "", listed && j.Severity == rules.Error:
			return Reject, j.Error
		case listed && j.Severity == rules.Warning:
			return Risk, j.Error
		}
	}
	return Accept, ""
}

package check

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Outlook is what becomes of a root session when its agent goes on, the best first.
type Outlook uint8

// The outlooks.
const (
	Resumes  Outlook = iota
	Loses            // it resumes, but the model loses something
	Doubtful         // it resumes with most models, and some may refuse it
	Waits            // the provider refuses a request until a call has its result
	Refused          // the provider refuses the next request
	Unloaded         // its runtime fails to load it
)

func (o Outlook) String() string {
	return [...]string{"resumes", "loses", "doubtful", "waits", "refused", "unloaded"}[o]
}

// OutlookOf is that of a root session, whose findings share one head. A session in which
// nothing was found resumes.
func OutlookOf(root string, found []*Finding) Outlook {
	for _, f := range found {
		if f.Root != nil && f.Root.ID == root {
			return f.Root.Outlook
		}
	}
	return Resumes
}

// noteOutlooks gives the findings of each conversation of a tree one head with its outlook.
func noteOutlooks(pass *rules.Pass, tree *session.Tree, found []*Finding) {
	parts := tree.Conversations()
	for _, part := range parts {
		lookAt(pass, part, slices.DeleteFunc(slices.Clone(found), func(f *Finding) bool { return len(parts) > 1 && part.Session(f.Session) == nil }))
	}
}

// lookAt looks the one place that decides on an outlook: check and why say what it says.
func lookAt(pass *rules.Pass, tree *session.Tree, found []*Finding) {
	head, asks := headOf(tree), false
	for _, f := range found {
		f.weighRefusal(found)
		if f.Root != nil {
			f.Root = head
		}
		switch {
		case f.Unloads:
			head.Outlook = Unloaded
		case f.Severity == rules.Error, f.Severity == rules.Warning && f.Session == tree.Root().ID && f.IsLost() && !f.AboutPairs():
			head.Outlook = max(head.Outlook, Loses)
		}
		asks = asks || f.Severity == rules.Error || len(f.Judged) > 0
		heard := f.IsRefused() || f.Severity == rules.Error || f.IsLost()
		if heard && f.AboutPairs() && f.isMended(pass.SubjectOf(tree.Session(f.Session))) {
			f.Eased = pass.SubjectOf(tree.Session(f.Session)).Mender.By
		}
	}
	if !asks {
		return
	}
	for _, a := range AskProfiles(pass, tree.Root(), found) {
		head.Outlook = max(head.Outlook, a.worstOutlook())
	}
}

// weighRefusal sets a recorded refusal against what else was found. Once may be a matter of the
// moment where nothing fits it; and as long as something does, a repair leaves it.
func (f *Finding) weighRefusal(found []*Finding) {
	switch {
	case f.Causes == nil:
	case slices.ContainsFunc(found, f.HasCause):
		f.Fixes = nil
	case f.Count == 1 && f.Severity == rules.Error && len(f.Fixes) == 0: // else a repair takes it out
		f.Severity, f.Judged, f.ProviderError, f.Profile, f.Fixes = rules.Info, nil, "", nil, nil
		f.AddSentence("Nothing that sessctl finds in the session fits it. Try once more: where it is refused again, something that is stored causes it")
	}
}

// HasCause reports whether another finding may be the cause of a recorded refusal.
func (f *Finding) HasCause(other *Finding) bool {
	return other.Session == f.Session && other.Severity > rules.Info && slices.Contains(f.Causes, other.Rule.ID)
}

// IsLost reports whether the runtime sends something else in the place of what was found, or
// nothing of what stands before.
func (f *Finding) IsLost() bool {
	return f.Hides || slices.ContainsFunc(f.Judged, func(j rules.Judgement) bool { return j.Lost })
}

// isMended reports whether every version of the runtime that reads the store sends other calls
// and results than those because of which the finding's request is refused.
func (f *Finding) isMended(s *rules.Subject) bool {
	if s == nil || !s.AlwaysMended() {
		return false
	}
	changed := s.SanitisedParts()
	sends := len(changed.Calls)+len(changed.Results) > 0
	for _, profile := range s.Profiles {
		all := s.Objections(profile)
		about := slices.DeleteFunc(slices.Clone(all), func(o rules.Objection) bool { return !f.IsAbout(profile, &o, s.PlaceInSession(o.Item)) })
		if len(about) == 0 {
			about = all // what parts a pair is about them all
		}
		sends = sends && !slices.ContainsFunc(about, func(o rules.Objection) bool { return !o.Mended })
	}
	return sends
}

// AboutPairs tells findings about calls and results, and those about what parts them.
func (f *Finding) AboutPairs() bool {
	return strings.HasPrefix(f.Rule.ID, "SC1") || strings.HasPrefix(f.Rule.ID, "SC7")
}

func (a *Answer) worstOutlook() Outlook {
	switch {
	case a.Closed || a.Verdict == Accept:
		return Resumes
	case a.Verdict == Risk:
		return Doubtful
	case a.untold:
		return Refused
	}
	worst := Loses
	for _, f := range a.refusing {
		switch {
		case f.Eased != "", f.IsLost() && !f.AboutPairs():
		case f.Severity == rules.Error:
			return Refused
		default:
			worst = Waits
		}
	}
	return worst
}

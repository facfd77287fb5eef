package check

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
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
	Viewer  string // whose request it refuses, where that is not the agent that goes on; else ""
	Closed  bool   // a sub-session that its runtime never sends to a model again
	Verdict Verdict
	Error   string // in the provider's words; "" when it accepts, or when no words are known
	Item    int    // where it refuses: position in the session, -1 when the request as a whole is meant
	Rules   []string

	other    bool       // the request is not that of the agent that goes on
	refusing []*Finding // because of which a request is refused, wherever in it
	untold   bool       // calls or results are refused that no finding is about
}

// AskProfiles asks every profile about the next request of a session. This is the one
// place that decides: check and view say what it says. Where several agents share the
// session, it is the request of the one that goes on, and where that is taken, those
// of the others count. A provider names the first thing that it refuses, and only
// that. The findings are those of the usual rules in the pass's tree.
func AskProfiles(pass *rules.Pass, s *session.Session, found []*Finding) []Answer {
	var list []Answer
	viewers, near := pass.ViewersOf(s), indexFindings(found)
	for _, profile := range viewers[0].Profiles {
		a := Answer{Profile: profile, Why: viewers[0].Hint, Closed: viewers[0].Closed, Item: -1}
		said := map[*Finding]bool{}
		for n, v := range viewers {
			a.hearObjections(v, n > 0, near, said)
		}
		for _, f := range found {
			if f.Session == s.ID && !said[f] {
				a.hearFinding(f, viewers)
			}
		}
		slices.Sort(a.Rules)
		a.Rules = slices.Compact(a.Rules)
		list = append(list, a)
	}
	return list
}

// askedProfile is the profile that is asked about the request of a viewer: the one that was
// named, or the viewer's own.
func (a *Answer) askedProfile(v *rules.Subject) *rules.Profile {
	if a.Why == "" {
		return a.Profile
	}
	return v.Profiles[0]
}

// hearObjections lets the answer hear of the calls and results of a viewer that are refused,
// and notes the findings that are about them.
func (a *Answer) hearObjections(v *rules.Subject, other bool, near *findingIndex, said map[*Finding]bool) {
	profile := a.askedProfile(v)
	for _, o := range v.Objections(profile) {
		heard := Answer{Verdict: Reject, Error: o.Error, Item: v.PlaceInSession(o.Item), other: other}
		if other {
			heard.Viewer = v.ViewerName()
		}
		for _, f := range near.findingsAbout(heard.Item, o.IDs) {
			if f.Session == v.ID && f.IsAbout(profile, &o, heard.Item) {
				said[f] = true
				heard.Rules = append(heard.Rules, f.Rule.ID)
				a.refusing = append(a.refusing, f)
			}
		}
		a.untold = a.untold || heard.Rules == nil && (!o.Mended || !v.AlwaysMended())
		a.keepWorse(&heard)
	}
}

// findingIndex finds the findings that name an item or a call.
type findingIndex struct {
	found  []*Finding
	byItem map[int][]int // of those that a profile was asked about, indexes into found
	byCall map[string][]int
}

func indexFindings(found []*Finding) *findingIndex {
	x := &findingIndex{found, map[int][]int{}, map[string][]int{}}
	for n, f := range found {
		if len(f.Judged) > 0 { // see IsAbout
			for _, item := range f.Items {
				x.byItem[item] = append(x.byItem[item], n)
			}
		}
		x.byCall[f.Call] = append(x.byCall[f.Call], n)
	}
	return x
}

// findingsAbout are the findings that name an item, or one findingsAbout some calls, in their order.
func (x *findingIndex) findingsAbout(item int, calls []string) (list []*Finding) {
	near := slices.Clone(x.byItem[item])
	for _, id := range calls {
		near = append(near, x.byCall[id]...)
	}
	slices.Sort(near)
	for _, n := range slices.Compact(near) {
		list = append(list, x.found[n])
	}
	return list
}

// IsAbout reports whether a finding about an item, or about one of the calls, is one
// about what a profile objects to there. About a call that reaches no further request
// no profile was asked.
func (f *Finding) IsAbout(profile *rules.Profile, o *rules.Objection, item int) bool {
	if !slices.Contains(f.Items, item) && (f.Call == "" || !slices.Contains(o.IDs, f.Call)) {
		return false
	}
	for _, j := range f.Judged {
		if j.Profile == profile {
			return !f.Rule.Profiled || j.Error == o.Error || j.Error == o.Told
		}
	}
	return len(f.Judged) == 0 && !f.Rule.Profiled && slices.Contains(o.IDs, f.Call)
}

// hearFinding lets the answer hear of a finding.
func (a *Answer) hearFinding(f *Finding, viewers []*rules.Subject) {
	for n, v := range viewers {
		if n > 0 && a.askedProfile(v) == a.Profile {
			continue // asked already
		}
		heard := Answer{Item: f.Item, Rules: []string{f.Rule.ID}, other: n > 0 || f.Viewer != "" && f.Viewer != viewers[0].ViewerName()}
		if heard.other {
			heard.Viewer = f.Viewer
		}
		if heard.Verdict, heard.Error = f.verdictOf(a.askedProfile(v)); heard.Verdict == Reject {
			a.refusing = append(a.refusing, f)
		}
		a.keepWorse(&heard)
	}
}

// keepWorse lets something change the answer, if it is worse than what was heard, or as
// bad and earlier in the request.
func (a *Answer) keepWorse(b *Answer) {
	order := cmp.Or(cmp.Compare(b.Verdict, a.Verdict), compareOther(a.other, b.other), cmp.Compare(a.Item, b.Item))
	switch {
	case b.Verdict == Accept || order < 0:
	case order == 0:
		a.Rules = append(a.Rules, b.Rules...)
		a.Error = cmp.Or(a.Error, b.Error)
	default:
		a.Verdict, a.Error, a.Item, a.Rules, a.Viewer, a.other = b.Verdict, b.Error, b.Item, b.Rules, b.Viewer, b.other
	}
}

// compareOther compares whether two are about another request.
func compareOther(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// verdictOf is what a profile makes of a finding, and its words. Where the profile
// has no level of its own, a broken pair is refused whatever the severity: a
// result that may still come is missing now.
func (f *Finding) verdictOf(profile *rules.Profile) (Verdict, string) {
	for _, j := range f.Judged {
		if j.Profile != profile {
			continue
		}
		_, listed := profile.Levels[f.Rule.ID]
		switch {
		case j.Lost:
		case !listed && j.Error != "", listed && j.Severity == rules.Error:
			return Reject, j.Error
		case listed && j.Severity == rules.Warning:
			return Risk, j.Error
		}
	}
	return Accept, ""
}

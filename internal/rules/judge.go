package rules

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// Run runs one rule over the pass. What it found before a panic is reported too.
func (p *Pass) Run(r *Rule) {
	p.Rule, p.found, p.Indexes = r, nil, nil
	defer func() {
		for _, f := range p.keepTelling(p.found) {
			p.report(f)
		}
	}()
	r.Run(p)
}

// Judged is a session as one provider is asked about it.
type Judged struct {
	*Subject
	Profile *Profile
	AsIs    bool
}

// VisitSubjects makes the Run of a rule that looks at each session by itself.
func VisitSubjects(visit func(*Pass, *Subject)) func(*Pass) {
	return func(p *Pass) {
		for _, s := range p.Subjects {
			visit(p, s)
		}
	}
}

// VisitViewers does for one that looks at each agent with requests of its own.
func VisitViewers(visit func(*Pass, *Subject)) func(*Pass) {
	return func(p *Pass) {
		for _, s := range p.Viewers {
			visit(p, s)
		}
	}
}

// VisitJudged does for one that depends on the provider: each session is looked at with every
// profile that minds the rule.
func VisitJudged(visit func(*Pass, Judged)) func(*Pass) {
	return VisitViewers(func(p *Pass, s *Subject) {
		for _, profile := range s.Profiles {
			if _, minds := profile.Levels[p.Rule.ID]; minds {
				visit(p, Judged{s, profile, p.judge.AsIs})
			}
		}
	})
}

// VisitRequests is VisitJudged without the sessions that no request is made of any more.
func VisitRequests(visit func(*Pass, Judged)) func(*Pass) {
	return VisitJudged(func(p *Pass, j Judged) {
		if !j.Closed {
			visit(p, j)
		}
	})
}

// Report hands over a finding; what the rule left out is filled in. Without a
// profile, all that judge the session are asked how they mind it.
func (p *Pass) Report(f Finding) {
	f.Rule = p.Rule
	if f.Session != nil {
		f.Place.Session = f.Session.ID
		if len(f.Items) == 0 && f.Item >= 0 {
			f.Items = []int{f.Item}
		}
	}
	s := p.SubjectOf(f.Session)
	f.translatePlaces(s)
	if f.Profile != nil {
		p.judgeFinding(&f, []*Profile{f.Profile})
		return
	}
	if s != nil && (f.Failing != nil || p.dependsOnProvider(s.Profiles)) {
		p.judgeFinding(&f, s.Profiles)
		return
	}
	if !p.isTold(&f) {
		p.found = append(p.found, &f)
	}
}

// isTold reports whether another viewer of the session has reported the same.
func (p *Pass) isTold(f *Finding) bool {
	if f.viewer == nil {
		return false
	}
	at := place{f.Session, f.Ref, f.Nth}
	for _, i := range p.Indexes[at] {
		if p.found[i].viewer != f.viewer {
			return true
		}
	}
	p.indexPlace(at)
	return false
}

// dependsOnProvider reports whether the rule is one that depends on the provider.
func (p *Pass) dependsOnProvider(profiles []*Profile) bool {
	return p.Rule.Profiled || slices.ContainsFunc(profiles, func(profile *Profile) bool {
		_, listed := profile.Levels[p.Rule.ID]
		return listed
	})
}

// judgeFinding judges a finding for profiles.
func (p *Pass) judgeFinding(f *Finding, profiles []*Profile) {
	for _, profile := range profiles {
		level, listed := profile.Levels[p.Rule.ID]
		resumed := p.Store.ResumptionOf(f.Session)
		lost, newer := resumed.Loses[p.Rule.ID], resumed.Newer[p.Rule.ID]
		if !listed && p.Rule.Profiled && lost == "" {
			continue
		}
		j := Judgement{Profile: profile, Severity: f.Severity, Error: f.ProviderError}
		switch {
		case listed && f.Severity == p.Rule.Severity:
			j.Severity = level
		case listed: // the rule says of this one that it is less
			j.Severity = min(f.Severity, level)
		}
		if j.Error == "" && f.Profile == nil && f.Failing != nil {
			j.Error = f.Failing(profile)
		}
		asked := *f
		if lost != "" { // no request fails
			j.Severity, j.Error, j.Lost = min(j.Severity, Warning), "", true
			asked.AddSentence(p.Store.Title + " " + lost)
		}
		if newer != "" {
			asked.AddSentence(newer)
		}
		if what := p.runtimeAdaptation(profile); what != "" {
			if len(p.judge.Profiles) == 0 {
				continue // nobody asked, and the runtime sees to it
			}
			j.Severity, j.Error = Info, ""
			asked.Fixes, asked.Sent = nil, ""
			asked.AddSentence(p.Store.Title + " " + what)
		}
		p.addJudged(asked, j)
	}
}

// runtimeAdaptation is what the runtime does so that the provider does not mind what the
// rule finds, "" when it does nothing.
func (p *Pass) runtimeAdaptation(profile *Profile) string {
	if !p.Rule.Profiled {
		return ""
	}
	return p.Store.Adaptation(p.Rule.ID, profile.Name)
}

// addJudged adds a judged finding. What was found for another profile before is the
// same finding: the one that minds it most speaks, of several the first for which
// the runtime does not see to it.
func (p *Pass) addJudged(f Finding, j Judgement) {
	f.Profile, f.Severity, f.ProviderError, f.Failing = j.Profile, j.Severity, j.Error, nil
	at := place{f.Session, f.Ref, f.Nth}
	for _, i := range p.Indexes[at] {
		known := p.found[i]
		if known.hasJudged(j.Profile) {
			if known.viewer != f.viewer {
				return // one viewer has told of it
			}
			continue
		}
		f.Judged = append(known.Judged, j)
		if known.Severity == f.Severity {
			known.Items = ItemUnion(known.Items, f.Items)
			f.Items = known.Items
		}
		relieved := p.runtimeAdaptation(known.Profile) != "" && p.runtimeAdaptation(j.Profile) == ""
		if known.Severity > f.Severity || known.Severity == f.Severity && !relieved {
			known.Judged = f.Judged
			return
		}
		p.found[i] = &f
		return
	}
	f.Judged = []Judgement{j}
	p.indexPlace(at)
	p.found = append(p.found, &f)
}

// indexPlace notes where the next finding about a place will be.
func (p *Pass) indexPlace(at place) {
	if p.Indexes == nil { // most rules find nothing in most trees
		p.Indexes = map[place][]int{}
	}
	p.Indexes[at] = append(p.Indexes[at], len(p.found))
}

// place is what findings for several profiles have in common that are one.
type place struct {
	session *session.Session
	ref     session.Ref
	nth     int
}

// hasJudged reports whether a profile has judged the finding.
func (f *Finding) hasJudged(profile *Profile) bool {
	return slices.ContainsFunc(f.Judged, func(j Judgement) bool { return j.Profile == profile })
}

// ItemUnion are the items that one or the other finding names.
func ItemUnion(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// SortUnique sorts values, each once.
func SortUnique[T cmp.Ordered](values []T) []T {
	slices.Sort(values)
	return slices.Compact(values)
}

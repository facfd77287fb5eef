package branches

import (
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var branchMalformed = rules.Rule{
	ID: "SC710", Name: "branch-malformed", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a branch label with a dot too many, an unknown agent or a cut name",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		all, t := pathLabels(s), teamOf(s)
		for i := range all {
			if why := describeMalformed(s, t, all, i, p.Store.SilentLabels); why != "" {
				reportLabel(p, s, t, all, i, why)
			}
		}
	}),
}

// team are the agents that a session knows of.
type team struct {
	names  []string // sorted
	listed bool     // by the session itself, with those that never spoke
}

func teamOf(s *rules.Subject) team {
	names := map[string]bool{s.Agent: true}
	for _, name := range s.Agents {
		names[name] = true
	}
	if s.Agents == nil {
		for i := range s.Items {
			names[s.Items[i].Agent()] = true
		}
	}
	delete(names, "")
	return team{names: slices.Sorted(maps.Keys(names)), listed: s.Agents != nil}
}

func (t team) has(name string) bool {
	_, found := slices.BinarySearch(t.names, name)
	return found
}

// namesBeginning are the agents whose names begin with a text.
func (t team) namesBeginning(text string) []string {
	from, _ := slices.BinarySearch(t.names, text)
	to := from
	for to < len(t.names) && strings.HasPrefix(t.names[to], text) {
		to++
	}
	return t.names[from:to]
}

// describeMalformed says what is wrong with the label at an index, "" for nothing. Where
// labels may name groups that never speak, only a group that looks like an agent
// of another label is wrong.
func describeMalformed(s *rules.Subject, t team, all []label, i int, silent bool) string {
	l := &all[i]
	if l.isHollow() {
		return "has an empty segment. Runtimes do not agree on which agents are above it."
	}
	for n, segment := range l.segments {
		switch {
		case !t.listed || silent || isCounted(segment) || t.has(segment):
		case n == len(l.segments)-1:
			return "ends in " + rules.QuoteText(segment) + ", which is not an agent of the session"
		case len(t.namesBeginning(segment)) > 0:
			return "names " + rules.QuoteText(segment) + ", which is the beginning of an agent's name and not an agent of the session"
		}
	}
	agent := soleAgent(s, all, i)
	if t.listed && !silent || t.has(l.lastSegment()) || agent == l.lastSegment() || !strings.HasPrefix(agent, l.lastSegment()) {
		return ""
	}
	if silent && !hasLabel(all, l.withEnding(agent)) {
		return ""
	}
	return "ends in " + rules.QuoteText(l.lastSegment()) + ", but only " + rules.QuoteText(agent) + " speaks on it"
}

// hasLabel reports whether a list of labels has one of this text.
func hasLabel(all []label, text string) bool {
	_, found := slices.BinarySearchFunc(all, strings.Split(text, "."), func(l label, segments []string) int { return slices.Compare(l.segments, segments) })
	return found
}

// soleAgent is the one agent that speaks on a label and below it, "" where there
// is none or more than one.
func soleAgent(s *rules.Subject, all []label, i int) string {
	agent := ""
	for _, l := range labelsUnder(all, i) {
		for _, item := range l.items {
			switch by := s.Items[item].Agent(); {
			case by == "" || by == agent:
			case agent != "":
				return ""
			default:
				agent = by
			}
		}
	}
	return agent
}

// withEnding is the label with another last segment.
func (l *label) withEnding(segment string) string {
	return strings.TrimSuffix(l.text, l.lastSegment()) + segment
}

func reportLabel(p *rules.Pass, s *rules.Subject, t team, all []label, i int, why string) {
	l := &all[i]
	f := p.FindItems(s.Session, l.items)
	f.Message = "the branch " + rules.QuoteText(l.text) + " of " + rules.CountedNoun(len(l.items), "event") + " " + why
	f.SetFix(rules.Manual, "decide which agent the branch means")
	// Whoever sees what is said below the label sees what is said on it: to rename one
	// of them would part them.
	agent := soleAgent(s, all, i)
	if !l.isHollow() && len(labelsUnder(all, i)) == 1 && agent != l.lastSegment() && slices.Equal(t.namesBeginning(l.lastSegment()), []string{agent}) {
		f.Fixes = []rules.Fix{relabelFix(s, l, l.withEnding(agent))}
	}
	p.Report(f)
}

// relabelFix gives all items of a label another one.
func relabelFix(s *rules.Subject, l *label, to string) rules.Fix {
	fix := rules.Fix{Title: "set the branch to " + rules.QuoteText(to), Safety: rules.Lossless}
	for _, item := range l.items {
		fix.Edits = append(fix.Edits, session.Edit{Op: session.Set, Ref: s.ItemRef(item), Field: session.FieldBranch, Value: &to})
	}
	return fix
}

package delegation

import (
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var leakNoChild = rules.Rule{
	ID: "SC703", Name: "leak-no-child", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree | rules.PerComparison, Since: "0.1.0",
	Title: "a sub-agent's messages are stored in the parent, and it has no sub-session",
	Run: func(p *rules.Pass) {
		eachLeak(p, childMissing, func(s *rules.Subject, d *replay.Delegation) {
			f := findLeak(p, s, d)
			f.Message += "here, and " + rules.VerbForm(len(d.Leaked), "its", "their") + " sub-session was never saved"
			f.AddSentence(p.OtherCopies(d))
			title := "move " + rules.CountedNoun(len(d.Leaked), "message") + " into a new sub-session of call " + d.Call().ID
			f.Fixes = leakFixes(p, s, d, rules.Lossless, title)
			reportLeak(p, s, d, f)
		})
		reportHomeless(p)
	},
}

// reportHomeless reports the messages of which the store tells that the run of a sub-session stored
// them which is not there: it is made anew, below the session whose call named it.
func reportHomeless(p *rules.Pass) {
	for _, s := range p.Subjects {
		told := map[string]*rules.Finding{}
		for i := range s.Items {
			home := s.Items[i].Home()
			if home == "" || home == session.HomeUnknown || p.Tree.Session(home) != nil {
				continue
			}
			if told[home] == nil {
				f := p.FindItem(s.Session, i)
				f.Items = nil
				told[home] = &f
			}
			told[home].Items = append(told[home].Items, i)
		}
		for _, home := range slices.Sorted(maps.Keys(told)) {
			f, n := told[home], len(told[home].Items)
			f.Message = rules.CountedNoun(n, "message") + " of the run of sub-session " + rules.ShortID(home) + rules.VerbForm(n, " is", " are") + " stored here, and that sub-session does not exist"
			f.AddSentence("They are sent as if this session's agent had said them")
			renamed := slices.ContainsFunc(s.Replay.Delegations, func(d *replay.Delegation) bool { // SC704 comes first
				child, _ := unnamedChild(p, s, d)
				return child != nil && d.Call().Delegation.Child == home
			})
			if call, ok := callNaming(s.Session, home); ok && !renamed {
				f.Fixes = []rules.Fix{remakeFix(s, home, call, f.Items)}
			}
			p.Report(*f)
		}
	}
}

// callNaming is the call that names a sub-session: it may be away from home itself.
func callNaming(s *session.Session, home string) (session.CallRef, bool) {
	for i := range s.Items {
		for n, c := range s.Items[i].Calls {
			if c.Delegation != nil && c.Delegation.Child == home {
				return rules.CallRef(s, i, n), true
			}
		}
	}
	return session.CallRef{}, false
}

// remakeFix is the fix that makes a sub-session anew, with what is left of its messages.
func remakeFix(s *rules.Subject, home string, call session.CallRef, items []int) rules.Fix {
	edits, after := []session.Edit{{Op: session.Create, To: s.ID, NewID: home, Like: s.ID, Call: &call}}, session.Ref{}
	for _, i := range items {
		edits = append(edits, session.Edit{Op: session.Move, Ref: s.ItemRef(i), To: home, After: after})
		after = s.ItemRef(i)
	}
	return rules.Fix{Title: "make the sub-session anew, and move " + rules.CountedNoun(len(items), "message") + " there", Safety: rules.Lossless, Edits: edits}
}

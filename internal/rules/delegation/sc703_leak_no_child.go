package delegation

import (
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var leakNoChild = rules.Rule{
	ID: "SC703", Name: "leak-no-child", Severity: rules.Error, Safety: rules.Lossless, Allow: "prune", Scope: rules.PerTree | rules.PerComparison, Since: "0.1.0",
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
// them which is not there.
func reportHomeless(p *rules.Pass) {
	for _, s := range p.Subjects {
		told := map[string]*rules.Finding{}
		for i := range s.Items {
			home := s.Items[i].Home
			if home == "" || home == session.HomeUnknown || p.Tree.Session(home) != nil {
				continue
			}
			f := told[home]
			if f == nil {
				found := p.FindItem(s.Session, i)
				f = &found
				f.Items, f.Fixes = nil, []rules.Fix{{Title: "remove them; the receipt keeps them", Safety: rules.Kept, Allow: []string{"prune"}}}
				told[home] = f
			}
			f.Items = append(f.Items, i)
			f.Fixes[0].Edits = append(f.Fixes[0].Edits, session.Edit{Op: session.Quarantine, Ref: s.ItemRef(i)})
		}
		for _, home := range slices.Sorted(maps.Keys(told)) {
			f := told[home]
			n := len(f.Items)
			f.Message = rules.CountedNoun(n, "message") + rules.VerbForm(n, " is", " are") + " stored here that the run of sub-session " + rules.ShortID(home) + " stored, which does not exist"
			f.AddSentence("They are sent as if this session's agent had said them")
			p.Report(*f)
		}
	}
}

package branches

import (
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
)

var branchCase = rules.Rule{
	ID: "SC732", Name: "branch-case", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "branches that the database takes for one",
	Run: func(p *rules.Pass) {
		if !p.Store.FoldsBranches {
			return
		}
		for _, s := range p.Subjects {
			all := pathLabels(s)
			alike := sameFolded(all)
			for i := range all {
				if other, ok := alike[all[i].text]; ok {
					reportPattern(p, s, &all[i], "differs from "+rules.QuoteText(other)+" only in case, which the database overlooks. Agents on one of them are shown the events of the other.")
				}
			}
		}
	},
}

// sameFolded says of labels which other branch, of the session or above one of it, differs in case
// only: the first by its letters.
func sameFolded(all []label) map[string]string {
	forms := map[string][]string{} // branches, by their lower case
	known := map[string]bool{}
	for _, l := range all {
		for n := range l.segments {
			text := strings.Join(l.segments[:n+1], ".")
			if low := strings.ToLower(text); !known[text] {
				known[text], forms[low] = true, append(forms[low], text)
			}
		}
	}
	alike := map[string]string{}
	for _, l := range all {
		for _, other := range forms[strings.ToLower(l.text)] {
			if least, met := alike[l.text]; other != l.text && (!met || other < least) {
				alike[l.text] = other
			}
		}
	}
	return alike
}

package pairs

import "github.com/sessctl/sessctl/internal/rules"

var idReused = rules.Rule{
	ID: "SC202", Name: "id-reused", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a later turn uses the id of a call again",
	Run: func(p *rules.Pass) {
		reportReuses(p, false, " has the id of a call of an earlier message")
	},
}

package pairs

import "github.com/sessctl/sessctl/internal/rules"

var idReused = rules.Rule{
	ID: "SC202", Name: "id-reused", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call has the id of an earlier call",
	Run: func(p *rules.Pass) {
		reportReuses(p, false, " has the same id as a call of an earlier message")
	},
}

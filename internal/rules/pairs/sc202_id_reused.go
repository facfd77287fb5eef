package pairs

import "github.com/sessctl/sessctl/internal/rules"

var idReused = rules.Rule{
	ID: "SC202", Name: "id-reused", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call has the id of an earlier call",
	Run: func(p *rules.Pass) {
		reportReuses(p, false, " has the same id as a call of an earlier message")
	},
}

var duplicateIDInTurn = rules.Rule{
	ID: "SC201", Name: "duplicate-id-in-turn", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "two calls of one message have the same id",
	Run: func(p *rules.Pass) {
		reportReuses(p, true, " has the same id as another call of its message")
	},
}

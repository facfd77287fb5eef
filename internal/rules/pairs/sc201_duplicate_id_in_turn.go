package pairs

import "github.com/sessctl/sessctl/internal/rules"

var duplicateIDInTurn = rules.Rule{
	ID: "SC201", Name: "duplicate-id-in-turn", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "two calls of one message have the same id",
	Run: func(p *rules.Pass) {
		reportReuses(p, true, " has the same id as another call of its message")
	},
}

package pairs

import "github.com/sessctl/sessctl/internal/rules"

var duplicateIDInTurn = rules.Rule{
	ID: "SC201", Name: "duplicate-id-in-turn", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "one turn uses the id of a call twice",
	Run: func(p *rules.Pass) {
		reportReuses(p, true, " has the id of another call of the same message")
	},
}

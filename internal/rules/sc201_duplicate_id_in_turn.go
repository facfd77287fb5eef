package rules

var duplicateIDInTurn = Rule{
	ID: "SC201", Name: "duplicate-id-in-turn", Severity: Error, Safety: Lossless, Scope: PerTree, Since: "0.1.0",
	Title: "one turn uses the id of a call twice",
	Run: func(p *Pass) {
		reportReuses(p, true, " has the id of another call of the same message")
	},
}

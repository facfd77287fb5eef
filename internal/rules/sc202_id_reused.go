package rules

var idReused = Rule{
	ID: "SC202", Name: "id-reused", Severity: Warning, Safety: Lossless, Scope: PerTree, Since: "0.1.0",
	Title: "a later turn uses the id of a call again",
	Run: func(p *Pass) {
		reportReuses(p, false, " has the id of a call of an earlier message")
	},
}

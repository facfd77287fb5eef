package rules

import "github.com/sessctl/sessctl/internal/pairing"

var lateResult = Rule{
	ID: "SC104", Name: "late-result", Severity: Error, Safety: Lossless, Scope: PerTree, Since: "0.1.0",
	Title: "another turn stands between a call and its result",
	Run: func(p *Pass) {
		eachMisplaced(p, pairing.Late, "the result of call %s stands too late: another turn is in between")
	},
}

package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
)

var lateResult = rules.Rule{
	ID: "SC104", Name: "late-result", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "another turn is between a call and its result",
	Run: func(p *rules.Pass) {
		eachMisplaced(p, pairing.Late, "the result of call %s comes too late, after another turn")
	},
}

package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
)

var earlyResult = rules.Rule{
	ID: "SC105", Name: "early-result", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a result before its call",
	Run: func(p *rules.Pass) {
		eachMisplaced(p, pairing.Early, "the result of call %s comes before the call")
	},
}

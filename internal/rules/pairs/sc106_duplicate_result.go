package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
)

var duplicateResult = rules.Rule{
	ID: "SC106", Name: "duplicate-result", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call has the same result twice",
	Run: func(p *rules.Pass) {
		eachExtra(p, func(e pairing.Extra) bool { return e.Same && !e.Placeholder },
			"call %s has the same result twice",
			"remove the other copy; the receipt keeps it")
	},
}

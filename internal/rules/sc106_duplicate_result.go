package rules

import "github.com/sessctl/sessctl/internal/pairing"

var duplicateResult = Rule{
	ID: "SC106", Name: "duplicate-result", Severity: Error, Safety: Kept, Scope: PerTree, Since: "0.1.0",
	Title: "the same result twice",
	Run: func(p *Pass) {
		eachExtra(p, func(e pairing.Extra) bool { return e.Same && !e.Placeholder },
			"call %s has the same result twice",
			"take the other copy out of the session; it stays in the receipt")
	},
}

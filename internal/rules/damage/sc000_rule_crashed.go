package damage

import "github.com/sessctl/sessctl/internal/rules"

// ruleCrashed is reported by the engine when another rule panics; the run goes
// on and its result is incomplete.
var ruleCrashed = rules.Rule{
	ID: "SC000", Name: "rule-crashed", Severity: rules.Error, Safety: rules.None, Since: "0.1.0",
	Title: "a rule of sessctl itself crashed, so the result is incomplete",
}

// RuleCrashed is the rule that stands for a panic in another one.
func RuleCrashed() *rules.Rule { return &ruleCrashed }

package rules

// ruleCrashed is reported by the engine when another rule panics; the run goes
// on and its result is incomplete.
var ruleCrashed = Rule{
	ID: "SC000", Name: "rule-crashed", Severity: Error, Safety: None, Since: "0.1.0",
	Title: "a rule of sessctl itself crashed; the result is incomplete",
}

// RuleCrashed is the rule that stands for a panic in another one.
func RuleCrashed() *Rule { return &ruleCrashed }

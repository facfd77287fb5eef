package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var mixedDialects = rules.Rule{
	ID: "SC017", Name: "mixed-dialects", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "one session with the records of two different writers",
	Run:   rules.Faults(session.MixedDialects, rules.Detail),
}

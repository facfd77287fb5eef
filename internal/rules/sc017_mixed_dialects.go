package rules

import "github.com/sessctl/sessctl/internal/session"

var mixedDialects = Rule{
	ID: "SC017", Name: "mixed-dialects", Severity: Warning, Safety: None, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "one session with the records of two different writers",
	Run:   faults(session.MixedDialects, detail),
}

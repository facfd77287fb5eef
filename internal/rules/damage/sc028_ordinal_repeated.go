package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var ordinalRepeated = rules.Rule{
	ID: "SC028", Name: "ordinal-repeated", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a line has a number that an earlier line has, or a smaller one",
	Run: rules.ReportFaults(session.SharedOrdinal, func(found *rules.Finding, f *session.Fault) {
		rules.SetDetail(found, f)
		rules.SetDefault(found, f, rules.Lossless)
		for i := range found.Fixes {
			found.Fixes[i].Title = "number the lines anew from there on"
		}
	}),
}

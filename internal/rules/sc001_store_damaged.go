package rules

import (
	"cmp"

	"github.com/sessctl/sessctl/internal/session"
)

var storeDamaged = Rule{
	ID: "SC001", Name: "store-damaged", Severity: Error, Safety: Manual, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "the file is damaged, truncated, or part of its content is in a missing or torn WAL",
	Run: func(p *Pass) {
		faults(session.StoreDamaged, func(found *Finding, f *session.Fault) {
			detail(found, f)
			if way := cmp.Or(f.Remedy, p.Store.Recovery); way != "" {
				found.Fixes = []Fix{{Title: way, Safety: Manual}}
			}
		})(p)
	},
}

package damage

import (
	"cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var storeDamaged = rules.Rule{
	ID: "SC001", Name: "store-damaged", Severity: rules.Error, Safety: rules.Manual, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "the file is damaged, truncated, or part of its content is in a missing or torn WAL",
	Run: func(p *rules.Pass) {
		rules.Faults(session.StoreDamaged, func(found *rules.Finding, f *session.Fault) {
			rules.Detail(found, f)
			if way := cmp.Or(f.Remedy, p.Store.Recovery); way != "" {
				found.Fixes = []rules.Fix{{Title: way, Safety: rules.Manual}}
			}
		})(p)
	},
}

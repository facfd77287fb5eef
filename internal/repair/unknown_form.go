package repair

import (
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
)

// More records that do not decode than these, and a greater share of all items than one
// in so many, are not taken for damaged.
const (
	fewUnread   = 9
	unreadShare = 10
)

// unknown counts the records that are in a form which is not known and may not be taken
// out.
func (p *planner) unknown(found []*check.Finding) int {
	n := 0
	for _, f := range found {
		for i := range f.Fixes {
			fix := &f.Fixes[i]
			if !fix.Unread {
				continue
			}
			p.unread++
			if p.foreign && fix.Allow == nil {
				fix.Allow = []string{rules.UnknownForm}
			}
			if fix.Allow != nil && !p.opts.Allow[rules.UnknownForm] {
				n++
			}
		}
	}
	return n
}

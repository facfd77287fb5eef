package damage

import (
	"fmt"
	"strconv"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var staleIndexReference = rules.Rule{
	ID: "SC014", Name: "stale-index-reference", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "an index stored elsewhere points beyond the list of items",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		if len(s.IndexRefs) == 0 {
			return
		}
		loaded := int64(len(s.LoadedIndexes()))
		for _, r := range s.IndexRefs {
			if r.Index >= 0 && r.Index <= loaded {
				continue
			}
			f := p.FindSession(s.Session)
			f.Ref = r.Ref
			f.Message = fmt.Sprintf("%s is %d, but the session has %s", r.Field, r.Index, entryCount(int(loaded)))
			value := strconv.FormatInt(min(max(r.Index, 0), loaded), 10)
			f.SetFix(rules.Lossless, "set "+r.Field+" to "+value, session.Edit{Op: session.Set, Ref: r.Ref, Field: r.Field, Value: &value})
			p.Report(f)
		}
	}),
}

func entryCount(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

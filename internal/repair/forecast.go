package repair

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Forecast makes what a check says of repairs what a repair of the store with the same options
// would do: a fix that needs no word of --allow stays where a plan holds it, or where another
// fix of the plan takes the finding along; else it becomes one that a person makes, and says why.
type Forecast struct {
	ctx    context.Context
	st     store.Store
	opts   Options
	mu     sync.Mutex
	unread int // records in a form that is not known
}

// CannotMake begins the title of what is for a person because no plan holds it.
const CannotMake = "sessctl cannot make its repair: "

// NewForecast is for a check of a store. Rules, Session and Allow of the options are not used.
func NewForecast(ctx context.Context, st store.Store, opts Options) *Forecast {
	opts.Rules, opts.Session, opts.Allow = nil, "", nil
	return &Forecast{ctx: ctx, st: st, opts: opts}
}

// MarkTree is for check.Options.Fixes.
func (c *Forecast) MarkTree(tree *session.Tree, found []*check.Finding) {
	c.planFixes(tree, found)
	for _, f := range found {
		followCauses(tree, f, found)
	}
}

// followCauses gives recorded refusals, which a repair takes out once nothing is left that they are
// about, the words that the repair of it needs.
func followCauses(tree *session.Tree, f *check.Finding, found []*check.Finding) {
	fix := rules.Fix{Safety: rules.Kept}
	var causes []string
	for _, cause := range found {
		if !f.HasCause(cause) {
			continue
		}
		if !cause.IsRepairable() && cause.AllowWords() == nil {
			return
		}
		causes, fix.Allow = append(causes, cause.Rule.ID), append(fix.Allow, cause.AllowWords()...)
	}
	if len(causes) == 0 || f.Severity == rules.Info || len(f.Fixes) > 0 {
		return
	}
	slices.Sort(causes)
	slices.Sort(fix.Allow)
	fix.Title, fix.Allow = "the repair of "+strings.Join(slices.Compact(causes), ", ")+" takes this out as well", slices.Compact(fix.Allow)
	for _, i := range f.Items {
		fix.Edits = append(fix.Edits, session.Edit{Op: session.Quarantine, Ref: tree.Session(f.Session).ItemRef(i)})
	}
	f.Fixes = []rules.Fix{fix}
}

// planFixes makes the plan of a tree, and says of each finding what becomes of it there.
func (c *Forecast) planFixes(tree *session.Tree, found []*check.Finding) {
	if !slices.ContainsFunc(found, (*check.Finding).IsRepairable) || tree.Live() {
		return
	}
	p := newPlanner(c.ctx, c.st, c.opts)
	p.planOrRefuse(tree, check.RunTree(p.facts, tree, catalogue.UsualRules(), c.opts.Judge))
	c.mu.Lock()
	c.unread += p.unread
	c.mu.Unlock()
	if p.err != nil {
		return
	}
	made, left := map[string]*Fix{}, map[check.Identity]bool{}
	planned := p.planned[tree.Root().ID]
	if planned != nil {
		for i := range planned.Fixes {
			f := &planned.Fixes[i]
			made[f.Rule+f.Fingerprint] = f
		}
		for _, f := range planned.After {
			left[f.Identity()] = true
		}
	}
	for _, f := range found {
		fix := made[f.Rule.ID+f.Fingerprint]
		switch {
		case fix != nil && !f.IsRepairable(): // once what it waits for is repaired
			f.Fixes = []rules.Fix{fix.Fix}
			continue
		case fix != nil || !f.IsRepairable() || planned != nil && !left[f.Identity()]:
			continue
		}
		if why, allow := p.whyNot(f); allow != "" {
			f.Fixes = withWord(allow, f.Fixes)
		} else {
			waiting := slices.DeleteFunc(slices.Clone(f.Fixes), func(fix rules.Fix) bool { return len(fix.Allow) == 0 })
			f.Fixes = append([]rules.Fix{{Title: CannotMake + why, Safety: rules.Manual}}, waiting...)
		}
	}
}

// withWord are fixes that need a word of --allow besides.
func withWord(word string, fixes []rules.Fix) []rules.Fix {
	list := slices.Clone(fixes)
	for i := range list {
		list[i].Allow = append(slices.Clone(list[i].Allow), word)
	}
	return list
}

// MarkStore is for the findings of the whole check: see MakePlan on records that another program wrote.
func (c *Forecast) MarkStore(result *check.Result) {
	if !manyUnread(c.unread, result) {
		return
	}
	foreign := map[string]bool{} // by root
	for _, f := range result.Findings {
		for i := range f.Fixes {
			if f.Fixes[i].Unread && f.Fixes[i].Allow == nil {
				f.Fixes = withWord(rules.UnknownForm, f.Fixes)
				foreign[f.Root.ID] = true
			}
		}
	}
	for _, f := range result.Findings {
		if f.Root != nil && foreign[f.Root.ID] && f.IsRepairable() {
			f.Fixes = withWord(rules.UnknownForm, f.Fixes)
		}
	}
}

// whyNot says why the fix of a finding is not in the plan, and the word of --allow that would
// put it there, "" for none.
func (p *planner) whyNot(f *check.Finding) (why, allow string) {
	why = "the repair of something else in this session is in its way"
	for _, r := range p.plan.Refused {
		if r.Rule == "" || r.Rule == f.Rule.ID {
			why, allow = r.Why, r.Allow
		}
	}
	for _, l := range p.left {
		if l.Rule == f.Rule.ID && l.Fingerprint == f.Fingerprint {
			why = l.why.Error()
		}
	}
	return why, allow
}

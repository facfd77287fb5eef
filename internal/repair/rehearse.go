package repair

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// rehearsal asks a store whether it can write the fixes that are planned for a tree. What
// it cannot write is left out, and the others are made.
type rehearsal struct {
	*planner
	tree *session.Tree // as it is stored
	left map[string]bool
}

// keyOf tells fixes apart, in one round and the next.
func keyOf(f Fix) string { return f.Rule + " " + f.Fingerprint + " " + f.Title }

// without are the fixes that were not left out.
func (r *rehearsal) without(list []Fix) []Fix {
	return slices.DeleteFunc(list, func(f Fix) bool { return r.left[keyOf(f)] })
}

// writable are those of some fixes that the store can write behind the planned ones, all
// together. It halves what the store does not take until that is one fix.
func (r *rehearsal) writable(planned, list []Fix) []Fix {
	asked, ok := r.st.(store.Rehearser)
	if !ok || len(list) == 0 {
		return list
	}
	all := slices.Concat(planned, list)
	c, err := (&Tree{Root: r.tree.Root().ID, Fixes: all}).carryOut(r.tree, r.opts.Prologue, r.st)
	if err == nil {
		err = asked.Rehearse(r.ctx, &c.Change)
	}
	switch {
	case err == nil || r.ctx.Err() != nil:
		return list
	case len(list) == 1:
		r.left[keyOf(list[0])] = true
		r.leaveOut(r.tree, list[0].Rule, err.Error())
		return nil
	}
	half := len(list) / 2
	fit := r.writable(planned, list[:half])
	return slices.Concat(fit, r.writable(slices.Concat(planned, fit), list[half:]))
}

// leaveOut notes a fix that is left out, with the first reason of those of one rule.
func (p *planner) leaveOut(tree *session.Tree, rule, why string) {
	for i := range p.plan.Refused {
		if of := &p.plan.Refused[i]; of.Root == tree.Root().ID && of.Rule == rule {
			of.Count++
			return
		}
	}
	p.plan.Refused = append(p.plan.Refused, Refused{Root: tree.Root().ID, Rule: rule, Count: 1, Why: why})
}

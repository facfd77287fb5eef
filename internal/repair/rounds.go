package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// planTree plans the repair of a tree. It returns nil when there is nothing that can be done.
func (p *planner) planTree(tree *session.Tree, found []*check.Finding) (*Tree, error) {
	texts := usedRows(p.chooseFixes(found), true)
	if p.opts.EachTree != nil || p.facts.NeedsAll || isDamaged(tree) {
		texts = nil
	}
	if err := fillItems(p.ctx, p.st, tree, texts); err != nil {
		return nil, err
	}
	sums, err := sumsOf(p.ctx, p.st, tree)
	if err != nil {
		return nil, err
	}
	if why := outOfReach(tree, sums, rowsOf(sums)); sums != nil && why != "" {
		return nil, errors.New(why)
	}
	planned, enough, err := p.planRounds(tree, found, sums, texts)
	if !enough {
		if err = fillItems(p.ctx, p.st, tree, nil); err == nil {
			planned, _, err = p.planRounds(tree, found, sums, nil)
		}
	}
	return planned, err
}

// isDamaged reports whether some of a tree cannot be read. Then all that can is read before a
// repair is planned.
func isDamaged(tree *session.Tree) bool {
	damaged := func(f session.Fault) bool { return f.Kind == session.StoreDamaged }
	return slices.ContainsFunc(tree.Sessions, func(s *session.Session) bool { return slices.ContainsFunc(s.Faults, damaged) })
}

// planRounds plans round by round until no round finds anything to do. It returns nil when there is
// nothing that can be done, and false when texts, the rows of the items that have theirs, is not
// enough for what a later round would change; nil for all.
func (p *planner) planRounds(tree *session.Tree, found []*check.Finding, sums map[string]store.Sum, texts map[string]bool) (_ *Tree, enough bool, _ error) {
	t := &Tree{Root: tree.Root().ID, Title: tree.Root().Title, Items: tree.Items(), Sums: recordDigests(sums), Before: found, After: found}
	now, origin, stored := tree, newOrigin(tree), rowsOf(sums)
	seen := map[string]bool{stateOf(tree): true}
	without := withoutFix(found)
	r := rehearsal{planner: p, tree: tree}
	var later map[string]int // what another repair will have to do, by rule
	for round := range maxRounds {
		chosen := r.withoutLeftOut(p.chooseFixes(t.After))
		if texts != nil && !hasRows(texts, usedRows(chosen, true)) {
			return nil, false, nil
		}
		made, next := p.makeRound(now, chosen, stored)
		for i := range made {
			made[i].Round = round
		}
		if fit := r.selectWritable(t.Fixes, made); !slices.EqualFunc(fit, made, sameFix) {
			if made, next = p.makeRound(now, fit, stored); len(made) == 0 {
				continue // others may have been left out for these
			}
		}
		state := stateOf(next)
		if len(made) == 0 || seen[state] { // nothing to do, or in a circle
			if r.retryLeftOut(len(t.Fixes)) {
				continue
			}
			break
		}
		items := itemsByRow(now)
		for _, f := range made {
			f.Steps = origin.describeSteps(items, f.Edits)
			t.Fixes = append(t.Fixes, f)
		}
		now, seen[state] = next, true
		t.After = keepFingerprints(found, foreseenFindings(p.facts, now, p.opts.Judge))
		later = p.withholdFixes(t.After, without)
	}
	defer r.noteRefused()
	if worse := introducedFinding(tree, found, t.After); worse != nil {
		return nil, true, fmt.Errorf("its repair would cause a new finding of %s", worse.Rule.ID)
	}
	if len(t.Fixes) == 0 {
		return nil, true, nil
	}
	p.noteLater(t.Root, later)
	keepWithoutCopy(t.Fixes)
	t.First, t.Appends = firstChanged(tree, now), onlyAppends(tree, now, t.Fixes)
	if p.opts.EachTree != nil {
		p.opts.EachTree(t, tree, now)
	}
	return t, true, nil
}

// noteLater notes what another repair of a tree will have to do, by rule.
func (p *planner) noteLater(root string, later map[string]int) {
	for _, rule := range sortedKeys(later) {
		p.plan.Later = append(p.plan.Later, Later{Root: root, Rule: rule, Count: later[rule]})
	}
}

// outOfReach says which record of a tree the store does not find by its key, so that no
// repair can write it; "" when all are found.
func outOfReach(tree *session.Tree, sums map[string]store.Sum, stored map[string]string) string {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if it := &s.Items[i]; stored[it.Key] == "" {
				return "its messages are stored only in " + it.Table() + ", under a key that a repair cannot use"
			}
		}
		if sums[s.ID].Record == "" {
			return fmt.Sprintf("the id of session %q is not stored as text in its own record or in one of its messages", s.ID)
		}
	}
	return ""
}

// sumsOf are the digests of the sessions of a tree, nil where the store has none.
func sumsOf(ctx context.Context, st store.Store, tree *session.Tree) (map[string]store.Sum, error) {
	summer, ok := st.(store.Summer)
	if !ok {
		return nil, nil
	}
	return summer.Sums(ctx, sessionIDs(tree))
}

func sessionIDs(tree *session.Tree) []string {
	return lists.MapEach(tree.Sessions, func(s *session.Session) string { return s.ID })
}

// withoutFix are the findings that have no fix.
func withoutFix(found []*check.Finding) map[check.Identity]bool {
	without := map[check.Identity]bool{}
	for _, f := range found {
		if len(f.Fixes) == 0 {
			without[f.Identity()] = true
		}
	}
	return without
}

// withholdFixes takes the fixes that have to be allowed from findings that had no fix in what
// is stored: where other repairs clear what was in the way of such a fix, they may have
// cleared the evidence against it, too, and so a person looks at it first. It counts those
// that another repair would make, by rule.
func (p *planner) withholdFixes(found []*check.Finding, without map[check.Identity]bool) map[string]int {
	later := map[string]int{}
	for _, f := range found {
		if !without[f.Identity()] {
			continue
		}
		waits := func(fix rules.Fix) bool { return len(fix.Allow) > 0 }
		if slices.ContainsFunc(f.Fixes, func(fix rules.Fix) bool { return waits(fix) && p.isAllowed(fix) }) && p.selected[f.Rule] {
			later[f.Rule.ID]++
		}
		f.Fixes = slices.DeleteFunc(f.Fixes, waits)
	}
	return later
}

// keepFingerprints gives findings about an edited tree the fingerprints that they had in what is
// stored: an edit moves the places by which a stream names its records.
func keepFingerprints(stored, after []*check.Finding) []*check.Finding {
	fingerprints := map[check.Identity]string{}
	for _, f := range stored {
		fingerprints[f.Identity()] = f.Fingerprint
	}
	for _, f := range after {
		f.Fingerprint = cmp.Or(fingerprints[f.Identity()], f.Fingerprint)
	}
	return after
}

// chooseFixes lists the fixes that may be made, in the order of their findings.
func (p *planner) chooseFixes(found []*check.Finding) []Fix {
	var list []Fix
	for _, f := range found {
		if !p.selected[f.Rule] {
			continue
		}
		left := f.IsAccepted() && !p.opts.Named // but for what was allowed by its word
		for _, fix := range f.Fixes {
			if p.isAllowed(fix) && (!left || len(fix.Allow) > 0) {
				list = append(list, Fix{Rule: f.Rule.ID, Fingerprint: f.Fingerprint, Place: f.Place, Fix: fix})
				break
			}
		}
	}
	return list
}

func (p *planner) isAllowed(fix rules.Fix) bool {
	denied := func(word string) bool { return !p.opts.Allow[word] }
	if len(fix.Edits) == 0 || slices.ContainsFunc(fix.Allow, denied) {
		return false
	}
	switch fix.Safety {
	case rules.Lossless, rules.Kept:
		return true
	case rules.Lossy:
		return p.opts.Allow["lossy"]
	}
	return false
}

// makeRound makes the fixes that do not get into each other's way, and returns them
// with the tree that they make.
func (p *planner) makeRound(tree *session.Tree, chosen []Fix, stored map[string]string) ([]Fix, *session.Tree) {
	// What is no text is mended first: until then no part of its record can be
	// taken out of it.
	slices.SortStableFunc(chosen, func(a, b Fix) int { return cmp.Compare(countScrubs(b), countScrubs(a)) })
	for {
		d, c := newDraft(tree, p.opts.Prologue), newClaims()
		var made []Fix
		failed := -1
		for i, f := range chosen {
			if c.conflictsWith(f.Edits) {
				continue
			}
			f.Edits = keepUnequal(f.Edits, stored)
			joins := d.joins
			if d.applyFix(f.Edits) != nil {
				failed = i // the draft is void: once more, without it
				break
			}
			c.claimEdits(f.Edits)
			f.Joins = d.joins > joins
			made = append(made, f)
		}
		if failed < 0 {
			return made, relateItems(p.st, d.buildTree())
		}
		chosen = append(append([]Fix{}, chosen[:failed]...), chosen[failed+1:]...)
	}
}

// keepUnequal turns the removal of a twin into quarantine where the two records
// say the same but are not stored as the same bytes: then the receipt keeps what
// the surviving one lacks.
func keepUnequal(edits []session.Edit, stored map[string]string) []session.Edit {
	list := make([]session.Edit, len(edits))
	for i, e := range edits {
		if e.Op == session.RemoveTwin && (stored[e.Ref.Key] == "" || stored[e.Ref.Key] != stored[e.Twin.Key]) {
			e.Op = session.Quarantine
		}
		list[i] = e
	}
	return list
}

// keepWithoutCopy turns the removal of a twin into quarantine where its copy
// leaves in a later round: then nothing that stays has the same bytes.
func keepWithoutCopy(fixes []Fix) {
	left := map[string]*session.Place{} // where a copy of what left stays, by the record that left
	for i := len(fixes) - 1; i >= 0; i-- {
		edits, steps := fixes[i].Edits, fixes[i].Steps
		for n := len(edits) - 1; n >= 0; n-- {
			e, step := &edits[n], &steps[n]
			if e.Op != session.RemoveTwin && e.Op != session.Quarantine {
				continue
			}
			if copied, gone := left[wholeRow(e.Twin)]; gone {
				e.Op, step.Op, step.Twin = session.Quarantine, session.Quarantine, copied
			}
			left[wholeRow(e.Ref)] = step.Twin
		}
	}
}

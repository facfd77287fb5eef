package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var siblingIsolation = Rule{
	ID: "SC810", Name: "sibling-isolation", Severity: Warning, Safety: None, Scope: PerTree, Optional: true, Since: "0.1.0",
	Title: "a sub-session holds what only its sibling can have produced",
	Run: func(p *Pass) {
		copies := p.siblingCopies()
		for _, s := range p.ownSpawns() {
			p.reportSiblings(s.child, copies[s.child])
		}
	},
}

// siblingCopy is an item of a child that only a sibling can have produced.
type siblingCopy struct {
	item int
	from *produced
}

// reportSiblings reports the copies of a child, those of one sibling together.
func (p *Pass) reportSiblings(child *Subject, copies []siblingCopy) {
	found := map[*Subject][]int{}
	var from []*Subject
	see := map[*Subject][]session.Place{}
	for _, c := range copies {
		by := c.from.by
		if found[by] == nil {
			from = append(from, by)
		}
		found[by] = append(found[by], c.item)
		see[by] = append(see[by], by.At(c.from.item))
	}
	for _, sibling := range from {
		f := p.find(child.Session, found[sibling][0])
		f.Items, f.Related = found[sibling], see[sibling]
		f.Message = count(len(f.Items), "item") + " of " + child.whoseName() + " can only come from its sibling " + sibling.whoseName()
		p.Report(f)
	}
}

// produced is something that one of several siblings produced.
type produced struct {
	by   *Subject
	item int
}

// siblingResult is a result by what it says, and to which call.
type siblingResult struct {
	call string
	text session.Digest
}

// spoken is a message by what it says, and the agent of its session.
type spoken struct {
	meaning session.Digest
	agent   string
}

// family is what the children of one parent produced.
type family struct {
	said    map[session.Digest][]produced // by meaning
	own     map[spoken][]produced         // by meaning and whose session it is
	results map[siblingResult][]produced
}

// siblingCopies looks in each child for what its siblings produced. That both hold
// equal records tells nothing: they may have had the same task. What tells is that a
// child cannot have produced its own.
func (p *Pass) siblingCopies() map[*Subject][]siblingCopy {
	families := map[*Subject]*family{}
	list := p.ownSpawns()
	for _, s := range list {
		if families[s.parent] == nil {
			families[s.parent] = &family{map[session.Digest][]produced{}, map[spoken][]produced{}, map[siblingResult][]produced{}}
		}
		families[s.parent].add(s.child)
	}
	found := map[*Subject][]siblingCopy{}
	for _, s := range list {
		if s.child.Forked {
			continue
		}
		for i := range s.child.Items {
			if s.child.Replay.Steps[i].Action != replay.Persist {
				continue // a leak is told as one
			}
			if from := families[s.parent].origin(&s, i); from != nil {
				found[s.child] = append(found[s.child], siblingCopy{i, from})
			}
		}
	}
	return found
}

func (f *family) add(s *Subject) {
	for i := range s.Items {
		if it := &s.Items[i]; it.OnWire() && it.Meaning != 0 && s.Replay.Steps[i].Action == replay.Persist {
			f.said[it.Meaning] = append(f.said[it.Meaning], produced{s, i})
			by := spoken{it.Meaning, s.agentName()}
			f.own[by] = append(f.own[by], produced{s, i})
		}
	}
	for _, pair := range s.Pairs.Pairs {
		if key, telling := siblingResultOf(s.result(pair.Result)); telling {
			f.results[key] = append(f.results[key], produced{s, pair.Result.Item})
		}
	}
}

// siblingResultOf is the key of a result that says something.
func siblingResultOf(r *session.Result) (siblingResult, bool) {
	return siblingResult{r.CallID, r.Digest}, r.CallID != "" && r.Digest != 0 && !r.IsError && !r.Synthetic
}

// origin is the sibling's item that the child's item at index i is a copy of, nil
// when the child can have produced it itself.
func (f *family) origin(s *spawn, i int) *produced {
	it := &s.child.Items[i]
	var from []produced
	switch {
	case s.child.isForeignResult(i):
		for n := range it.Results {
			if key, telling := siblingResultOf(&it.Results[n]); telling {
				from = append(from, f.results[key]...)
			}
		}
	case it.OnWire() && s.isBefore(i):
		from = f.said[it.Meaning]
	case it.OnWire() && s.isStranger(i):
		from = f.own[spoken{it.Meaning, it.Agent}]
	}
	n := slices.IndexFunc(from, func(o produced) bool { return o.by != s.child })
	if n < 0 {
		return nil
	}
	return &from[n]
}

// isForeignResult reports whether the item holds a result of no call of the session.
func (s *Subject) isForeignResult(i int) bool {
	return slices.ContainsFunc(s.Pairs.Orphans, func(at pairing.Occurrence) bool { return at.Item == i })
}

// isBefore reports whether the item is older than the call that started the child. What
// a runtime writes at the start of every child does not count.
func (s *spawn) isBefore(i int) bool {
	it := &s.child.Items[i]
	called := s.parent.Items[s.Item].Time
	return it.Role != session.System && !it.Flags.Has(session.Implicit) && !it.Time.IsZero() && !called.IsZero() &&
		it.Time.Before(called.Add(-timeResolution))
}

// isStranger reports whether the item carries another agent's name than the child's,
// which handed over to nobody.
func (s *spawn) isStranger(i int) bool {
	it := &s.child.Items[i]
	if it.Role != session.Assistant || it.Agent == "" || it.Agent == s.child.agentName() {
		return false
	}
	return !slices.ContainsFunc(s.child.Items[:i], func(earlier session.Item) bool {
		return earlier.Agent == s.child.agentName() && passesOn(&earlier)
	})
}

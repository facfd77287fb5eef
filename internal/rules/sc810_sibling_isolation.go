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
		siblings := map[*Subject][]spawn{}
		var parents []*Subject
		for _, s := range p.ownSpawns() {
			if siblings[s.parent] == nil {
				parents = append(parents, s.parent)
			}
			siblings[s.parent] = append(siblings[s.parent], s)
		}
		for _, parent := range parents {
			p.reportSiblings(siblings[parent])
		}
	},
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

// family is what the children of one parent produced.
type family struct {
	said    map[session.Digest][]produced // by meaning
	results map[siblingResult][]produced
}

// reportSiblings looks in each child for what its siblings produced. That both hold
// equal records tells nothing: they may have had the same task. What tells is that a
// child cannot have produced its own.
func (p *Pass) reportSiblings(list []spawn) {
	if len(list) < 2 {
		return
	}
	all := family{map[session.Digest][]produced{}, map[siblingResult][]produced{}}
	for _, s := range list {
		all.add(s.child)
	}
	for _, s := range list {
		if s.child.Forked {
			continue
		}
		found := map[*Subject][]int{}
		var from []*Subject
		see := map[*Subject][]Place{}
		for i := range s.child.Items {
			if s.child.Replay.Steps[i].Action != replay.Persist {
				continue // a leak is told as one
			}
			origin := all.origin(&s, i)
			if origin == nil {
				continue
			}
			if found[origin.by] == nil {
				from = append(from, origin.by)
			}
			found[origin.by] = append(found[origin.by], i)
			see[origin.by] = append(see[origin.by], Place{Session: origin.by.ID, Item: origin.item})
		}
		for _, sibling := range from {
			f := p.find(s.child.Session, found[sibling][0])
			f.Items, f.Related = found[sibling], see[sibling]
			f.Message = count(len(f.Items), "item") + " of " + s.child.whoseName() + " can only come from its sibling " + sibling.whoseName()
			p.Report(f)
		}
	}
}

func (f *family) add(s *Subject) {
	for i := range s.Items {
		if it := &s.Items[i]; it.OnWire() && it.Meaning != 0 && s.Replay.Steps[i].Action == replay.Persist {
			f.said[it.Meaning] = append(f.said[it.Meaning], produced{s, i})
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
	case it.OnWire() && (s.isBefore(i) || s.isStranger(i)):
		from = f.said[it.Meaning]
	}
	n := slices.IndexFunc(from, func(o produced) bool {
		return o.by != s.child && (s.isBefore(i) || it.Role != session.Assistant || o.by.agentName() == it.Agent)
	})
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
		return earlier.Agent == s.child.agentName() && slices.ContainsFunc(earlier.Calls, func(c session.Call) bool { return handsOver(c.Name) })
	})
}

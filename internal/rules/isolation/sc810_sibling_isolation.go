package isolation

import (
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var siblingIsolation = rules.Rule{
	ID: "SC810", Name: "sibling-isolation", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Since: "0.1.0",
	Title: "a sub-session contains items that only its sibling can have produced",
	Run: func(p *rules.Pass) {
		copies := siblingCopies(p)
		for _, s := range delegation.OwnSpawns(p) {
			reportSiblings(p, s.To, copies[s.To])
		}
	},
}

// siblingCopy is an item of a child that only a sibling can have produced.
type siblingCopy struct {
	item int
	from *produced
}

// reportSiblings reports the copies of a child, those of one sibling together.
func reportSiblings(p *rules.Pass, child *rules.Subject, copies []siblingCopy) {
	for _, theirs := range lists.GroupBy(copies, func(c siblingCopy) *rules.Subject { return c.from.by }) {
		f := p.FindItems(child.Session, lists.MapEach(theirs, func(c siblingCopy) int { return c.item }))
		f.Related = lists.MapEach(theirs, func(c siblingCopy) session.Place { return c.from.by.ItemPlace(c.from.item) })
		f.Message = rules.CountedNoun(len(theirs), "item") + " of " + whoseName(child) + " can only come from its sibling " + whoseName(theirs[0].from.by)
		p.Report(f)
	}
}

// produced is something that one of several siblings produced.
type produced struct {
	by   *rules.Subject
	item int
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
	results map[answered][]produced
}

// siblingCopies looks in each child for what its siblings produced. That both hold
// equal records tells nothing: they may have had the same task. What tells is that a
// child cannot have produced its own.
func siblingCopies(p *rules.Pass) map[*rules.Subject][]siblingCopy {
	families := map[*rules.Subject]*family{}
	list := delegation.OwnSpawns(p)
	for _, s := range list {
		if families[s.From] == nil {
			families[s.From] = &family{map[session.Digest][]produced{}, map[spoken][]produced{}, map[answered][]produced{}}
		}
		families[s.From].addMember(s.To)
	}
	found := map[*rules.Subject][]siblingCopy{}
	for _, s := range list {
		if s.To.Forked {
			continue
		}
		for i := range s.To.OwnItems() { // a leak is told as one
			if from := families[s.From].findOrigin(&s, i); from != nil {
				found[s.To] = append(found[s.To], siblingCopy{i, from})
			}
		}
	}
	return found
}

func (f *family) addMember(s *rules.Subject) {
	for i, it := range s.OwnItems() {
		if it.OnWire() && it.Meaning != 0 {
			f.said[it.Meaning] = append(f.said[it.Meaning], produced{s, i})
			by := spoken{it.Meaning, agentName(s)}
			f.own[by] = append(f.own[by], produced{s, i})
		}
	}
	for _, pair := range s.Pairs.Pairs {
		if key, telling := siblingResultOf(s.ResultAt(pair.Result)); telling {
			f.results[key] = append(f.results[key], produced{s, pair.Result.Item})
		}
	}
}

// siblingResultOf is the key of a result that says something.
func siblingResultOf(r *session.Result) (answered, bool) {
	return answered{r.CallID, r.Digest}, r.CallID != "" && r.Digest != 0 && !r.IsError && !r.Synthetic
}

// findOrigin finds the sibling's item that the child's item at index i is a copy of, nil
// when the child can have produced it itself.
func (f *family) findOrigin(s *delegation.Spawn, i int) *produced {
	it := &s.To.Items[i]
	var from []produced
	switch {
	case isForeignResult(s.To, i):
		for n := range it.Results {
			if key, telling := siblingResultOf(&it.Results[n]); telling {
				from = append(from, f.results[key]...)
			}
		}
	case it.OnWire() && isBefore(s, i):
		from = f.said[it.Meaning]
	case it.OnWire() && isStranger(s, i):
		from = f.own[spoken{it.Meaning, it.Agent()}]
	}
	n := slices.IndexFunc(from, func(o produced) bool { return o.by != s.To })
	if n < 0 {
		return nil
	}
	return &from[n]
}

// isForeignResult reports whether the item holds a result of no call of the session.
func isForeignResult(s *rules.Subject, i int) bool {
	return slices.ContainsFunc(s.Pairs.Orphans, func(at pairing.Occurrence) bool { return at.Item == i })
}

// isBefore reports whether the item is older than the call that started the child. What
// a runtime writes at the start of every child does not count.
func isBefore(s *delegation.Spawn, i int) bool {
	it := &s.To.Items[i]
	return it.Role != session.System && !it.Flags.Has(session.Implicit) && isOlder(s, it)
}

// isStranger reports whether the item carries another agent's name than the child's,
// which handed over to nobody.
func isStranger(s *delegation.Spawn, i int) bool {
	it := &s.To.Items[i]
	if it.Role != session.Assistant || it.Agent() == "" || it.Agent() == agentName(s.To) {
		return false
	}
	return !slices.ContainsFunc(s.To.Items[:i], func(earlier session.Item) bool {
		return earlier.Agent() == agentName(s.To) && passesOn(&earlier)
	})
}

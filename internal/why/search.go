package why

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Candidate is a root session that a question may mean.
type Candidate struct {
	Store   string // the path of its store
	ID      string
	Title   string
	Touched time.Time // the newest time in it or below it; zero where none is known
	Broken  bool      // a check finds an error in it or below it
	Below   []string  // the ids of its sub-sessions
	Call    *session.Place

	fit fit
}

// fit is how well a session fits an error text: the parts from the most telling one on.
type fit struct{ ids, sessions, recorded, refused, message, rule int }

func (a fit) compareFit(b fit) int {
	return cmp.Or(cmp.Compare(a.ids, b.ids), cmp.Compare(a.sessions, b.sessions), cmp.Compare(a.recorded, b.recorded), cmp.Compare(a.refused, b.refused), cmp.Compare(a.message, b.message), cmp.Compare(a.rule, b.rule))
}

// Searched is a store that was searched.
type Searched struct {
	Store    string `json:"store"`
	Sessions int    `json:"sessions"`         // root sessions in it that were read
	Trouble  string `json:"trouble,omitzero"` // why not all of it was read; left out when it was
	Left     int    `json:"left,omitzero"`    // older root sessions that were not read, because the store is large; else left out
	// true when the error is of another runtime than the one that the store is of, so that only ids
	// were looked for; else left out
	Foreign bool `json:"foreign,omitzero"`
}

// Search remembers of every session that passes by how it fits the question.
type Search struct {
	Asked  *errtext.Error // nil where the question names no error and no call
	Found  []Candidate
	Stores []Searched

	kept [3]kept // the newest, the newest broken one, and the one that fits best
}

// kept is a candidate that may be chosen.
type kept struct {
	Candidate
	tree *session.Tree
}

// Add takes in a tree and what was found in it. In a store that is foreign to the error, only
// an id leads to a session.
func (s *Search) Add(store string, foreign bool, tree *session.Tree, found []*check.Finding) {
	parts := tree.Conversations()
	for _, part := range parts {
		of := found
		if len(parts) > 1 {
			of = slices.DeleteFunc(slices.Clone(found), func(f *check.Finding) bool { return f.Session != "" && part.Session(f.Session) == nil })
		}
		s.addConversation(store, foreign, part, of, tree)
	}
}

// addConversation takes in what belongs to one root of a tree (whole).
func (s *Search) addConversation(store string, foreign bool, tree *session.Tree, found []*check.Finding, whole *session.Tree) {
	root := tree.Root()
	c := Candidate{Store: store, ID: root.ID, Title: root.Title, Touched: lastTouched(tree)}
	for _, below := range tree.Sessions[1:] {
		c.Below = append(c.Below, below.ID)
	}
	c.Broken = slices.ContainsFunc(found, func(f *check.Finding) bool { return f.Severity == rules.Error })
	if s.Asked != nil {
		c.fit.ids, c.Call = countCalls(tree, s.Asked.IDs)
		for _, one := range tree.Sessions {
			if slices.Contains(s.Asked.Words, one.ID) {
				c.fit.sessions++
			}
			if !foreign && s.Asked.Text != "" && holdsRefusal(one, s.Asked.Text) {
				c.fit.recorded = 1
			}
		}
		for _, f := range found {
			if !foreign {
				c.raiseFit(s.Asked, f)
			}
		}
	}
	s.Found = append(s.Found, c)
	for i, better := range [...]func(old *Candidate) bool{
		func(old *Candidate) bool { return !c.Touched.Before(old.Touched) },
		func(old *Candidate) bool { return c.Broken && !c.Touched.Before(old.Touched) },
		func(old *Candidate) bool {
			n := c.fit.compareFit(old.fit)
			return n > 0 || n == 0 && c.Broken && !old.Broken
		},
	} {
		if better(&s.kept[i].Candidate) {
			s.kept[i] = kept{c, whole}
		}
	}
}

// Tree is that of a candidate, nil where it was not kept.
func (s *Search) Tree(c *Candidate) *session.Tree {
	for i := range s.kept {
		if k := &s.kept[i]; k.Store == c.Store && k.ID == c.ID {
			return k.tree
		}
	}
	return nil
}

func lastTouched(tree *session.Tree) time.Time {
	var last time.Time
	for _, s := range tree.Sessions {
		for _, t := range []time.Time{s.Created, s.Updated} {
			if t.After(last) {
				last = t
			}
		}
		for i := range s.Items {
			if t := s.Items[i].Time; t.After(last) {
				last = t
			}
		}
	}
	return last
}

// countCalls counts which of the ids are those of calls or results of a tree, and says where
// the first one is.
func countCalls(tree *session.Tree, ids []string) (n int, first *session.Place) {
	if len(ids) == 0 {
		return 0, nil
	}
	seen := map[string]bool{}
	const telling = 10 // bytes of an id that was cut off
	note := func(s *session.Session, item int, id string) {
		asked := func(a string) bool { return a == id || len(a) >= telling && strings.HasPrefix(id, a) }
		if slices.ContainsFunc(ids, asked) && !seen[id] {
			seen[id] = true
			if first == nil {
				at := s.ItemPlace(item)
				first = &at
			}
		}
	}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			for n := range s.Items[i].Calls {
				note(s, i, s.Items[i].Calls[n].ID)
			}
			for n := range s.Items[i].Results {
				note(s, i, s.Items[i].Results[n].CallID)
			}
		}
	}
	return len(seen), first
}

// holdsRefusal reports whether a session holds the refusal whose sentence was pasted, or that is
// a part of what was.
func holdsRefusal(s *session.Session, pasted string) bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool {
		const telling = 20 // bytes of a sentence
		if len(it.Refusal().Text) < telling {
			return false
		}
		is := errtext.ParseAnswer(it.Refusal().Text)
		return len(is.Text) >= telling && strings.Contains(pasted, is.Text) || len(pasted) >= telling && strings.Contains(is.Text, pasted)
	})
}

// raiseFit lets a finding say how well its session fits: the provider's answer to it is read
// as the error text was.
func (c *Candidate) raiseFit(asked *errtext.Error, f *check.Finding) {
	var best fit
	causes := asked.Causes()
	if slices.Contains(causes, f.Rule.ID) {
		best.rule = 1
	}
	for _, j := range f.Judged {
		if j.Error == "" {
			continue
		}
		answer := errtext.ParseAnswer(j.Error)
		one := fit{rule: best.rule}
		if slices.ContainsFunc(answer.IDs, func(id string) bool { return slices.Contains(asked.IDs, id) }) {
			one.refused = 1
		}
		if slices.ContainsFunc(answer.Rules, func(id string) bool { return slices.Contains(causes, id) }) {
			one.rule = 1
			if asked.Message >= 0 && answer.Message == asked.Message {
				one.message = 1
			}
		}
		if one.compareFit(best) > 0 {
			best = one
		}
	}
	best.ids, best.sessions, best.recorded = c.fit.ids, c.fit.sessions, c.fit.recorded
	if best.compareFit(c.fit) > 0 {
		c.fit = best
	}
}

// Newest puts the newest session first; of equally old ones the later stored.
func (s *Search) Newest() []Candidate {
	list := slices.Clone(s.Found)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b Candidate) int { return b.Touched.Compare(a.Touched) })
	return list
}

// Best are the sessions that fit the error text best, newest first, none where none does.
// Of those, broken ones count where there are any.
func (s *Search) Best() []Candidate {
	list := s.Newest()
	slices.SortStableFunc(list, func(a, b Candidate) int { return b.fit.compareFit(a.fit) })
	if len(list) == 0 || list[0].fit == (fit{}) {
		return nil
	}
	list = slices.DeleteFunc(list, func(c Candidate) bool { return c.fit != list[0].fit })
	if broken := slices.DeleteFunc(slices.Clone(list), func(c Candidate) bool { return !c.Broken }); len(broken) > 0 {
		return broken
	}
	return list
}

// BrokenBeside counts the sessions of the same store that have errors, but for one.
func (s *Search) BrokenBeside(c *Candidate) int {
	n := 0
	for i := range s.Found {
		if o := &s.Found[i]; o.Broken && o.Store == c.Store && o.ID != c.ID {
			n++
		}
	}
	return n
}

// Package repair makes a store what a healthy runtime would have left: it plans
// on the model, writes through an adapter, verifies what was written before it
// is committed, and can take it back. Nothing is ever lost: what leaves the
// store is in the receipt.
package repair

import (
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// PlanSchema names the form of a saved plan.
const PlanSchema = "sessctl.plan/1"

// Plan is what a repair would do to one store, as data. It holds no text of any
// message and can be saved, shown and applied later.
type Plan struct {
	Schema string  `json:"schema"`
	Store  Subject `json:"store"`
	// Profiles and AsIs say for whom requests were judged: see rules.Judge.
	Profiles []string `json:"profiles,omitempty"`
	AsIs     bool     `json:"as_is,omitempty"`

	Trees []*Tree  `json:"trees"`
	Left  []string `json:"left,omitempty"` // fingerprints of what the plan does not repair
	// Refused are the trees that have repairs which together do not lead to
	// a better tree, and the repairs that the store cannot write.
	Refused []Refused `json:"refused,omitempty"`

	// Later are repairs that only another plan can hold, when this one is carried out.
	Later []Later `json:"later,omitempty"`

	Findings []*check.Finding `json:"-"` // what is left, as findings
	Sessions int              `json:"-"` // of the whole store
	Items    int              `json:"-"`
}

// Subject is the store that a plan or a receipt is for.
type Subject struct {
	Path       string `json:"path"`
	Kind       string `json:"kind"`
	Generation string `json:"generation,omitempty"`
	Writer     string `json:"writer,omitempty"` // as it was judged: see session.Writer
}

// Tree is the plan for one session tree: the unit that is repaired as a whole
// or not at all.
type Tree struct {
	Root  string `json:"root"`
	Title string `json:"-"`
	Items int    `json:"items"`
	// Sums are the digests of the tree's sessions as they were when the plan
	// was made. The plan is for exactly that.
	Sums  map[string]string `json:"sums"`
	Fixes []Fix             `json:"fixes"`
	// First is the first item that changes, of every session in which one does.
	First []FirstChange `json:"first_changed,omitempty"`

	Before []*check.Finding `json:"-"` // what was found in the tree
	After  []*check.Finding `json:"-"` // what a check will find when the plan is carried out
}

// Refused is a tree that a plan leaves as it is, and why; or, where it names a rule, the
// repairs of this rule in the tree that are left out, while the others are made.
type Refused struct {
	Root  string `json:"root"`
	Rule  string `json:"rule,omitempty"`
	Count int    `json:"count,omitempty"` // of the repairs; Why is the reason for the first
	Why   string `json:"why"`
}

// Later are the repairs of a rule in a tree that this plan makes possible and does not
// hold: other repairs took away what was against them, and it may have been right.
type Later struct {
	Root  string `json:"root"`
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// FirstChange is the first item of a session that changes, comes or leaves: from
// there on, prompt caches are void. Signed is the first item behind the change
// that holds reasoning that its provider signed, nil for none: the newest models
// of Anthropic refuse it after a change before it (ANT-17). SignedIn is the
// session in which that item is stored, where a repair moves it into this one.
type FirstChange struct {
	session.Place
	Signed   *int   `json:"signed,omitempty"`
	SignedIn string `json:"signed_in,omitempty"`
}

// Fix is one fix of a plan. Fixes of a later round are made on the result of
// the earlier ones.
type Fix struct {
	Round       int    `json:"round"`
	Rule        string `json:"rule"`
	Fingerprint string `json:"fingerprint"`
	session.Place
	rules.Fix

	Steps []Step `json:"-"`
}

// Step is an edit for people: what it does to which item.
type Step struct {
	Op      session.Op
	Session string // where the item is stored, or will be
	Item    int    // its index there as it is stored, -1 for a new record
	Kind    session.Kind
	Role    session.Role
	Agent   string
	Text    string         // of the item or of what is added, whole
	Calls   []string       // names of the tools that it calls
	Call    string         // id of the call that it answers, that Part means, or that a creation is for
	Twin    *session.Place // where the copy stays
	To      string         // where it goes
	After   int            // the item that it goes behind, -1 for the start or a new one
	Part    string         // the pointer to what is meant of the item, "" for all of it
	Rest    bool           // Part is a result, and something of its item stays or goes another way
	Field   string         // Set
	Value   *string        // Set
	Child   string         // the session that a reference or a creation is for
	Like    string         // the session that a new one is split from
	Run     string         // the run whose record it is about
}

// Edits counts the edits of the plan.
func (p *Plan) Edits() int {
	n := 0
	for _, t := range p.Trees {
		for _, f := range t.Fixes {
			n += len(f.Edits)
		}
	}
	return n
}

// Edited counts the records whose items will say something else.
func (p *Plan) Edited() int {
	edited := recordSet{}
	for _, t := range p.Trees {
		for _, f := range t.Fixes {
			for _, e := range f.Edits {
				if rewords(e) && e.Ref.Table != "" { // else an earlier round adds it
					edited.add(e.Ref)
				}
			}
		}
	}
	return len(edited)
}

// Judge is for whom requests were judged when the plan was made. Profiles that
// are no longer known are left out.
func (p *Plan) Judge() rules.Judge {
	judge := rules.Judge{AsIs: p.AsIs}
	for _, name := range p.Profiles {
		if profile := rules.FindProfile(name); profile != nil {
			judge.Profiles = append(judge.Profiles, profile)
		}
	}
	return judge
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Trees) == 0 }

// rounds are the fixes of a tree, round by round.
func (t *Tree) rounds() [][]Fix {
	var rounds [][]Fix
	last := -1
	for _, f := range t.Fixes {
		if f.Round != last {
			rounds, last = append(rounds, nil), f.Round
		}
		rounds[len(rounds)-1] = append(rounds[len(rounds)-1], f)
	}
	return rounds
}

// Package repair makes a store what a healthy runtime would have left: it plans
// on the model, writes through an adapter, verifies what was written before it
// is committed, and can take it back. Nothing is ever lost: what leaves the
// store is in the receipt.
package repair

import (
	"cmp"
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// PlanSchema names the form of a saved plan.
const PlanSchema = "sessctl.plan/1"

// Plan is what a repair would do to one store, as data. It holds no text of any
// message and can be saved, shown and applied later.
type Plan struct {
	Schema string  `json:"schema"`
	Store  Subject `json:"store"`
	// the providers that requests were checked against; left out when each session was checked against
	// its own
	Profiles []string `json:"profiles,omitempty"`
	AsIs     bool     `json:"as_is,omitempty"` // whether the stored messages alone were checked; left out when it is `false`

	Trees []*Tree  `json:"trees"`          // what becomes of which session trees
	Left  []string `json:"left,omitempty"` // fingerprints of what the plan does not repair
	// trees whose repairs together would not make them better, and that are left as they are, and
	// repairs that the store cannot hold; left out if there are none
	Refused []Refused `json:"refused,omitempty"`

	// repairs that the next plan can hold when this one is carried out: it takes away what was against
	// them, and that may have been right. Left out when there are none
	Later []Later `json:"later,omitempty"`

	Digest string `json:"digest,omitempty"` // in a saved plan: of all of it but this; `--plan` refuses a plan that somebody edited

	Findings []*check.Finding `json:"-"` // what is left, as findings
	Sessions int              `json:"-"` // of the whole store
	Items    int              `json:"-"`
}

// Subject is the store that a plan or a receipt is for.
type Subject struct {
	Path       string `json:"path"` // absolute, except for `-`
	Kind       string `json:"kind"`
	Generation string `json:"generation,omitempty"`
	Writer     string `json:"writer,omitempty"`   // as it was found: `live`, `dead` or `unknown`
	Identity   string `json:"identity,omitempty"` // tells one database of a server from another one
}

// Tree is the plan for one session tree: the unit that is repaired as a whole
// or not at all.
type Tree struct {
	Root  string            `json:"root"` // id of the root session; a tree is repaired as a whole or not at all
	Title string            `json:"-"`
	Items int               `json:"items"` // before the repair
	Sums  map[string]string `json:"sums"`  // digests of the sessions by id: the plan is for exactly that
	Fixes []Fix             `json:"fixes"`
	// whether the repair only adds messages at the end of sessions: no stored message changes, moves
	// or leaves
	Appends bool `json:"appends"`
	// the first item that changes, of every session in which one does: the next request misses the
	// prompt cache from there on
	First []FirstChange `json:"first_changed,omitempty"`

	Before []*check.Finding `json:"-"` // what was found in the tree
	After  []*check.Finding `json:"-"` // what a check will find when the plan is carried out
}

// Refused is a tree that a plan leaves as it is, and why; or, where it names a rule, the
// repairs of this rule in the tree that are left out, while the others are made.
type Refused struct {
	Root string `json:"root"`
	// only repairs of this rule are left out of the tree, because the store cannot hold what they lead
	// to; the others are made. Left out where it is the whole tree
	Rule  string `json:"rule,omitempty"`
	Count int    `json:"count,omitempty"` // how many these are; `why` is the reason for the first
	Why   string `json:"why"`
	Allow string `json:"allow,omitempty"` // the word of `--allow` that makes them; left out for none
}

// Reorder is the word of --allow for repairs that an undo takes back but for the order of
// records: see store.ErrReorder.
const Reorder = "reorder"

// ForeignFunctions is the word of --allow, for repair and undo, that lets a superuser run what
// other roles made.
const ForeignFunctions = "foreign-functions"

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
	// the first item from there on with thinking that its provider signed, which the newest Claude
	// models refuse after a change before it; left out if there is none
	Signed *int `json:"signed,omitempty"`
	// the session that holds that item before the repair, where it moves into this one; else left out
	SignedIn string `json:"signed_in,omitempty"`
}

// Fix is one fix of a plan. Fixes of a later round are made on the result of
// the earlier ones.
type Fix struct {
	Round       int    `json:"round"` // from 0; those of a later round are made on the result of the earlier ones
	Rule        string `json:"rule"`  // of the finding, like `fingerprint`, `session` and `item`
	Fingerprint string `json:"fingerprint"`
	session.Place
	rules.Fix

	Steps []Step `json:"-"`
	Joins bool   `json:"-"` // its result goes into the item that another fix adds
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

// CountEdits counts the edits of the plan.
func (p *Plan) CountEdits() int {
	n := 0
	for _, t := range p.Trees {
		for _, f := range t.Fixes {
			n += len(f.Edits)
		}
	}
	return n
}

// CountEdited counts the records whose items will say something else.
func (p *Plan) CountEdited() int {
	edited := recordSet{}
	for _, t := range p.Trees {
		for _, f := range t.Fixes {
			for _, e := range f.Edits {
				if rewordsItem(e) && e.Ref.Table != "" { // else an earlier round adds it
					edited.addRecord(e.Ref)
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

// IsEmpty reports whether there is nothing to do.
func (p *Plan) IsEmpty() bool { return len(p.Trees) == 0 }

// fixRounds are the fixes of a tree, round by round.
func (t *Tree) fixRounds() [][]Fix {
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

// Options say what a plan may hold.
type Options struct {
	Rules   []*rules.Rule   // whose fixes are made; nil for all
	Named   bool            // Rules were named one by one: also where a provider accepts what they find
	Judge   rules.Judge     // whom requests are judged for
	Session string          // only the tree that holds this session, "" for all
	Allow   map[string]bool // what is allowed besides the default repairs: "lossy", "prune", …
	// Only, when set, leaves the trees alone for which it does not hold.
	Only func(*session.Tree) bool
	// Prologue is the store's: see store.Kind.
	Prologue store.Prologue
	// EachTree, when set, is given each tree that is changed, with its texts: as it is, and as it
	// will be. One at a time.
	EachTree func(plan *Tree, was, is *session.Tree)
}

// maxRounds bounds planning; two or three rounds are usual. What is left then is
// reported like everything that has no repair.
const maxRounds = 10

// MakePlan plans the repair of a store. Nothing is written. A store that is read
// incompletely is planned as far as it is known; the result says so, as that of
// a check.
//
// Where many records do not decode, another program wrote them, or a newer one: then
// they are not taken out either without the word that allows it for those of which that
// is plain, and the plan is made anew.
func MakePlan(ctx context.Context, st store.Store, opts Options) (*Plan, *check.Result, error) {
	p, result, err := planStore(ctx, st, opts, false)
	if err == nil && manyUnread(p.unread, result) && !opts.Allow[rules.UnknownForm] {
		p, result, err = planStore(ctx, st, opts, true)
	}
	return p.plan, result, err
}

// planStore makes a plan; foreign says that records which do not decode are not damaged ones.
func planStore(ctx context.Context, st store.Store, opts Options, foreign bool) (*planner, *check.Result, error) {
	p := newPlanner(ctx, st, opts)
	p.foreign = foreign
	result, err := check.Run(ctx, st, check.Options{Rules: catalogue.UsualRules(), Judge: opts.Judge, Session: opts.Session, EachTree: p.planOrRefuse})
	if err == nil {
		err = p.err
	}
	p.sortAsReported(result.Findings)
	p.plan.Sessions, p.plan.Items = result.Sessions, result.Items
	return p, result, err
}

func newPlanner(ctx context.Context, st store.Store, opts Options) *planner {
	facts := st.Facts()
	p := &planner{ctx: ctx, st: st, opts: opts, facts: facts, selected: map[*rules.Rule]bool{}, planned: map[string]*Tree{}, plan: &Plan{
		Schema: PlanSchema, Store: Subject{Path: facts.Path, Kind: facts.Kind, Generation: facts.Generation, Writer: facts.Writer.String(), Identity: facts.Identity},
	}}
	p.plan.AsIs = opts.Judge.AsIs
	for _, profile := range opts.Judge.Profiles {
		p.plan.Profiles = append(p.plan.Profiles, profile.Name)
	}
	run := opts.Rules
	if run == nil {
		run = catalogue.UsualRules()
	}
	for _, r := range run {
		p.selected[r] = true
	}
	return p
}

type planner struct {
	ctx      context.Context
	st       store.Store
	facts    *session.Store
	opts     Options
	selected map[*rules.Rule]bool
	plan     *Plan
	planned  map[string]*Tree // by root
	left     []leftOut        // fixes that the store cannot write
	unread   int              // records that do not decode
	foreign  bool             // as another program wrote them
	err      error
}

// sortAsReported puts trees and what is left into the order in which a check reports:
// trees are planned in any order.
func (p *planner) sortAsReported(found []*check.Finding) {
	arranged := map[*Tree]bool{}
	for _, f := range found {
		left := []*check.Finding{f}
		if f.Root != nil {
			if t := p.planned[f.Root.ID]; t != nil {
				if arranged[t] {
					continue
				}
				arranged[t], p.plan.Trees = true, append(p.plan.Trees, t)
				left = t.After
			}
		}
		for _, f := range left {
			if p.selected[f.Rule] {
				p.plan.Findings = append(p.plan.Findings, f)
				p.plan.Left = append(p.plan.Left, f.Fingerprint)
			}
		}
	}
	slices.SortStableFunc(p.plan.Refused, func(a, b Refused) int { return cmp.Compare(a.Root, b.Root) })
	slices.SortStableFunc(p.plan.Later, func(a, b Later) int { return cmp.Compare(a.Root, b.Root) })
}

// planOrRefuse plans one tree. It is called for one tree at a time.
func (p *planner) planOrRefuse(tree *session.Tree, found []*check.Finding) {
	if p.opts.Only != nil && !p.opts.Only(tree) {
		return
	}
	if n := p.countUnknown(found); n > 0 {
		p.plan.Refused = append(p.plan.Refused, Refused{Root: tree.Root().ID, Why: unknownForm(n), Allow: rules.UnknownForm})
		return
	}
	if p.err != nil || len(p.chooseFixes(found)) == 0 {
		return
	}
	if tree.Live() {
		why := "a process has it open: close that first"
		if p.facts.Identity != "" {
			why = "it was written to a moment ago (--live-window), so somebody may be writing to it: repair it later"
		}
		p.refuseTree(tree, why)
		return
	}
	planned, err := p.planTree(tree, found)
	switch {
	case p.ctx.Err() != nil:
		p.err = p.ctx.Err()
	case problem.ClassOf(err) == problem.Unreadable: // the finding about the damage says more
		p.refuseTree(tree, "some of its records cannot be read")
	case err != nil:
		p.refuseTree(tree, err.Error())
	case planned != nil:
		for _, part := range tree.Conversations() {
			p.planned[part.Root().ID] = planned
		}
	}
}

func (p *planner) refuseTree(tree *session.Tree, why string) {
	p.plan.Refused = append(p.plan.Refused, Refused{Root: tree.Root().ID, Why: why})
}

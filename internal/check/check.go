// Package check is the engine: it streams the trees of a store through replay,
// pairing and the rules, and collects what they find in a fixed order.
package check

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/damage"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Options say what to check.
type Options struct {
	Rules []*rules.Rule // in catalogue order
	Judge rules.Judge   // whom requests are judged for
	// Session limits the check to the tree that holds this session id, and
	// leaves out what concerns the store as a whole.
	Session string
	// OmitStore leaves out what concerns the store as a whole.
	OmitStore bool
	// Roots keeps the heads of all trees for the result.
	Roots bool
	// Bodies loads the texts of every tree for the rules that find more with them.
	Bodies bool
	// Explain asks what providers answer to the next request of Session.
	Explain bool
	// Recorded are the trees of a recording. When there are any, the stored trees
	// with their roots are compared with them: only rules about comparisons run,
	// and no other tree is looked at.
	Recorded []*session.Tree
	// Runtime is the recorded one; nil without a recording.
	Runtime *session.Runtime
	// Fixes, when set, is called for every tree with what was found in it, before EachTree and in
	// several goroutines at a time: it may set the fixes of the findings, and load the texts.
	Fixes func(*session.Tree, []*Finding)
	// EachTree, when set, is called for every tree in the order of the store, from one
	// goroutine at a time.
	EachTree func(*session.Tree, []*Finding)
}

// Result is what a check of one store found.
type Result struct {
	Store    *session.Store
	Findings []*Finding // by tree, session, item and rule
	Sessions int
	Items    int
	Trees    int
	WithSubs int // trees of more than one session
	// Roots are the roots of all trees that were looked at, in no particular order;
	// nil unless Options asks for them.
	Roots []*Head
	// begins says of each beginning that ids are cut to whether several ids have it.
	begins map[session.Digest]bool
	// Profiles are those that sessions were judged for, most sessions first.
	Profiles []Use
	Answers  []Answer // to the next request of Options.Session, where they were asked for
	Against  bool     // the store was compared with a recording
	Compared int      // the items that were
	// Recording: it is about the recording itself, and no store was looked at.
	Recording bool
	// Incomplete is the reason why the result does not cover everything, "" if it does:
	// whatever rules and sessions are asked for, damage of the store is one.
	Incomplete string
	// Recovery is what to do about the damage that makes it incomplete, "" where nothing is
	// known or it is no damage.
	Recovery string
	// Unread is the reason why a list of what was looked at lacks something that is stored,
	// "" if it does not. Findings tell of it, so that it does not make a check incomplete.
	Unread string
}

// Count counts the number of findings of one severity.
func (r *Result) Count(s rules.Severity) int {
	return lists.CountIf(r.Findings, func(f *Finding) bool { return f.Severity == s })
}

// Run checks a store. An error means that the store could not be read to the
// end; what was found before is in the result, which is never nil.
func Run(ctx context.Context, st store.Store, opts Options) (*Result, error) {
	begins := map[session.Digest]bool{}
	e := &engine{opts: opts, facts: st.Facts(), result: &Result{Store: st.Facts(), Against: opts.Recorded != nil, begins: begins}, uses: uses{}}
	if opts.Session == "" && opts.Recorded == nil && !opts.OmitStore {
		e.collectFindings(e.runRules(-1, nil, rules.PerStore, e.passOpener(nil)), nil)
	}
	err := e.runTrees(ctx, st)
	slices.SortStableFunc(e.result.Findings, compareFindings)
	e.result.Profiles = e.uses.sortedUses()
	e.damage.AddFaults(e.facts.Faults)
	e.unread.AddUnread(e.facts.Faults, nil)
	e.result.Unread = e.unread.String()
	e.result.Incomplete = cmp.Or(e.facts.Incomplete, e.damage.String())
	if e.result.Incomplete != "" && e.damage.Count > 0 {
		e.result.Recovery = cmp.Or(e.damage.Remedy, e.facts.RecoverBy())
	}
	if e.result.Incomplete != "" {
		return e.result, err
	}
	for _, f := range e.result.Findings {
		if f.Rule == damage.RuleCrashed() {
			e.result.Incomplete = f.Message
			break
		}
	}
	return e.result, err
}

// ShortID is the beginning of an id, if it is known to mean this session only.
func (r *Result) ShortID(id string) string {
	if several, known := r.begins[idBeginning(id)]; several || !known || r.Store.Left > 0 || r.Store.Read == session.ByIndex {
		return id
	}
	return rules.ShortID(id)
}

// idBeginning is what an id is cut to, be it too short to be cut.
func idBeginning(id string) session.Digest {
	const pad = "-------------" // as long as what is always cut
	cut := rules.ShortID(id)
	if cut == id {
		cut = rules.ShortID(id + pad)
	}
	return session.DigestOf(cut)
}

// RunTree runs rules over one tree, in the order in which Run reports.
func RunTree(facts *session.Store, tree *session.Tree, run []*rules.Rule, judge rules.Judge) []*Finding {
	e := &engine{opts: Options{Rules: run, Judge: judge}, facts: facts}
	found := e.runRules(0, tree, rules.PerTree, e.passOpener(tree))
	slices.SortStableFunc(found, compareFindings)
	return found
}

// compareFindings orders findings by tree, session, item and rule.
func compareFindings(a, b *Finding) int {
	return cmp.Or(cmp.Compare(a.tree, b.tree), cmp.Compare(a.order, b.order),
		cmp.Compare(a.Item, b.Item), cmp.Compare(a.Rule.ID, b.Rule.ID), cmp.Compare(a.id.Nth, b.id.Nth))
}

type engine struct {
	opts   Options
	facts  *session.Store
	mu     sync.Mutex // guards what follows, and EachTree
	result *Result
	uses   uses
	failed error // of the first tree that could not be compared or filled
	damage session.Damage
	unread session.Damage

	told    int             // how many trees had their turn with EachTree
	waiting map[int]outcome // what is known before its turn, by its number
	ahead   chan struct{}   // has one for each tree that was read and had no turn yet
}

// outcome is what was found in a tree; a tree that could not be looked at is nil.
type outcome struct {
	tree  *session.Tree
	found []*Finding
}

// runTrees runs the rules over every tree, as many at a time as there are
// processors: a tree is the unit of parallelism.
func (e *engine) runTrees(ctx context.Context, st store.Store) error {
	type job struct {
		seq            int
		tree, recorded *session.Tree
	}
	jobs := make(chan job, 2*runtime.GOMAXPROCS(0))
	e.waiting, e.ahead = map[int]outcome{}, make(chan struct{}, 16*runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for j := range jobs {
				var out outcome
				if j.recorded != nil {
					out = e.compareRecorded(ctx, st, j.seq, j.tree, j.recorded)
				} else if e.fillTree(ctx, st, j.tree) {
					out = outcome{j.tree, e.runRules(j.seq, j.tree, rules.PerTree, e.passOpener(j.tree))}
					e.collectFindings(out.found, out.tree)
					if e.opts.Fixes != nil {
						e.opts.Fixes(out.tree, out.found)
					}
				}
				e.releaseInOrder(j.seq, out)
			}
		})
	}
	var failed error
	seq, runs := 0, newRecordedRuns(e.opts.Recorded)
	for tree, err := range st.Trees(ctx) {
		if err != nil {
			failed = err
			break
		}
		for _, s := range tree.Sessions {
			at := idBeginning(s.ID)
			_, e.result.begins[at] = e.result.begins[at]
		}
		if e.opts.Session != "" && tree.Session(e.opts.Session) == nil {
			continue
		}
		for _, s := range tree.Sessions {
			e.damage.AddFaults(s.Faults)
			e.unread.AddUnread(s.Faults, s.Items)
		}
		recorded := runs.recordedTree(tree)
		if e.opts.Recorded != nil && recorded == nil {
			continue
		}
		e.ahead <- struct{}{}
		jobs <- job{seq, tree, recorded}
		seq++
	}
	close(jobs)
	workers.Wait()
	if failed == nil {
		e.collectFindings(e.lostFindings(runs), nil)
	}
	return cmp.Or(failed, e.failed)
}

// fillTree loads the texts of a tree where rules look at them, and reports whether the
// rules can run.
func (e *engine) fillTree(ctx context.Context, st store.Store, tree *session.Tree) bool {
	if !e.opts.Bodies {
		return true
	}
	err := st.Fill(ctx, tree)
	if err != nil {
		e.mu.Lock()
		e.failed = cmp.Or(e.failed, err)
		e.mu.Unlock()
	}
	return err == nil
}

// opener makes the pass that rules run on, nil when there is nothing to look at.
type opener func(report func(*rules.Finding)) *rules.Pass

// passOpener opens a tree, or the store alone.
func (e *engine) passOpener(tree *session.Tree) opener {
	return func(report func(*rules.Finding)) *rules.Pass {
		return rules.NewPass(e.facts, tree, e.opts.Judge, report)
	}
}

// runRules runs every rule of the scope over one tree, or over the store or a recording
// alone.
func (e *engine) runRules(seq int, tree *session.Tree, scope rules.Scope, open opener) []*Finding {
	if len(e.opts.Rules) == 0 {
		return nil
	}
	var found []*Finding
	order := map[*session.Session]int{}
	var current *rules.Rule
	report := func(f *rules.Finding) {
		found = append(found, reportedForm(f, e.facts, tree, seq, order[f.Session]))
	}
	guard := func(what, name string, fn func()) { // two texts: of a million trees, joining them took a tenth
		defer func() {
			if p := recover(); p != nil {
				found = append(found, e.crashFinding(what+name, p, tree, seq))
			}
		}()
		fn()
	}
	var pass *rules.Pass
	defer func() { e.countProfiles(pass) }()
	guard("the replay", "", func() { pass = open(report) })
	if pass == nil {
		return found
	}
	if tree != nil {
		for i, s := range tree.Sessions {
			order[s] = i
		}
	}
	for _, current = range e.opts.Rules {
		if current.Run != nil && current.Scope&scope != 0 {
			guard("rule ", current.ID, func() { pass.Run(current) })
		}
	}
	if scope == rules.PerTree {
		guard("the outlook", "", func() { noteOutlooks(pass, tree, found) })
	}
	return found
}

// crashFinding is the finding that stands for a panic.
func (e *engine) crashFinding(what string, p any, tree *session.Tree, seq int) *Finding {
	f := &rules.Finding{
		Defect: rules.Defect{
			Rule: damage.RuleCrashed(), Severity: rules.Error, Place: session.Place{Item: -1},
			Message: fmt.Sprintf("%s crashed (%v); please report it, with `sessctl export --redact` of this session", what, p),
		},
		Ref: session.Ref{Table: "rules", Key: what},
	}
	if tree != nil {
		f.Session, f.Place = tree.Root(), tree.Root().ItemPlace(-1)
		f.Ref.Session = f.Session.ID
	}
	return reportedForm(f, e.facts, tree, seq, 0)
}

func (e *engine) collectFindings(found []*Finding, tree *session.Tree) {
	slices.SortStableFunc(found, compareFindings)
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.result
	r.Findings = append(r.Findings, found...)
	if tree == nil {
		return
	}
	r.Sessions += len(tree.Sessions)
	r.Items += tree.Items()
	for _, part := range tree.Conversations() {
		r.Trees++
		if len(part.Sessions) > 1 {
			r.WithSubs++
		}
		if e.opts.Roots {
			r.Roots = append(r.Roots, headOf(part))
		}
	}
}

// releaseInOrder gives a tree its turn, and those that waited for it theirs.
func (e *engine) releaseInOrder(seq int, out outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[seq] = out
	for next, known := out, seq == e.told; known; next, known = e.waiting[e.told] {
		delete(e.waiting, e.told)
		e.told++
		<-e.ahead
		if e.opts.EachTree != nil && next.tree != nil {
			e.opts.EachTree(next.tree, next.found)
		}
	}
}

// Extent is how bad a finding is.
type Extent struct {
	Severity rules.Severity
	Items    int // and other records, parts or places that it is about
}

// Extent is how bad the finding is.
func (f *Finding) Extent() Extent {
	return Extent{f.Severity, max(len(f.Items), f.Count, len(f.Related))}
}

// Covers reports whether the other is no worse.
func (e Extent) Covers(other Extent) bool {
	return other.Severity <= e.Severity && other.Items <= e.Items
}

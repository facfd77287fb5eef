package repair

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Apply says how a plan is carried out.
type Apply struct {
	Backup  string // the path of the backup, "" for none
	Receipt string // the path of the receipt
	Tool    string // name and version of the program, for the receipt
	Role    string // on a server
	// Prologue is the store's: see store.Kind.
	Prologue store.Prologue
	Progress func(done int64) // hears the bytes of the backup; may be nil
	// Changed says what became of the store that Output reads, "" when nothing did.
	Changed func() string

	source string // of a copy: the store that it is made of, whose owner gets the receipt
}

// A batch is the trees that share one transaction. It should lock the store for a
// quarter of a second, so that nobody who waits for the lock notices; how many items
// that is, the batches before tell. A tree is never split. A store that is read as a
// whole, whatever is asked of it, is locked for longer: most of that is for its items.
const (
	biggestStep = 8 // times as many items as before
	lockFor     = 250 * time.Millisecond
)

// firstBatch is how many items the first batch may have. A test makes it small.
var firstBatch = 1000

// atStep is called before every step that changes something on the disk. A
// test kills the process there.
var atStep = func(string) {}

// Run backs the store up, makes the plan's changes tree by tree, verifies them
// before they are committed, and writes the receipt. Trees that fail are left out,
// and named in Receipt.LeftOut; when all do, that is an error of class RolledBack. On
// any other error the batch that was under way is rolled back; what was committed
// before it stays and is in the receipt, which is nil when nothing was changed. The
// editor is closed then.
func (a Apply) Run(ctx context.Context, ed store.Editor, plan *Plan) (*Receipt, error) {
	r := newReceipt(plan, a)
	defer func() { _ = r.Close() }() // all of it is on the disk
	run := &application{Apply: a, ctx: ctx, ed: ed, plan: plan, receipt: r, lockFor: lockFor}
	err, first := plan.Store.verifyIdentity(ed), firstBatch
	if plan.Store.Identity != "" { // a server sends the sessions that are asked for, with some round trips for each
		first = max(firstBatch/4, 1)
	}
	if _, alone := ed.(store.Alone); alone {
		first = math.MaxInt
	}
	if err == nil && batchOf(plan.Trees, first) < len(plan.Trees) {
		run.lockFor, err = run.measureLockTime()
	}
	for trees, items := plan.Trees, first; err == nil && len(trees) > 0; {
		n := batchOf(trees, items)
		run.locked = 0
		err = run.applyInParts(trees[:n])
		items, trees = run.nextBatch(trees[:n]), trees[n:]
	}
	if err == nil && len(r.Batches) == 0 {
		err = run.nothing
	}
	if moved := ed.Replaced(); err != nil && moved != nil {
		err = errors.Join(moved, err) // which may well be why it failed
	}
	atStep("close")
	closed := ed.Close() // which folds the log in, and looks once more
	for _, moved := range []error{err, closed} {
		if errors.Is(moved, store.ErrReplaced) {
			return run.closeReplaced(moved, err == nil)
		}
	}
	if len(r.Batches) == 0 {
		return nil, errors.Join(err, closed, run.removeBackup())
	}
	if err != nil {
		_ = r.appendEnd(Stopped) // else the digests of the sessions tell
		return r, errors.Join(err, closed)
	}
	err = r.noteError(r.appendEnd(Done), "the repair of "+plan.Store.Path+" is done and verified", "")
	if moved := ed.Replaced(); moved != nil {
		return run.closeReplaced(moved, true)
	}
	return r, errors.Join(err, closed)
}

// measureLockTime measures for how long a batch may lock the store: for longer where reading the digests
// of a few sessions takes a while. A batch reads these, and the trees besides.
func (a *application) measureLockTime() (time.Duration, error) {
	var few []string // a file is read as a whole in any case
	if a.plan.Store.Identity != "" {
		few = sortedKeys(a.plan.Trees[0].Sums)
		if _, err := a.ed.Sums(a.ctx, few); err != nil { // reads how all are called, too, which no batch does
			return 0, err
		}
	}
	start := time.Now() //nolint:forbidigo // how trees share transactions may depend on the machine, what becomes of them does not
	_, err := a.ed.Sums(a.ctx, few)
	return max(lockFor, 8*time.Since(start)), err //nolint:forbidigo // see above
}

// batchOf is how many of the trees make a batch of so many items.
func batchOf(trees []*Tree, most int) int {
	items := 0
	for i, t := range trees {
		if items += t.Items; items > most && i > 0 {
			return i
		}
	}
	return len(trees)
}

// nextBatch is how many items the next batch may have.
func (a *application) nextBatch(done []*Tree) int {
	items := 0
	for _, t := range done {
		items += t.Items
	}
	step := min(float64(a.lockFor)/float64(max(a.locked, time.Millisecond)), biggestStep)
	return max(int(float64(items)*step), 1)
}

// application is one run of Apply.
type application struct {
	Apply
	ctx     context.Context
	ed      store.Editor
	plan    *Plan
	receipt *Receipt
	backed  bool          // the backup is there
	lockFor time.Duration // for how long a batch may lock the store
	locked  time.Duration // for how long the last batch did
	nothing error         // why nothing could be changed, as long as nothing was
}

// backUpAndBegin begins a transaction, the first one behind a backup. Where somebody changed the
// store between the two, that is tried once more.
func (a *application) backUpAndBegin() error {
	for try := 0; ; try++ {
		if a.Backup != "" && !a.backed {
			atStep("back up")
			if err := a.ed.Backup(a.ctx, a.Backup, sortedKeys(a.receipt.Sessions), a.Progress); err != nil {
				return err
			}
			a.backed = true
		}
		atStep("lock")
		err := a.ed.Begin(a.ctx)
		if try > 0 || len(a.receipt.Batches) > 0 || !errors.Is(err, store.ErrMoved) {
			return err
		}
		if err := removeFile(a.Backup); err != nil {
			return err
		}
		a.backed = false
	}
}

// commitBatch makes prepared changes in the transaction that is open.
func (a *application) commitBatch(p *prepared) error {
	start := time.Now()                              //nolint:forbidigo // see patience
	defer func() { a.locked += time.Since(start) }() //nolint:forbidigo // see patience
	b, err := a.writeChanges(p)
	if err != nil {
		failed := a.ed.Rollback()
		if _, differs := errors.AsType[mismatch](err); differs && failed == nil { // of files, which have no lock, somebody may have changed one
			if _, moved := a.prepareTrees(p.trees); problem.ClassOf(moved) == problem.Busy {
				return moved
			}
		}
		return joinUnclean(err, failed)
	}
	r := a.receipt
	before := r.tail
	atStep("write the receipt")
	if err = r.appendBatch(b); err == nil {
		atStep("commit")
		if err = r.verifyInPlace(); err == nil {
			err = a.ed.Commit(a.ctx)
		}
	}
	if errors.Is(err, store.ErrUnknown) { // an undo tells by the digests
		r.countCommitted(b)
		return err
	}
	if err != nil {
		return joinUnclean(err, errors.Join(a.ed.Rollback(), r.truncateTo(before)))
	}
	atStep("committed")
	r.countCommitted(b)
	return nil
}

// prepared is what needs no lock of the changes of some trees. It holds for one version
// of the store.
type prepared struct {
	trees   []*Tree
	version int64
	sums    map[string]store.Sum
	results []*executed
}

// prepareTrees carries the plan for some trees out in memory.
func (a *application) prepareTrees(trees []*Tree) (*prepared, error) {
	var ids []string
	for _, t := range trees {
		if len(t.Sums) == 0 {
			return nil, problem.New(problem.Usage, "Make a new plan.", "the plan does not say what session %s looked like, so it cannot be applied safely", t.Root)
		}
		ids = append(ids, sortedKeys(t.Sums)...)
	}
	version, err := a.ed.Version(a.ctx)
	if err != nil {
		return nil, err
	}
	st, err := a.ed.Read(a.ctx, ids)
	if err != nil {
		return nil, err
	}
	defer func() { _ = st.Close() }()
	sums, err := a.ed.Sums(a.ctx, ids) // which follow from what was read, where that costs less
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		if err := t.verifyUnchanged(sums); err != nil {
			return nil, err
		}
	}
	stored, err := byID(a.ctx, st)
	if err != nil {
		return nil, err
	}
	p := &prepared{trees: trees, version: version, sums: sums}
	for _, t := range trees {
		c, err := a.executeTree(t, st, stored)
		if err != nil {
			return nil, err
		}
		p.results = append(p.results, c)
	}
	return p, nil
}

// writeChanges writes and verifies prepared changes.
func (a *application) writeChanges(p *prepared) (*Batch, error) {
	version, err := a.ed.Version(a.ctx)
	if err == nil && version != p.version { // somebody was there first
		p, err = a.prepareTrees(p.trees)
	}
	if err != nil {
		return nil, err
	}
	b := &Batch{}
	all := &executed{edited: recordSet{}, set: recordSet{}}
	for i, c := range p.results {
		t := p.trees[i]
		atStep("change " + t.Root)
		if err := a.ed.Write(a.ctx, &c.Change); err != nil {
			return nil, err
		}
		all.mergeTree(c)
		b.Kept = append(b.Kept, c.kept...)
		b.Fixes = append(b.Fixes, t.Fixes...)
	}
	atStep("verify")
	after, err := a.verifyStored(p.results, all)
	if err != nil {
		return nil, err
	}
	if b.Ledger, err = verifyBalance(p.sums, after, all); err != nil {
		return nil, notVerified(a.plan, err)
	}
	if err := b.noteTouched(p.sums, after); err != nil {
		return nil, notVerified(a.plan, err)
	}
	if b.Journal, err = a.ed.Journal(); err == nil {
		err = a.tryUndo(b)
	}
	return b, err
}

// tryUndo makes sure that undo could take a batch back: it is tried.
func (a *application) tryUndo(b *Batch) error {
	atStep("try the undo")
	err := a.ed.TryChanges(a.ctx, func() error {
		if err := a.ed.Revert(a.ctx, b.Journal); err != nil {
			return err
		}
		state, err := b.compareState(a.ctx, a.ed)
		if err == nil && state != Pending {
			err = errors.New("the result would differ from the original")
		}
		return err
	})
	if err == nil || a.ctx.Err() != nil || problem.ClassOf(err) == problem.Unreadable {
		return err
	}
	return &problem.Error{
		Class: problem.RolledBack, Err: err,
		What: a.plan.Store.Path + " was not changed: undo could not reverse the repair: " + storeReason(err),
		Next: nothingChanged + "If somebody added a trigger or another rule to the database, remove it during the repair.",
	}
}

// verifyUnchanged makes sure that a tree is what it was when the plan was made.
func (t *Tree) verifyUnchanged(sums map[string]store.Sum) error {
	for _, id := range sortedKeys(t.Sums) {
		if sums[id].Record != t.Sums[id] {
			return &problem.Error{
				Class: problem.Busy, Err: store.ErrElsewhere, What: "session " + id + " changed after the plan was made",
				Next: "That session was not changed. Close the runtime, then run the repair again to get a new plan.",
			}
		}
	}
	return nil
}

// executeTree carries the plan for one tree out in memory.
func (a *application) executeTree(t *Tree, st store.Store, stored map[string]*session.Tree) (*executed, error) {
	tree := stored[t.Root]
	if tree == nil || tree.Root().ID != t.Root {
		return nil, problem.New(problem.Busy, "Run the repair again to get a new plan.", "session %s now belongs to another session", t.Root)
	}
	for _, s := range tree.Sessions {
		if _, planned := t.Sums[s.ID]; !planned {
			return nil, problem.New(problem.Busy, "Run the repair again to get a new plan.", "session %s was added after the plan was made", s.ID)
		}
	}
	texts := usedRows(t.Fixes, false)
	if st.Facts().NeedsAll {
		texts = nil
	}
	if err := fillItems(a.ctx, st, tree, texts); err != nil {
		return nil, err
	}
	c, err := t.executeFixes(tree, a.Prologue, st)
	if err != nil {
		return nil, problem.New(problem.Usage, "Nothing was changed. Run the repair again without --plan to get a new plan.", "%v", err)
	}
	c.inRows()
	return c, nil
}

// verifyStored reads back what the trees have become, in the same transaction, and notes for the
// ledger how the store names records.
func (a *application) verifyStored(foretold []*executed, all *executed) (map[string]store.Sum, error) {
	var ids []string
	for _, c := range foretold {
		ids = append(ids, sessionIDs(c.After)...)
	}
	st, err := a.ed.Read(a.ctx, ids)
	if err != nil {
		return nil, err
	}
	defer func() { _ = st.Close() }()
	stored, err := byID(a.ctx, st)
	if err != nil {
		return nil, err
	}
	judged := *st.Facts()
	all.countsRows = judged.CountsRows
	judged.Writer = session.ParseWriter(a.plan.Store.Writer)
	for _, c := range foretold {
		got := joined(stored, c.After)
		err := verification{&judged, a.plan.Judge(), c}.verifyTree(got)
		if err == nil {
			err = sameTexts(a.ctx, st, c, got)
		}
		if err != nil {
			return nil, notVerified(a.plan, err)
		}
	}
	return a.ed.Sums(a.ctx, ids)
}

// joined are the trees in which the sessions of a tree are stored, as one: a repair may part them.
func joined(stored map[string]*session.Tree, of *session.Tree) *session.Tree {
	whole := &session.Tree{}
	for _, s := range of.Sessions {
		if t := stored[s.ID]; t != nil && whole.Session(t.Root().ID) == nil {
			whole.Sessions = append(whole.Sessions, t.Sessions...)
		}
	}
	return whole
}

// mismatch is how a result differs from what was planned.
type mismatch struct{ error }

func notVerified(plan *Plan, err error) error {
	return &problem.Error{
		Class: problem.RolledBack, Err: mismatch{err},
		What: fmt.Sprintf("the repair of %s was rolled back, because the result is not what was planned: %v", plan.Store.Path, err),
		Next: nothingChanged + reportIt,
	}
}

// What to do about a repair of which sessctl itself has to be mended.
const (
	nothingChanged = "Nothing was changed. "
	reportIt       = "Please report this, with what `sessctl export --redact` writes for the session."
)

// removeBackup removes the backup of a repair that changed nothing.
func (a *application) removeBackup() error {
	if !a.backed {
		return nil
	}
	return removeFile(a.Backup)
}

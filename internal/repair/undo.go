package repair

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Undo takes back what a receipt tells: all of it, or nothing. It refuses when
// a session that the repair touched changed since. A batch that was never
// committed, because the repair was killed, is passed over. undone is the
// number of sessions that are as they were before; it is 0 when there was
// nothing to take back: then an undo that was killed may have done it, which is
// noted. After a change the editor is closed.
//
// On a server, where others go on writing, each batch is taken back in a transaction of its
// own and noted. An error between two leaves those that are done: the next undo goes on.
func Undo(ctx context.Context, ed store.Editor, r *Receipt) (undone int, err error) {
	if err := r.Store.verifyIdentity(ed); err != nil {
		return 0, err
	}
	sessions := map[string]bool{} // and whether the repair had made them
	if r.Store.Identity == "" {
		err = r.takeBack(ctx, ed, 0, sessions)
	} else {
		err = r.takeBackInParts(ctx, ed, sessions)
	}
	for _, made := range sessions {
		if undone++; made {
			r.Removed++
		}
	}
	if undone == 0 {
		if err == nil && r.State == Undoing {
			err = r.noteUndone(0)
		}
		return 0, err
	}
	if err != nil {
		return undone, r.explainHalfway(err)
	}
	atStep("close")
	if err = ed.Close(); errors.Is(err, store.ErrReplaced) {
		return undone, r.displacedError(err, undone)
	}
	err = errors.Join(r.noteUndone(0), err)
	if moved := ed.Replaced(); moved != nil {
		return undone, r.displacedError(moved, undone)
	}
	return undone, err
}

// takeBack takes back one batch, counted from 1, in a transaction of its own; all for 0.
func (r *Receipt) takeBack(ctx context.Context, ed store.Editor, batch int, sessions map[string]bool) error {
	atStep("lock")
	if err := ed.Begin(ctx); err != nil {
		return r.notUndone(err)
	}
	before, reverted := r.tail, map[string]bool{}
	err := r.revertBatches(ctx, ed, batch, reverted)
	if err == nil && len(reverted) > 0 {
		err = r.commitUndo(ctx, ed)
	}
	if moved := ed.Replaced(); err != nil && moved != nil {
		err = errors.Join(moved, err) // which may well be why it failed
	}
	if err != nil || len(reverted) == 0 {
		if err = errors.Join(err, ed.Rollback()); err != nil {
			err = errors.Join(r.notUndone(err), r.truncateTo(before))
		}
		return err
	}
	atStep("committed")
	maps.Copy(sessions, reverted)
	return nil
}

// takeBackInParts takes back batch after batch, the last one first, if nothing that can be
// seen before stands in the way of any of them.
func (r *Receipt) takeBackInParts(ctx context.Context, ed store.Editor, sessions map[string]bool) error {
	if err := r.lacksNone(ctx, ed); err != nil {
		return err
	}
	for _, b := range r.Batches {
		if _, err := b.compareState(ctx, ed); err != nil && !b.undone {
			return r.leadBack(err)
		}
	}
	for n, b := range slices.Backward(r.Batches) {
		if b.undone {
			continue
		}
		if err := r.takeBack(ctx, ed, n+1, sessions); err != nil {
			return err
		}
		if err := r.noteUndone(n + 1); err != nil {
			return err
		}
	}
	return nil
}

// explainHalfway says of an undo that ended between two batches how to go on.
func (r *Receipt) explainHalfway(err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return err
	}
	told := *p
	told.Err, told.Next = err, "The rest of the repair is not undone yet. Run the same undo again later: it goes on where this one ended."
	return &told
}

// verifyIdentity makes sure that a database is the one that a repair or a plan was made for.
func (s Subject) verifyIdentity(ed store.Editor) error {
	named, ok := ed.(interface{ Identity() string })
	if !ok || named.Identity() == s.Identity {
		return nil
	}
	return problem.New(problem.Busy, "Nothing was changed. Name the server and the database of that time.",
		"%s is another database than the one that was repaired, or one that was restored since", s.Path)
}

// notUndone tells the error of an undo that was rolled back.
func (r *Receipt) notUndone(err error) error {
	if !errors.Is(err, store.ErrReplaced) {
		return err
	}
	return r.displacedError(err, 0)
}

// displacedError says what became of an undo whose store is not at its path any more.
func (r *Receipt) displacedError(err error, undone int) error {
	return displaced{err: err, path: r.Store.Path, verb: "restored", sessions: undone, backup: r.Backup}.asProblem()
}

// commitUndo notes that an undo is about to be committed, and commits it.
func (r *Receipt) commitUndo(ctx context.Context, ed store.Editor) error {
	atStep("note the undo")
	if err := r.appendNote(recordUndo, 0); err != nil {
		return err
	}
	atStep("commit")
	if err := r.verifyInPlace(); err != nil {
		return err
	}
	return ed.Commit(ctx)
}

// noteUndone notes that the undo of a batch, counted from 1, is done; with 0 all of it.
func (r *Receipt) noteUndone(batch int) error {
	if batch > 0 {
		return r.appendNote(recordUndone, batch)
	}
	r.State = Undone
	return r.noteError(r.appendNote(recordUndone, 0), r.Store.Path+" is as it was before the repair", "This does no harm: a second undo would change nothing.")
}

// revertBatches takes a batch back in the open transaction, counted from 1; for 0 all of them, the
// last one first.
func (r *Receipt) revertBatches(ctx context.Context, ed store.Editor, batch int, sessions map[string]bool) error {
	first, end := batch-1, batch
	if batch == 0 {
		if err := r.lacksNone(ctx, ed); err != nil {
			return err
		}
		first, end = 0, len(r.Batches)
	}
	for n := end - 1; n >= first; n-- {
		b := r.Batches[n]
		state, err := b.compareState(ctx, ed)
		if err != nil {
			return r.leadBack(err)
		}
		if state == Pending {
			continue
		}
		journal, err := r.readJournal(n)
		if err != nil {
			return err
		}
		atStep("change")
		if err := ed.Revert(ctx, journal); err != nil {
			return r.leadBack(err)
		}
		if state, err = b.compareState(ctx, ed); err != nil || state != Pending {
			return errors.Join(problem.New(problem.RolledBack, "Nothing was changed. "+r.RestoreAdvice(),
				"the undo of %s was rolled back: the result would not be what the store was before the repair", r.Store.Path), err)
		}
		for _, s := range b.Sessions {
			sessions[s.ID] = s.Before == "" // in the first batch that has it
		}
	}
	return nil
}

// lacksNone makes sure that a receipt without an end, which a killed repair leaves,
// has all that was committed: sessions of the plan that are in none of its batches
// must be what they were when the plan was made.
func (r *Receipt) lacksNone(ctx context.Context, ed store.Editor) error {
	if r.closed {
		return nil
	}
	rest := maps.Clone(r.Sessions)
	for _, b := range r.Batches {
		for _, s := range b.Sessions {
			delete(rest, s.ID)
		}
	}
	ids := sortedKeys(rest)
	sums, err := ed.Sums(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if sums[id].Record != rest[id] {
			return r.refusedReceipt("session %s is not what it was before the repair, and %s does not tell why, because its end is missing. "+
				"Either the session was continued after the repair, or the receipt lacks a part of the repair", id, r.path)
		}
	}
	return nil
}

// compareState says whether the sessions of a batch are as they were after the
// repair (Done) or as they were before it (Pending).
func (b *Batch) compareState(ctx context.Context, ed store.Editor) (string, error) {
	ids := lists.MapEach(b.Sessions, func(s Touched) string { return s.ID })
	sums, err := ed.Sums(ctx, ids)
	if err != nil {
		return "", err
	}
	before, after := true, true
	changed := ""
	for _, s := range b.Sessions {
		now := sums[s.ID].Exact
		before = before && now == s.Before
		after = after && now == s.After
		if now != s.After && now != s.Before && changed == "" {
			changed = s.ID
		}
	}
	switch {
	case before:
		return Pending, nil
	case after:
		return Done, nil
	case changed == "":
		if _, parted := ed.(store.Piecemeal); parted { // a part of its files was replaced
			return Done, nil
		}
		changed = b.Sessions[0].ID
	}
	return "", problem.New(problem.Busy, "", "session %s was changed after the repair, and undo would lose that change", changed)
}

// leadBack adds what helps instead to the problem with a store that changed.
func (r *Receipt) leadBack(err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Class != problem.Busy {
		return err
	}
	told := *p
	told.Next, told.Err = "Nothing was changed. "+r.RestoreAdvice(), err
	return &told
}

// closeReplaced says what became of a repair whose store is not at its path any more; whole
// says that all of it was committed. The backup stays in any case: it may be all that is
// left of the store.
func (a *application) closeReplaced(err error, whole bool) (*Receipt, error) {
	r, d := a.receipt, displaced{err: err, path: a.plan.Store.Path, verb: "repaired"}
	if a.backed {
		d.backup = a.Backup
	}
	for _, b := range r.Batches {
		d.sessions += len(b.Sessions)
	}
	if len(r.Batches) == 0 {
		return nil, d.asProblem()
	}
	if r.State == Pending { // else it was closed before this came out
		state := Stopped
		if whole {
			state = Done
		}
		_ = r.appendEnd(state) // else the digests of the sessions tell
	}
	if !whole {
		d.rest = "run the repair again for the rest"
	}
	return r, d.asProblem()
}

// displaced is a change of a store that another file took the place of meanwhile.
type displaced struct {
	err      error // store.ErrReplaced
	path     string
	verb     string // what was done with the sessions: "repaired"
	sessions int    // in which it was, and committed
	rest     string // what to do about what was not, where the store is at its path
	backup   string // "" for none
}

// asProblem is the error for people.
func (d displaced) asProblem() error {
	p, ok := errors.AsType[*problem.Error](d.err)
	if !ok {
		return d.err
	}
	told := *p
	told.Err = d.err
	told.What += " while the store was being " + d.verb
	switch {
	case d.sessions == 0:
		told.What += ", so the change was rolled back"
		told.Next = "Nothing was changed."
	case !errors.Is(d.err, store.ErrBeside):
		told.Next = fmt.Sprintf("%s in the file that was there before, which is no longer at %s.", d.doneSentence(), d.path)
	default:
		told.Next = fmt.Sprintf("%s in %s before that.", d.doneSentence(), d.path)
		if errors.Is(d.err, store.ErrForeignLog) {
			told.Next += " The next program that opens the store would use the wrong log: close every program that uses the store, and move that log to another folder."
		}
		if d.rest != "" {
			told.Next += " Then " + d.rest + "."
		}
	}
	told.Next += d.backupSentence() + " Find out which program moves these files."
	return &told
}

// doneSentence counts the sessions.
func (d displaced) doneSentence() string {
	if d.sessions == 1 {
		return "1 session was " + d.verb
	}
	return fmt.Sprintf("%d sessions were %s", d.sessions, d.verb)
}

// backupSentence says where the whole store is as it was.
func (d displaced) backupSentence() string {
	if d.backup == "" {
		return ""
	}
	if _, err := os.Lstat(d.backup); err != nil {
		return " The backup " + d.backup + " was moved, too; it holds the whole store as it was before."
	}
	return " The backup " + d.backup + " holds the whole store as it was before."
}

// stateOf tells the states of a tree apart that planning goes through: which
// records stand where, with the values that a repair changes.
func stateOf(tree *session.Tree) string {
	h := sha256.New()
	line := func(format string, values ...any) { _, _ = fmt.Fprintf(h, format+"\n", values...) }
	for _, s := range tree.Sessions {
		line("session %q %q %q %d", s.ID, s.Parent, s.Title, len(s.Faults))
		for _, r := range s.IndexRefs {
			line("index %q %d", r.Field, r.Index)
		}
		for i := range s.Runs {
			line("run %q %q", s.Runs[i].ID, s.Runs[i].State)
		}
		for i := range s.Items {
			it := &s.Items[i]
			line("item %q %q %q %q %d %d %d %t %t %t", it.Table(), it.Key, it.Agent(), it.Branch(), it.Position, it.KeptFrom(), len(it.Results),
				it.Text != 0, it.Flags.Has(session.Archived), it.Flags.Has(session.Unfinished))
			for n := range it.Calls {
				line("call %q %d", it.Calls[n].ID, it.Calls[n].Form)
			}
			for n := range it.Results {
				line("result %q %q", it.Results[n].CallID, it.Results[n].Child)
			}
			for n := range it.Blocks {
				line("block %d %q %t", it.Blocks[n].Kind, it.Blocks[n].ID, it.Blocks[n].Blank)
			}
		}
	}
	return string(h.Sum(nil))
}

package repair

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
)

// Undo takes back what a receipt tells: all of it, or nothing. It refuses when
// a session that the repair touched changed since. A batch that was never
// committed, because the repair was killed, is passed over. undone is the
// number of sessions that are as they were before; it is 0 when there was
// nothing to take back. After a change the editor is closed.
func Undo(ctx context.Context, ed store.Editor, r *Receipt) (undone int, err error) {
	atStep("lock")
	if err := ed.Begin(ctx); err != nil {
		return 0, r.notUndone(err)
	}
	undone, err = r.revert(ctx, ed)
	if err == nil && undone > 0 {
		atStep("commit")
		err = ed.Commit(ctx)
	}
	if err != nil || undone == 0 {
		return 0, r.notUndone(errors.Join(err, ed.Rollback()))
	}
	atStep("committed")
	atStep("close")
	closed := ed.Close()
	if errors.Is(closed, store.ErrReplaced) {
		return undone, displaced{err: closed, path: r.Store.Path, verb: "set back", sessions: undone, backup: r.Backup}.problem()
	}
	for _, b := range r.Batches {
		b.State = Undone
	}
	return undone, errors.Join(r.mark(Undone, r.Store.Path+" is as before the repair", "That does no harm: to undo it once more would change nothing."), closed)
}

// notUndone tells the error of an undo that was rolled back.
func (r *Receipt) notUndone(err error) error {
	if !errors.Is(err, store.ErrReplaced) {
		return err
	}
	return displaced{err: err, path: r.Store.Path, verb: "set back", backup: r.Backup}.problem()
}

// revert takes the batches back in the open transaction, the last one first.
func (r *Receipt) revert(ctx context.Context, ed store.Editor) (int, error) {
	sessions := map[string]bool{}
	for n := len(r.Batches) - 1; n >= 0; n-- {
		b := r.Batches[n]
		state, err := b.compare(ctx, ed)
		if err != nil {
			return 0, err
		}
		if state == Pending {
			continue
		}
		atStep("change")
		if err := ed.Revert(ctx, b.Journal); err != nil {
			return 0, err
		}
		if state, err = b.compare(ctx, ed); err != nil || state != Pending {
			return 0, errors.Join(err, problem.New(problem.RolledBack, "Nothing was changed. The backup "+r.Backup+" holds the old state.",
				"the undo of %s was rolled back: the result is not what was there before the repair", r.Store.Path))
		}
		for _, s := range b.Sessions {
			sessions[s.ID] = true
		}
	}
	return len(sessions), nil
}

// compare says whether the sessions of a batch are as they were after the
// repair (Done) or as they were before it (Pending).
func (b *Batch) compare(ctx context.Context, ed store.Editor) (string, error) {
	ids := make([]string, len(b.Sessions))
	for i, s := range b.Sessions {
		ids[i] = s.ID
	}
	sums, err := ed.Sums(ctx, ids)
	if err != nil {
		return "", err
	}
	before, after := true, true
	changed := ""
	for _, s := range b.Sessions {
		now := sums[s.ID].Record
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
		changed = b.Sessions[0].ID
	}
	return "", problem.New(problem.Busy, "Nothing was changed. The backup that the receipt names holds the whole store as it was before the repair.",
		"session %s changed after the repair, so the repair cannot be taken back without losing that", changed)
}

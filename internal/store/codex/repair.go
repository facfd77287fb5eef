package codex

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/forest"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// Sums implements store.Summer. The record of a session is its file, to the byte, and what it has
// of the rollout that it continues.
func (c *codex) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	if sessions == nil {
		sessions = slices.Collect(maps.Keys(c.byID))
	}
	sums := map[string]store.Sum{}
	for _, id := range sessions {
		if c.byID[id] == nil {
			sums[id] = store.Sum{}
			continue
		}
		t := &thread{Session: c.newSession(c.byID[id]), sums: map[string]hash.Hash{}}
		if err := c.readThread(ctx, t, false); err != nil {
			return nil, err
		}
		log, _, err := c.file(c.byID[id].name)
		if err != nil {
			return nil, problem.New(problem.Unreadable, "", "the rollout of session %s cannot be read: %s", id, problem.Reason(err))
		}
		file, err := log.Digest()
		if err = errors.Join(err, log.Close()); err != nil {
			return nil, err
		}
		sum, all := store.Sum{Own: id, Items: map[string]string{}}, sha256.New()
		_, _ = all.Write([]byte(file))
		for i := range t.Items {
			it := &t.Items[i]
			if h := t.sums[it.Key]; h != nil {
				sum.Items[it.Key] = hex.EncodeToString(h.Sum(nil))
			}
			if it.Copied {
				_, _ = all.Write([]byte(sum.Items[it.Key]))
			}
		}
		sum.Record = hex.EncodeToString(all.Sum(nil))
		sum.Exact = sum.Record
		sums[id] = sum
	}
	return sums, nil
}

// Relate implements store.Relater: when a line is written that a repair adds is known where it
// is written, and an output does not say whether its call failed.
func (c *codex) Relate(tree *session.Tree) {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			it := &s.Items[i]
			if it.Table != "" {
				continue
			}
			it.Time = time.Time{}
			for n := range it.Results {
				it.Results[n].IsError = false
			}
		}
	}
}

// Rehearse implements store.Rehearser: what is composed is read again.
func (c *codex) Rehearse(ctx context.Context, planned *store.Change) (err error) {
	if c.root == nil {
		return errors.New("it is standard input")
	}
	files, err := c.composeFiles(ctx, planned)
	if err != nil {
		return err
	}
	after := *c
	var opened []*filelog.Log
	defer func() {
		for _, log := range opened {
			_ = log.Close() // it was only read
		}
	}()
	after.file = func(name string) (*filelog.Log, filelog.Keys, error) {
		log, keys, err := c.file(name)
		to := files[name]
		if err != nil || to == nil {
			return log, keys, err
		}
		opened = append(opened, log)
		is, err := log.Spliced(to.splices)
		return is, to.keys, err
	}
	read := &session.Tree{}
	for _, s := range planned.After.Sessions {
		if c.byID[s.ID] == nil {
			continue
		}
		t := &thread{Session: c.newSession(c.byID[s.ID])}
		if err := after.readThread(ctx, t, false); err != nil {
			return err
		}
		read.Sessions = append(read.Sessions, t.Session)
	}
	if !change.ReadsAs(read, planned) {
		return errors.New("the lines would be read in another way than is planned")
	}
	return nil
}

// editor is the folder of Codex that is opened for changing. Its databases are never written to:
// Codex makes them anew from the rollouts.
type editor struct {
	*filelog.Editor
	codex
	keys, last map[string]filelog.Keys // of the lines of files that were changed; as they were committed
}

// openEdit opens rollouts for repair or undo.
func openEdit(ctx context.Context, src *store.Source) (store.Editor, error) {
	folder, only := src.Path, ""
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		folder, only = homeOf(folder)
	}
	files, _, err := filelog.Edit(folder, func(name string) bool {
		return strings.HasSuffix(name, ending) && (name == only || strings.HasPrefix(path.Base(name), prefix))
	})
	if err != nil {
		return nil, err
	}
	e := &editor{Editor: files, codex: codex{facts: storeFacts(src), root: files.Root()}, keys: map[string]filelog.Keys{}, last: map[string]filelog.Keys{}}
	e.file = func(name string) (l *filelog.Log, keys filelog.Keys, err error) {
		l, err = filelog.Open(e.root, name)
		return l, keys, err
	}
	err = e.readHeads(ctx, only)
	e.file = func(name string) (*filelog.Log, filelog.Keys, error) {
		log, err := files.Log(name)
		return log, e.keys[name], err
	}
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return e, nil
}

// Close implements table.Transaction.
func (e *editor) Close() error { return e.Editor.Close() }

// Read implements store.Editor.
func (e *editor) Read(_ context.Context, sessions []string) (store.Store, error) {
	st := e.codex
	st.close, st.wanted = false, map[string]bool{}
	for _, t := range forest.GroupHeads(st.heads()) {
		for _, s := range t.Sessions {
			st.wanted[t.Root().ID] = st.wanted[t.Root().ID] || slices.Contains(sessions, s.ID)
		}
	}
	return &st, nil
}

// Write implements store.Editor. A process may have opened a thread since the plan was made.
func (e *editor) Write(ctx context.Context, c *store.Change) error {
	for _, s := range c.Before.Sessions {
		if err := e.refuseLive(ctx, s.ID); err != nil {
			return err
		}
	}
	files, err := e.composeFiles(ctx, c)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err == nil {
			err = e.Splice(name, files[name].splices)
		}
		e.keys[name] = files[name].keys
	}
	if err != nil && problem.ClassOf(err) == 0 && ctx.Err() == nil {
		err = &problem.Error{Class: problem.RolledBack, What: err.Error(), Err: err}
	}
	return err
}

// refuseLive refuses to change a thread that a process has open for writing.
func (e *editor) refuseLive(ctx context.Context, id string) error {
	r := e.byID[id]
	if r == nil {
		return nil
	}
	log, err := filelog.Open(e.root, r.name)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	if sqlite.WriterOf(ctx, log.File()) == session.WriterLive {
		return problem.New(problem.Busy, "Nothing was changed. Close Codex there, then run the repair again.", "session %s is in use: a process has its rollout open", id)
	}
	return nil
}

// Commit implements table.Transaction.
func (e *editor) Commit(ctx context.Context) error {
	err := e.Editor.Commit(ctx)
	if err == nil {
		e.last = maps.Clone(e.keys)
	}
	return err
}

// Rollback implements table.Transaction.
func (e *editor) Rollback() error {
	e.keys = maps.Clone(e.last)
	return e.Editor.Rollback()
}

// TryChanges implements table.Transaction.
func (e *editor) TryChanges(ctx context.Context, do func() error) error {
	keys := maps.Clone(e.keys)
	defer func() { e.keys = keys }()
	return e.Editor.TryChanges(ctx, do)
}

// Piecemeal implements store.Piecemeal.
func (e *editor) Piecemeal() {}

package logstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// Sums implements store.Summer. A root session is as it was if its file is, to the byte; of those of
// sub-agents only their items count.
func (l *logs) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	sums := map[string]store.Sum{}
	for _, id := range sessions {
		sums[id] = store.Sum{}
	}
	err := l.visitParts(ctx, sessions, false, func(f *File, p *Part) error {
		if _, wanted := sums[p.ID]; sessions != nil && !wanted {
			return nil
		}
		items, err := l.digestItems(f, p)
		s := store.Sum{Own: p.ID, Items: items}
		if p.ID == f.ID && err == nil {
			s.Record, err = f.Digest()
		} else {
			all := sha256.New()
			for _, key := range slices.Sorted(maps.Keys(items)) {
				all.Write([]byte(key + items[key]))
			}
			s.Record = hex.EncodeToString(all.Sum(nil))
		}
		s.Exact = s.Record
		sums[p.ID] = s
		return err
	})
	return sums, err
}

// digestItems digests what the line of each item says, whoever's it is and whatever is before it.
func (l *logs) digestItems(f *File, p *Part) (map[string]string, error) {
	sums, lines := make(map[string]string, len(p.Items)), f.Window()
	for i := range p.Items {
		text, err := lines.Line(p.Lines[p.Items[i].Key])
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(l.Plain(text))
		sums[p.Items[i].Key] = hex.EncodeToString(sum[:])
	}
	return sums, nil
}

// Relate implements store.Relater: when a line is written that a repair adds is known where it is
// written, and what came home is there.
func (l *logs) Relate(tree *session.Tree) {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			it := &s.Items[i]
			if it.Table() == "" {
				it.Time = time.Time{}
			}
			if it.Home() == s.ID {
				it.Own().Home = ""
			}
		}
		l.Kind.Relate(s)
	}
}

// editor is a folder, or one file, that is opened for changing.
type editor struct {
	*filelog.Editor
	logs
}

// Edit is that of a store.Kind.
func (k *Kind) Edit(ctx context.Context, src *store.Source) (store.Editor, error) {
	files, only, err := filelog.Edit(src.Path, func(name string) bool { return strings.HasSuffix(name, k.Ending) })
	if err != nil {
		return nil, err
	}
	e := &editor{files, logs{Kind: k, facts: k.Facts(src), root: files.Root(), file: files.Log, path: files.Path(), list: []string{only}}}
	if only == "" {
		e.list = k.List(e.root)
	}
	return e, ctx.Err()
}

// Close implements table.Transaction.
func (e *editor) Close() error { return e.Editor.Close() }

// Read implements store.Editor.
func (e *editor) Read(_ context.Context, sessions []string) (store.Store, error) {
	st := e.logs
	st.list = slices.DeleteFunc(slices.Clone(e.list), func(name string) bool { return !slices.Contains(sessions, e.idOf(name)) })
	return &st, nil
}

// Write implements store.Editor. A process may have opened the session since the plan was made.
func (e *editor) Write(ctx context.Context, planned *store.Change) error {
	name, edits, err := e.compose(ctx, planned)
	if err != nil || len(edits) == 0 {
		return err
	}
	if e.Writer(e.root, name) == session.WriterLive {
		return problem.New(problem.Busy, "Nothing was changed. Close "+e.facts.Title+" there, then run the repair again.", "session %s is in use: %s has it open", e.idOf(name), e.facts.Title)
	}
	return e.Splice(name, edits)
}

// Piecemeal implements store.Piecemeal.
func (e *editor) Piecemeal() {}

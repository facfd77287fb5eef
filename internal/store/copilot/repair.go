package copilot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// digestItems digests what the line of each item says, whoever's it is and whatever is before it.
func (p *part) digestItems() (map[string]string, error) {
	sums := make(map[string]string, len(p.Items))
	for key, i := range p.lines {
		text, err := p.in.text.Line(p.in.nodes[i].Span)
		if err != nil {
			return nil, err
		}
		if p.in.nodes[i].kind != unread {
			for _, pointer := range []string{"/agentId", "/data/parentToolCallId", "/parentId"} {
				if without, err := jsonedit.SetValue(text, pointer, nil); err == nil {
					text = without
				}
			}
		}
		sum := sha256.Sum256(text)
		sums[key] = hex.EncodeToString(sum[:])
	}
	return sums, nil
}

// Sums implements store.Summer. A root session is as it was if its file is, to the byte; of those of
// sub-agents only their items count.
func (c *copilot) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	sums := map[string]store.Sum{}
	for _, id := range sessions {
		sums[id] = store.Sum{}
	}
	err := c.visitParts(ctx, sessions, false, func(p *part) error {
		if _, wanted := sums[p.ID]; sessions != nil && !wanted {
			return nil
		}
		items, err := p.digestItems()
		s := store.Sum{Own: p.ID, Items: items}
		if p.Parent == "" && err == nil {
			s.Record, err = p.in.source.Digest()
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

// Relate implements store.Relater: when a line is written that a repair adds is known where it is
// written, and what came home or is no longer passed over is sent.
func (c *copilot) Relate(tree *session.Tree) {
	for _, s := range tree.Sessions {
		passed := slices.ContainsFunc(s.Faults, func(f session.Fault) bool {
			return f.Kind == session.HiddenRecord || f.Kind == session.Undecodable && f.Default != nil
		})
		for i := range s.Items {
			it := &s.Items[i]
			if it.Table == "" {
				it.Time = time.Time{}
			}
			if it.Home == s.ID {
				it.Home = ""
			}
			it.Passed = it.Passed && (passed || len(it.Results) > 0 && it.Results[0].Synthetic)
		}
	}
}

// Rehearse implements store.Rehearser: what is composed is read again.
func (c *copilot) Rehearse(ctx context.Context, planned *store.Change) error {
	if c.piped != nil {
		return errors.New("it is standard input")
	}
	name, edits, err := c.composeEdits(ctx, planned)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Class == problem.RolledBack {
		return errors.New(p.What)
	}
	if err != nil || len(edits) == 0 {
		return err
	}
	was, err := filelog.Open(c.root, name)
	if err != nil {
		return err
	}
	defer func() { _ = was.Close() }()
	info, err := c.root.Stat(name)
	if err != nil {
		return err
	}
	is, err := filelog.Apply(was.Bytes(), info.Size(), edits)
	if err != nil {
		return err
	}
	after := *c
	after.file = func(string) (*filelog.Log, error) { return is.Log(), nil }
	tree, err := after.readTree(ctx, name, false, nil)
	if err == nil && (tree == nil || !change.ReadsAs(tree, planned)) {
		err = errors.New("the lines would be read in another way than is planned")
	}
	return err
}

// editor is a folder, or one file, that is opened for changing.
type editor struct {
	*filelog.Editor
	copilot
}

// openEdit opens sessions for repair or undo.
func openEdit(ctx context.Context, src *store.Source) (store.Editor, error) {
	files, only, err := filelog.Edit(src.Path, func(name string) bool { return strings.HasSuffix(name, ending) })
	if err != nil {
		return nil, err
	}
	e := &editor{files, copilot{facts: storeFacts(src), root: files.Root(), file: files.Log, path: files.Path(), list: []string{only}}}
	if only == "" {
		e.list = listFiles(e.root)
	}
	return e, ctx.Err()
}

// Close implements table.Transaction.
func (e *editor) Close() error { return e.Editor.Close() }

// Read implements store.Editor.
func (e *editor) Read(_ context.Context, sessions []string) (store.Store, error) {
	st := e.copilot
	st.list = slices.DeleteFunc(slices.Clone(e.list), func(name string) bool { return !slices.Contains(sessions, e.sessionOf(name)) })
	return &st, nil
}

// Write implements store.Editor. A process may have opened the session since the plan was made.
func (e *editor) Write(ctx context.Context, planned *store.Change) error {
	name, edits, err := e.composeEdits(ctx, planned)
	if err != nil || len(edits) == 0 {
		return err
	}
	if e.writerOf(name) == session.WriterLive {
		return problem.New(problem.Busy, "Nothing was changed. Close Copilot CLI there, then run the repair again.", "session %s is in use: Copilot CLI has it open", e.sessionOf(name))
	}
	return e.Splice(name, edits)
}

// Piecemeal implements store.Piecemeal.
func (e *editor) Piecemeal() {}

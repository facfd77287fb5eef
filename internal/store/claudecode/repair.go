package claudecode

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"math"
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

// fieldParent is what a repair sets of a line. The pointer of the session's Ref names the
// line, and the value the one that it hangs below.
const fieldParent = "parentUuid"

// fieldSidechain says of a line that it is a sub-agent's.
const fieldSidechain = "isSidechain"

// part is what a file holds of a session.
type part struct {
	*session.Session
	in    *reader
	lines map[string][]int // of each item, by its key
}

// digestItems digests what the lines of each item say, whatever they hang below and whosever file they
// are in.
func (p *part) digestItems() (map[string]string, error) {
	sums, lines := make(map[string]string, len(p.lines)), p.in.log.Window()
	inOrder := func(a, b string) int { return cmp.Compare(p.lines[a][0], p.lines[b][0]) }
	for _, key := range slices.SortedFunc(maps.Keys(p.lines), inOrder) {
		sum := sha256.New()
		for _, n := range p.lines[key] {
			text, err := lines.Line(p.in.nodes[n].lineSpan())
			if err != nil {
				return nil, err
			}
			sum.Write(jsonedit.ReplaceMembers(text, withoutPlace))
			sum.Write([]byte("\n"))
		}
		sums[key] = hex.EncodeToString(sum.Sum(nil))
	}
	return sums, nil
}

// withoutPlace replaces what only says where a line stands.
func withoutPlace(name string, value []byte) []byte {
	switch {
	case name == fieldParent:
		return []byte("null")
	case name == fieldSidechain && string(value) == "false": // a stray that comes home
		return []byte("true")
	}
	return nil
}

// visitParts hands the files of sessions to fn, as they are read. Of a transcript that has one
// of them come all sessions; nil asks for all transcripts.
func (c *claude) visitParts(ctx context.Context, sessions []string, fn func(t transcript, p *part) error) error {
	missing := map[string]bool{}
	for _, id := range sessions {
		missing[id] = true
	}
	look := func(group []transcript) (unread, wrong error) {
		_, unread = c.readTrees(ctx, group, func(t transcript, p *part) {
			delete(missing, p.ID)
			wrong = cmp.Or(wrong, fn(t, p))
		})
		return unread, wrong
	}
	var asked, others []transcript
	for _, t := range c.list {
		if sessions == nil || missing[t.id] {
			asked = append(asked, t)
		} else {
			others = append(others, t)
		}
	}
	for _, group := range c.groupTranscripts(ctx, asked) {
		if unread, wrong := look(group); unread != nil || wrong != nil {
			return errors.Join(unread, wrong)
		}
	}
	for _, t := range others {
		if len(missing) == 0 { // the rest are sub-agents of others
			break
		}
		if _, wrong := look([]transcript{t}); wrong != nil || ctx.Err() != nil { // one that cannot be read has none of them
			return cmp.Or(wrong, ctx.Err())
		}
	}
	return nil
}

// Sums implements store.Summer. A session is as it was if its file is, to the byte; of the
// sessions of sub-agents in the file of another one only their items count.
func (c *claude) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	sums, files := map[string]store.Sum{}, map[string]bool{}
	for _, id := range sessions {
		sums[id] = store.Sum{}
	}
	err := c.visitParts(ctx, sessions, func(_ transcript, p *part) error {
		if _, wanted := sums[p.ID]; sessions != nil && !wanted {
			return nil
		}
		items, err := p.digestItems()
		s := store.Sum{Own: p.ID, Items: items}
		if p.ID == p.in.id && err == nil {
			s.Record, err = p.in.log.Digest()
		} else {
			all := sha256.New()
			for _, key := range slices.Sorted(maps.Keys(items)) {
				all.Write([]byte(key + items[key]))
			}
			s.Record = hex.EncodeToString(all.Sum(nil))
		}
		s.Exact = s.Record
		if files[p.ID] { // of two sessions with one name nobody knows which is meant
			s.Record = ""
		}
		sums[p.ID], files[p.ID] = s, true
		return err
	})
	return sums, err
}

// Relate implements store.Relater: when a line is written that a repair adds is known
// where it is written, a stray is sent where it belongs, and without a gap all is sent.
func (c *claude) Relate(tree *session.Tree) {
	for _, s := range tree.Sessions {
		gap := slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Hides })
		for i := range s.Items {
			it := &s.Items[i]
			if it.Table() == "" {
				it.Time = time.Time{}
			}
			if !gap {
				it.Flags &^= session.Unshown
			}
			if it.Home() == s.ID { // a stray that came home
				it.Own().Home, it.Flags = "", it.Flags&^session.Archived
			}
		}
	}
}

// Rehearse implements store.Rehearser: what is composed is read again, since a line can turn
// out to be on another branch than was planned.
func (c *claude) Rehearse(ctx context.Context, planned *store.Change) error {
	if c.piped != nil {
		return errors.New("it is standard input")
	}
	texts, opened := map[string]*filelog.Spliced{}, []*filelog.Log{}
	edits, err := c.composeFiles(ctx, planned, func(name string) (*filelog.Spliced, error) {
		if err := filelog.CheckRegular(c.root, name); err != nil {
			return nil, err
		}
		log, err := filelog.Open(c.root, name)
		if err != nil {
			return nil, err
		}
		opened, texts[name] = append(opened, log), log.Text()
		return texts[name], nil
	})
	defer filelog.CloseAll(opened)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Class == problem.RolledBack {
		return errors.New(p.What)
	}
	if err != nil {
		return err
	}
	after := *c
	after.file = func(name string) (*filelog.Log, error) {
		if edits[name] == nil {
			return c.file(name)
		}
		is, err := filelog.Apply(texts[name], texts[name].Size, edits[name])
		if err != nil {
			return nil, err
		}
		return is.Log(), nil
	}
	roots := rootsOf(planned.After)
	group := slices.DeleteFunc(slices.Clone(c.list), func(t transcript) bool { return !slices.Contains(roots, t.id) })
	if len(group) == 0 {
		return nil
	}
	trees, err := after.readTrees(ctx, group, nil)
	if err == nil && !change.ReadsAs(joinTrees(trees), planned) {
		err = errors.New("the lines would be read in another way than is planned")
	}
	return err
}

// editor is a folder, or one transcript, that is opened for changing.
type editor struct {
	*filelog.Editor
	claude
}

// openEdit opens transcripts for repair or undo.
func openEdit(ctx context.Context, src *store.Source) (store.Editor, error) {
	files, only, err := filelog.Edit(src.Path, func(name string) bool { return strings.HasSuffix(name, ending) })
	if err != nil {
		return nil, err
	}
	e := &editor{files, claude{facts: storeFacts(src), root: files.Root(), file: files.Log, besides: newBesides()}}
	if only == "" {
		e.list, _ = listTranscripts(e.root, math.MaxInt)
	} else if info, err := e.root.Stat(only); err == nil {
		e.list = []transcript{oneOf(only, info.Size())}
	}
	return e, ctx.Err()
}

// Close implements table.Transaction.
func (e *editor) Close() error { return e.Editor.Close() }

// Read implements store.Editor.
func (e *editor) Read(ctx context.Context, sessions []string) (store.Store, error) {
	st := e.claude
	st.list = nil
	err := e.visitParts(ctx, sessions, func(t transcript, p *part) error {
		if slices.Contains(sessions, p.ID) && !slices.Contains(st.list, t) {
			st.list = append(st.list, t)
		}
		return nil
	})
	e.Narrow()
	return &st, err
}

// Write implements store.Editor. A process may have opened the session since the plan was
// made.
func (e *editor) Write(ctx context.Context, c *store.Change) error {
	live := findLiving(e.Path())
	for _, root := range rootsOf(c.Before) {
		if live.writerOf(root) == session.WriterLive {
			return problem.New(problem.Busy, "Nothing was changed. Close Claude Code there, then run the repair again.", "session %s is in use: Claude Code has it open", root)
		}
	}
	files, err := e.composeFiles(ctx, c, e.Text)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err == nil {
			err = e.Splice(name, files[name])
		}
	}
	return err
}

// Piecemeal implements store.Piecemeal.
func (e *editor) Piecemeal() {}

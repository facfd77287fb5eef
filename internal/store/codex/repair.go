package codex

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/responses"
)

// Relate implements store.Relater: when a line is written that a repair adds is known where it
// is written, and an output does not say whether its call failed.
func (c *codex) Relate(tree *session.Tree) {
	for _, s := range tree.Sessions {
		linkChildren(s)
		for i := range s.Items {
			if it := &s.Items[i]; it.Table() == "" {
				it.Time = time.Time{}
				for n := range it.Results {
					it.Results[n].IsError = false
				}
			}
		}
	}
}

// Rehearse implements store.Rehearser.
func (c *codex) Rehearse(ctx context.Context, planned *store.Change) error {
	_, err := c.composeFiles(ctx, planned)
	return err
}

// editor is the folder of Codex that is opened for changing. Its databases are never written to:
// Codex makes them anew from the rollouts.
type editor struct {
	*filelog.Placed
	codex
}

func openEdit(ctx context.Context, src *store.Source) (store.Editor, error) {
	folder, only := homeOf(src.Path)
	files, err := filelog.EditPlacedIn(folder, func(name string) bool {
		return name == only || strings.HasSuffix(name, ending) && strings.HasPrefix(path.Base(name), prefix)
	})
	if err != nil {
		return nil, err
	}
	e := &editor{files, codex{facts: storeFacts(src), root: files.Root()}}
	e.file = e.openPlain
	if err := e.readHeads(ctx, only); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	e.file = func(ctx context.Context, name string) (*filelog.Log, filelog.Keys, error) {
		if plain(name) != name { // which is never written
			return e.openPlain(ctx, name)
		}
		return files.LogOf(ctx, name)
	}
	return e, nil
}

// Close implements table.Transaction.
func (e *editor) Close() error { return e.Placed.Close() }

// Piecemeal implements store.Piecemeal.
func (e *editor) Piecemeal() {}

// Read implements store.Editor.
func (e *editor) Read(_ context.Context, sessions []string) (store.Store, error) {
	st := e.codex
	st.wantTrees(func(r *rollout) bool { return slices.Contains(sessions, r.id) })
	return &st, nil
}

// Write implements store.Editor. A process may have opened a thread since the plan was made.
func (e *editor) Write(ctx context.Context, c *store.Change) error {
	files, err := e.composeFiles(ctx, c)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if w := files[name]; w.Writer == session.WriterLive {
			return problem.New(problem.Busy, "Nothing was changed. Close Codex there, then run the repair again.", "session %s is in use: a process has its rollout open", w.of.id)
		}
		if err == nil {
			err = e.SpliceLines(name, files[name].splices, files[name].after)
		}
	}
	if err != nil && problem.ClassOf(err) == 0 && ctx.Err() == nil {
		err = &problem.Error{Class: problem.RolledBack, What: err.Error(), Err: err}
	}
	return err
}

// rewrite is what a repair makes of the lines of a rollout: some leave, and new ones come.
type rewrite struct {
	*thread
	of      *rollout
	edits   *filelog.Edits
	gone    map[int64]bool    // the places of lines that leave
	before  map[int64][]added // what comes before others, by the places of these
	end     []added           // and behind all others
	from    int64             // the number of the line from which on they are numbered anew
	first   int64             // the offset of the first byte that becomes another one
	next    int64             // the ordinal of the next line, -1 where lines have none
	turn    string            // that was begun and not ended
	splices []filelog.Splice
	after   filelog.Keys // of the lines afterwards
}

// added is a line that is new, at the time of the item before it.
type added struct {
	at      time.Time
	kind    string
	payload []byte
}

// composeFiles composes what becomes of the files of a tree, by their names.
func (c *codex) composeFiles(ctx context.Context, tree *store.Change) (map[string]*rewrite, error) {
	all, err := change.CompareSessions(tree)
	files := map[string]*rewrite{}
	for _, s := range all {
		r := c.byID[s.Is.ID]
		if r == nil || s.Was == nil || s.Was.Parent != s.Is.Parent {
			return nil, errors.New("a repair of rollouts makes no session, and gives none another parent")
		}
		if !s.ListDiffers() && len(s.Sets) == 0 {
			continue
		}
		if c.root != nil {
			err = filelog.CheckRegular(c.root, r.name)
		}
		if err != nil {
			return files, err
		}
		if plain(r.name) != r.name {
			return nil, fmt.Errorf("the rollout of session %s is compressed; run `zstd -d --rm %s` first (Codex decompresses it, too, when it resumes the thread)", r.id, shell.Path(filepath.Join(c.root.Name(), r.name)))
		}
		w := &rewrite{of: r, gone: map[int64]bool{}, before: map[int64][]added{}, from: math.MaxInt64, first: math.MaxInt64, next: -1}
		w.thread = &thread{Session: c.newSession(r), lines: map[string]filelog.Record{}, made: map[string]responses.Item{}}
		if err = c.readThread(ctx, w.thread); err == nil {
			err = w.planSession(s)
		}
		if err == nil {
			err = w.composeFile(ctx, c)
		}
		if files[r.name] = w; err != nil {
			break
		}
	}
	return files, err
}

func (w *rewrite) planSession(s *change.Session) (err error) {
	for _, e := range s.Sets {
		if e.Field != fieldOrdinal || e.Value == nil {
			return errors.New("a repair of rollouts does not set " + e.Field)
		}
		if _, err = fmt.Sscanf(*e.Value, fromLine, &w.from); err != nil {
			return err
		}
	}
	for _, it := range s.Removed {
		at, own := w.lines[it.Key]
		if !own {
			return w.refuseAt(it.Key, it.Key, "it is a part of a compaction")
		}
		w.gone[at.Place] = true
	}
	last, at := 0, time.Time{}
	for i := range s.Items {
		it := &s.Items[i]
		if !it.Is.Time.IsZero() {
			at = it.Is.Time
		}
		changes := slices.ContainsFunc(it.Values, func(v change.Value) bool { return v.Field != session.FieldPosition })
		switch {
		case it.Was != nil && (changes || it.At < last || it.Moves || it.Part >= 0 || it.Scrubbed || it.Shown || len(it.Taken)+len(it.Sets) > 0):
			return w.refuseAt(it.Is.Key, it.Is.Key, "a repair of rollouts adds results, takes whole lines away and numbers lines anew, and changes nothing that one says")
		case it.Was != nil:
			last = it.At
			continue
		case it.Is.Role != session.Tool || len(it.Is.Results) != 1:
			return errors.New("a repair of rollouts adds only results")
		}
		text := added{at, typeItem, w.composeResult(&it.Is.Results[0])}
		n := slices.IndexFunc(s.Items[i:], func(o change.Item) bool { return o.Was != nil })
		if n < 0 {
			w.end = append(w.end, text)
			continue
		}
		behind, own := w.lines[s.Items[i+n].Is.Key]
		if !own {
			return w.refuseAt(s.Items[i+n].Is.Key, it.Is.Key, "it would be in a compaction")
		}
		w.before[behind.Place] = append(w.before[behind.Place], text)
	}
	return nil
}

// refuseAt says why something cannot be done at an item, to one of a key.
func (w *rewrite) refuseAt(at, key, why string) error {
	if strings.HasPrefix(at, w.of.id+"<") {
		why = "its place is in the rollout that this thread continues; repair that one"
	}
	return store.Unwritable{key: errors.New(why)}
}

func (w *rewrite) composeResult(r *session.Result) []byte {
	call := w.made[r.CallID]
	kind := responses.TypeCall // which the output of a shell has with Codex, too
	if call.Type == "custom_tool_call" {
		kind = call.Type
	}
	text := []byte(strings.TrimSuffix(responses.ComposeOutput(kind, r.CallID, r.Text), "}"))
	if call.Meta.Turn != "" {
		text = fmt.Appendf(text, `,"internal_chat_message_metadata_passthrough":{"turn_id":%s}`, docedit.QuoteText(call.Meta.Turn))
	}
	return append(text, '}')
}

// composeFile makes the edits of all lines, in their order.
func (w *rewrite) composeFile(ctx context.Context, c *codex) error {
	log, keys, err := c.file(ctx, w.of.name)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	w.edits = filelog.NewEdits(log, keys, w.total)
	rec := filelog.Record{Place: -1}
	for at, err := range log.Lines(ctx) {
		rec = filelog.Record{Span: at.Span, Place: rec.Place + 1, Is: true}
		if err == nil {
			err = w.composeLine(&at, rec)
		}
		if err != nil {
			return err
		}
	}
	if n := len(w.end); n > 0 && w.turn != "" {
		w.end = append(w.end, added{w.end[n-1].at, typeEvent, fmt.Appendf(nil, `{"type":"turn_aborted","turn_id":%s,"reason":"interrupted"}`, docedit.QuoteText(w.turn))})
	}
	for _, line := range w.end {
		to := w.edits.Of(rec)
		w.first = min(w.first, rec.Offset+int64(rec.Length)+int64(rec.Rest)) // which a fork reads if lines were lost
		to.After = append(to.After, w.newLine(line))
	}
	if w.first < w.of.read {
		return fmt.Errorf("a fork of session %s reads its rollout up to byte %d, and this would move what is before that: the fork would lose the end of its history", w.of.id, w.of.read)
	}
	w.splices, w.after, err = w.edits.ComposeSplices()
	return err
}

func (w *rewrite) composeLine(at *filelog.Line, rec filelog.Record) error {
	l, wrong := parseLine(at.Text)
	numbered := wrong == "" && at.Err == nil && l.Ordinal != nil
	if more := w.before[rec.Place]; len(more) > 0 || w.gone[rec.Place] {
		to := w.edits.Of(rec)
		for _, line := range more {
			to.Before = append(to.Before, w.newLine(line))
		}
		if to.Gone, w.first = w.gone[rec.Place], min(w.first, at.Offset); numbered || !to.Gone {
			w.from = min(w.from, at.Number)
		}
		if to.Gone {
			return nil
		}
	}
	var e event
	if l.Type == typeEvent && serde.Unmarshal(l.Payload, &e) == nil {
		switch e.Type {
		case "task_started":
			w.turn = e.Turn
		case "task_complete", "turn_aborted":
			w.turn = ""
		}
	}
	if !numbered {
		return nil
	}
	is := *l.Ordinal
	if is == math.MaxInt64 && at.Number < w.from {
		return errors.New("no number comes after that of line " + strconv.FormatInt(at.Number, 10))
	}
	if at.Number >= w.from && w.next >= 0 && is != w.next {
		if w.of.Start > 0 && is < w.of.Start {
			return errors.New("lines that are copies of the parent's would get other numbers, and the first line says where they end")
		}
		text, err := jsonedit.SetValue(slices.Clone(at.Text), "/ordinal", strconv.AppendInt(nil, w.next, 10))
		if err != nil {
			return err
		}
		w.edits.Of(rec).Text, is, w.first = text, w.next, min(w.first, at.Offset)
	}
	w.next = is + 1
	return nil
}

// newLine is a line with the next number.
func (w *rewrite) newLine(a added) filelog.NewLine {
	text := fmt.Appendf(nil, `{"timestamp":%q,`, a.at.UTC().Format(time.RFC3339Nano))
	if w.next >= 0 {
		text = fmt.Appendf(text, `"ordinal":%d,`, w.next)
		w.next++
	}
	return filelog.NewLine{Text: fmt.Appendf(text, `"type":%q,"payload":%s}`, a.kind, a.payload), Key: w.edits.Fresh(), Is: true}
}

package canonical

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// editor is a stream that is opened for changing.
type editor struct {
	*filelog.Placed
	src     *store.Source
	changes *rewriter // of the open transaction
}

// Alone implements store.Alone.
func (e *editor) Alone() {}

// openEdit opens a stream for repair or undo.
func openEdit(ctx context.Context, src *store.Source) (store.Editor, error) {
	file, err := filelog.EditPlaced(src.Path)
	if err != nil {
		return nil, err
	}
	e := &editor{Placed: file, src: src}
	s, err := e.readStream(ctx)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return e, s.Close()
}

// readStream reads the stream as the transaction sees it.
func (e *editor) readStream(ctx context.Context) (*stream, error) {
	log, keys, err := e.Log(ctx)
	if err != nil {
		return nil, err
	}
	s, err := read(ctx, e.src, log, store.Options{})
	if err == nil && s.newer {
		err = problem.New(problem.Usage, "Repair it with a later sessctl.", "%s cannot be repaired: %s", s.path, s.facts.ReadOnly)
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	s.keys = keys
	return s, nil
}

// Read implements store.Editor.
func (e *editor) Read(ctx context.Context, sessions []string) (store.Store, error) {
	s, err := e.readStream(ctx)
	if err != nil {
		return nil, err
	}
	s.only = map[string]bool{}
	for _, id := range sessions {
		s.only[id] = true
	}
	return s, nil
}

// Sums implements store.Editor.
func (e *editor) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	s, err := e.readStream(ctx)
	if err != nil {
		return nil, err
	}
	sums, err := s.Sums(ctx, sessions)
	return sums, errors.Join(err, s.Close())
}

// Write implements store.Editor.
func (e *editor) Write(ctx context.Context, c *store.Change) error {
	if !e.Begun() {
		s, err := e.readStream(ctx)
		if err != nil {
			return err
		}
		e.changes = &rewriter{s: s, names: signatureNames{}, edits: e.Edits(s.log, s.index.items)}
	}
	return e.changes.writeChange(c)
}

// rewriter is what becomes of a stream. Lines keep their places, those that belong to
// no session included; a line is another one only where its record changed.
type rewriter struct {
	s     *stream
	names signatureNames
	edits *filelog.Edits
}

// writeChange takes in a change of a tree, whose bodies are loaded.
func (r *rewriter) writeChange(c *store.Change) error {
	if len(c.Sets) > 0 {
		return problem.New(problem.RolledBack, "", "%s of %s cannot be changed: a stream has no such value", c.Sets[0].Field, c.Sets[0].Ref.Row())
	}
	sessions, err := change.CompareSessions(c)
	if err != nil {
		return err
	}
	var created []filelog.NewLine
	last := filelog.Record{Span: filelog.Span{Offset: -1}} // of the lines of the tree
	for _, s := range sessions {
		if s.Was == nil {
			lines, err := r.createdLines(c, s)
			if err != nil {
				return err
			}
			created = append(created, lines...)
			continue
		}
		e := r.s.index.byID[s.Is.ID]
		if err := r.rewriteSession(c, s, e); err != nil {
			return err
		}
		if last = laterRecord(last, e.line.Record); len(e.items) > 0 {
			last = laterRecord(last, e.items[len(e.items)-1].Record)
		}
	}
	if len(created) > 0 {
		end := r.edits.Of(last)
		end.After = append(end.After, created...)
	}
	return nil
}

func laterRecord(a, b filelog.Record) filelog.Record {
	if b.Offset > a.Offset {
		return b
	}
	return a
}

// createdLines are the lines of a session that was not there.
func (r *rewriter) createdLines(c *store.Change, s *change.Session) ([]filelog.NewLine, error) {
	line, err := r.newSessionLine(c, s.Is)
	if err != nil {
		return nil, err
	}
	lines := []filelog.NewLine{{Text: line}}
	for i := range s.Items {
		if line, err = r.itemLine(s.Is, &s.Items[i]); err != nil {
			return nil, err
		}
		lines = append(lines, r.keyedLine(line, &s.Items[i]))
	}
	return lines, nil
}

// rewriteSession changes the lines of a session that is there. The items that still follow each
// other keep their places; every other one is written behind its predecessor.
func (r *rewriter) rewriteSession(c *store.Change, s *change.Session, e *entry) error {
	line, err := sessionLineOf(c, s, e)
	if err != nil {
		return err
	}
	r.replaceLine(e.line.Record, s.Is.Raw, line)
	next := 0                   // of e.items
	var first []filelog.NewLine // the lines before the first item that keeps its place
	add := func(line filelog.NewLine) { first = append(first, line) }
	for i := range s.Items {
		it := &s.Items[i]
		if line, err = r.itemLine(s.Is, it); err != nil {
			return err
		}
		if !it.Stays() || it.Moves || it.At < next {
			add(r.keyedLine(line, it))
			continue
		}
		r.dropLines(e.items[next:it.At])
		at := e.items[it.At].Record
		r.replaceLine(at, it.Is.Body.Raw, line)
		if len(first) > 0 {
			r.edits.Of(at).Before, first = first, nil
		}
		next = it.At + 1
		add = func(line filelog.NewLine) { to := r.edits.Of(at); to.After = append(to.After, line) }
	}
	if len(first) > 0 { // no item keeps its place
		to := r.edits.Of(e.line.Record)
		to.After = append(to.After, first...)
	}
	r.dropLines(e.items[next:])
	return nil
}

// keyedLine is the line of an item at a new place; what is a record only now has a new key.
func (r *rewriter) keyedLine(line []byte, it *change.Item) filelog.NewLine {
	if it.Stays() {
		if key, err := strconv.ParseInt(it.Was.Key, 10, 64); err == nil { // as it was made here
			return filelog.NewLine{Text: line, Key: key, Is: true}
		}
	}
	return filelog.NewLine{Text: line, Key: r.edits.Fresh(), Is: true}
}

// dropLines notes lines that leave their places.
func (r *rewriter) dropLines(items []span) {
	for _, at := range items {
		r.edits.Of(at.Record).Gone = true
	}
}

// replaceLine notes what a line becomes, if that is something else.
func (r *rewriter) replaceLine(at filelog.Record, was, line []byte) {
	if !slices.Equal(was, line) {
		r.edits.Of(at).Text = line
	}
}

// sessionLineOf is the line of a session of the stream with the values that become
// others. One that cannot be read stays as it is.
func sessionLineOf(c *store.Change, s *change.Session, e *entry) ([]byte, error) {
	was, is := s.Was, s.Is
	if is.Raw == nil {
		return nil, fmt.Errorf("session %s cannot be written: its line was not loaded", is.ID)
	}
	if _, usable, _ := decodeLine[sessionLine](is.Raw); !usable {
		return is.Raw, nil
	}
	line := lineText{text: is.Raw}
	if is.Parent != was.Parent {
		line.setMember("/parent", is.Parent)
	}
	if is.Title != was.Title {
		line.setMember("/title", is.Title)
	}
	if !slices.Equal(is.Runs, was.Runs) {
		line.setJSON("/runs", runsOf(c.Before, is))
	}
	if is.Task != taskAgain(is, e.task) {
		if task := findTask(c.After, is); task != nil {
			line.setMember("/task", *task)
		}
	}
	return line.text, line.err
}

// taskAgain is the task that a reader of the session will find.
func taskAgain(s *session.Session, given *session.Digest) session.Digest {
	switch {
	case given != nil:
		return *given
	case len(s.Items) == 0 || s.Items[0].Body == nil:
		return 0
	}
	return taskOf(&s.Items[0], s.Items[0].Body.Text)
}

// newSessionLine is the line of a session that a repair creates.
func (r *rewriter) newSessionLine(c *store.Change, s *session.Session) ([]byte, error) {
	rec := encodeSession(s)
	if rec.Task == nil && s.Task != taskAgain(s, nil) {
		rec.Task = findTask(c.After, s)
	}
	rec.Runs = nil
	text, err := r.encodeLine(&rec)
	if err != nil || len(s.Runs) == 0 {
		return text, err
	}
	line := lineText{text: text}
	line.setJSON("/runs", runsOf(c.Before, s))
	return line.text, line.err
}

// findTask finds the text of a session's task: in what the session says, or in
// the call that hands it over. nil means that nobody has it.
func findTask(tree *session.Tree, s *session.Session) *string {
	if task := explicitTask(s); task != nil || s.Task == 0 {
		return cmp.Or(task, new(string))
	}
	for _, from := range tree.Sessions {
		for i := range from.Items {
			for n := range from.Items[i].Calls {
				if d := from.Items[i].Calls[n].Delegation; d != nil && d.Task == s.Task {
					if task := handedOver(&from.Items[i], n, s.Task); task != nil {
						return task
					}
				}
			}
		}
	}
	return nil
}

// handedOver is the task of a call: from its delegation, else from its arguments.
func handedOver(it *session.Item, n int, task session.Digest) *string {
	if it.Body != nil {
		if rec, usable, _ := decodeItem(it.Body.Raw); usable && n < len(rec.Calls) {
			if given := rec.Calls[n].Delegation.given; given != nil && given.Task != nil && session.DigestOf(*given.Task) == task {
				return given.Task
			}
		}
	}
	return stringWithDigest(jsontext.Value(it.Calls[n].Args), task)
}

func (r *rewriter) encodeLine(rec any) ([]byte, error) {
	line, err := json.Marshal(rec, exact, tolerant)
	if err != nil {
		return nil, fmt.Errorf("encoding a line: %w", err)
	}
	return line, nil
}

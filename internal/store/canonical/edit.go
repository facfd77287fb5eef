package canonical

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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

// editor is a stream that is opened for changing. The plan of a repair names items by their
// keys, which are their places: each keeps the one that it had when the stream was opened.
type editor struct {
	*filelog.Editor
	src     *store.Source
	name    string    // of the file
	changes *rewriter // of trees, which were not spliced yet; nil for none
	last    counted   // the keys as they were committed
	counted
}

// counted are the keys of items.
type counted struct {
	keys  []int64 // in the order of the stream; nil while they are the places
	fresh int64   // the next key of a new item
}

// key is that of an item by its place.
func (c *counted) key(place int64) int64 {
	if place < int64(len(c.keys)) {
		return c.keys[place]
	}
	return place
}

// edit opens a stream for repair or undo.
func edit(ctx context.Context, src *store.Source) (store.Editor, error) {
	files, name, err := filelog.Edit(src.Path, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	e := &editor{Editor: files, src: src, name: name}
	s, err := e.stream(ctx)
	if err == nil {
		e.fresh = s.index.items
		e.last = e.counted
		err = s.Close()
	}
	if err == nil && s.newer {
		err = problem.New(problem.Usage, "Repair it with a later sessctl.", "%s cannot be repaired: %s", s.path, s.facts.ReadOnly)
	}
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return e, nil
}

// stream reads the stream as the transaction sees it. Where another program changed it, its
// items have other places than those that the plan names.
func (e *editor) stream(ctx context.Context) (*stream, error) {
	if err := e.splice(); err != nil {
		return nil, err
	}
	if changes, _ := e.Version(ctx); changes > 0 {
		return nil, problem.New(problem.Busy, "Nothing was changed. Close the program that writes to it, then run this again.", "another program changed %s meanwhile", e.src.Path)
	}
	log, err := e.Log(e.name)
	if err != nil {
		return nil, unreadable(e.src.Path, err)
	}
	s, err := read(ctx, e.src, log, store.Options{})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	s.counted = e.counted
	return s, nil
}

// splice makes the changes that are written.
func (e *editor) splice() error {
	r := e.changes
	if r == nil {
		return nil
	}
	e.changes = nil
	splices, keys, err := r.splices()
	if err == nil {
		err = e.Splice(e.name, splices)
	}
	e.counted = counted{keys, r.fresh}
	return errors.Join(err, r.s.Close())
}

// Read implements store.Editor.
func (e *editor) Read(ctx context.Context, sessions []string) (store.Store, error) {
	s, err := e.stream(ctx)
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
	s, err := e.stream(ctx)
	if err != nil {
		return nil, err
	}
	sums, err := s.Sums(ctx, sessions)
	return sums, errors.Join(err, s.Close())
}

// Write implements store.Editor.
func (e *editor) Write(ctx context.Context, c *store.Change) error {
	if e.changes == nil {
		s, err := e.stream(ctx)
		if err != nil {
			return err
		}
		e.changes = &rewriter{s: s, fresh: e.fresh, names: signatureNames{}, edits: map[int64]*lineEdit{}}
	}
	return e.changes.write(c)
}

// Journal implements table.Transaction.
func (e *editor) Journal() ([]byte, error) {
	if err := e.splice(); err != nil {
		return nil, err
	}
	return e.Editor.Journal()
}

// Commit implements table.Transaction.
func (e *editor) Commit(ctx context.Context) error {
	err := e.splice()
	if err == nil {
		err = e.Editor.Commit(ctx)
	}
	if err == nil {
		e.last = e.counted
	}
	return err
}

// Rollback implements table.Transaction.
func (e *editor) Rollback() error {
	var err error
	if e.changes != nil {
		err = e.changes.s.Close()
	}
	e.changes, e.counted = nil, e.last
	return errors.Join(err, e.Editor.Rollback())
}

// Close implements table.Transaction.
func (e *editor) Close() error { return errors.Join(e.Rollback(), e.Editor.Close()) }

// rewriter is what becomes of a stream. Lines keep their places, those that belong to
// no session included; a line is another one only where its record changed.
type rewriter struct {
	s     *stream
	fresh int64 // the next key of a new item
	names signatureNames
	edits map[int64]*lineEdit // by the offset of the line
}

// lineEdit is what becomes of a line and what comes beside it.
type lineEdit struct {
	itemSpan
	text          []byte // what stands there instead; nil leaves the line as it is
	gone          bool
	before, after []newLine
}

// newLine is a line that was not at its place.
type newLine struct {
	text []byte
	key  int64 // of an item, -1 for a session
}

// edit is the edit of a line, a new one if there is none.
func (r *rewriter) edit(at itemSpan) *lineEdit {
	e := r.edits[at.Offset]
	if e == nil {
		e = &lineEdit{itemSpan: at}
		r.edits[at.Offset] = e
	}
	return e
}

// write takes in a change of a tree, whose bodies are loaded.
func (r *rewriter) write(c *store.Change) error {
	if len(c.Sets) > 0 {
		return problem.New(problem.RolledBack, "", "%s of %s cannot be changed: a stream has no such value", c.Sets[0].Field, c.Sets[0].Ref.Row())
	}
	sessions, err := change.Of(c)
	if err != nil {
		return err
	}
	var created []newLine
	last := itemSpan{span: span{Span: filelog.Span{Offset: -1}}} // of the lines of the tree
	for _, s := range sessions {
		if s.Was == nil {
			lines, err := r.created(c, s)
			if err != nil {
				return err
			}
			created = append(created, lines...)
			continue
		}
		e := r.s.index.byID[s.Is.ID]
		if err := r.session(c, s, e); err != nil {
			return err
		}
		if last = later(last, e.line); len(e.items) > 0 {
			last = later(last, e.items[len(e.items)-1])
		}
	}
	if len(created) > 0 {
		end := r.edit(last)
		end.after = append(end.after, created...)
	}
	return nil
}

func later(a, b itemSpan) itemSpan {
	if b.Offset > a.Offset {
		return b
	}
	return a
}

// created are the lines of a session that was not there.
func (r *rewriter) created(c *store.Change, s *change.Session) ([]newLine, error) {
	line, err := r.newSessionLine(c, s.Is)
	if err != nil {
		return nil, err
	}
	lines := []newLine{{line, -1}}
	for i := range s.Items {
		if line, err = r.itemLine(s.Is, &s.Items[i]); err != nil {
			return nil, err
		}
		lines = append(lines, r.keyed(line, &s.Items[i]))
	}
	return lines, nil
}

// session changes the lines of a session that is there. The items that still
// follow each other keep their places; every other one is written behind its
// predecessor.
func (r *rewriter) session(c *store.Change, s *change.Session, e *entry) error {
	line, err := sessionLineOf(c, s, e)
	if err != nil {
		return err
	}
	r.replace(e.line, s.Is.Raw, line)
	next := 0           // of e.items
	var first []newLine // the lines before the first item that keeps its place
	add := func(line newLine) { first = append(first, line) }
	for i := range s.Items {
		it := &s.Items[i]
		if line, err = r.itemLine(s.Is, it); err != nil {
			return err
		}
		if !it.Stays() || it.Moves || it.At < next {
			add(r.keyed(line, it))
			continue
		}
		r.drop(e.items[next:it.At])
		at := e.items[it.At]
		r.replace(at, it.Is.Body.Raw, line)
		if len(first) > 0 {
			r.edit(at).before, first = first, nil
		}
		next = it.At + 1
		add = func(line newLine) { to := r.edit(at); to.after = append(to.after, line) }
	}
	if len(first) > 0 { // no item keeps its place
		to := r.edit(e.line)
		to.after = append(to.after, first...)
	}
	r.drop(e.items[next:])
	return nil
}

// keyed is the line of an item at a new place. What is a record of its own from now on has a
// key of its own.
func (r *rewriter) keyed(line []byte, it *change.Item) newLine {
	if it.Stays() {
		if key, err := strconv.ParseInt(it.Was.Key, 10, 64); err == nil { // as it was made here
			return newLine{line, key}
		}
	}
	r.fresh++
	return newLine{line, r.fresh - 1}
}

// drop notes lines that leave their places.
func (r *rewriter) drop(items []itemSpan) {
	for _, at := range items {
		r.edit(at).gone = true
	}
}

// replace notes what a line becomes, if that is something else.
func (r *rewriter) replace(at itemSpan, was, line []byte) {
	if !slices.Equal(was, line) {
		r.edit(at).text = line
	}
}

// sessionLineOf is the line of a session of the stream with the values that become
// others. One that cannot be read stays as it is.
func sessionLineOf(c *store.Change, s *change.Session, e *entry) ([]byte, error) {
	was, is := s.Was, s.Is
	if is.Raw == nil {
		return nil, fmt.Errorf("session %s cannot be written: its line was not loaded", is.ID)
	}
	if _, usable, _ := decode[sessionLine](is.Raw); !usable {
		return is.Raw, nil
	}
	line := lineText{text: is.Raw}
	if is.Parent != was.Parent {
		line.set("/parent", is.Parent)
	}
	if is.Title != was.Title {
		line.set("/title", is.Title)
	}
	if !slices.Equal(is.Runs, was.Runs) {
		line.setJSON("/runs", runsOf(c.Before, is))
	}
	if is.Task != taskAgain(is, e.task) {
		if task := findTask(c.After, is); task != nil {
			line.set("/task", *task)
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
	text, err := r.encode(&rec)
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

func (r *rewriter) encode(rec any) ([]byte, error) {
	line, err := json.Marshal(rec, exact, tolerant)
	if err != nil {
		return nil, fmt.Errorf("encoding a line: %w", err)
	}
	return line, nil
}

// splices are the changes of the stream, in their order, and the keys of the items that are
// in it then.
func (r *rewriter) splices() (list []filelog.Splice, keys []int64, err error) {
	place := int64(0) // of the next item whose key is not among them
	keep := func(end int64) {
		for ; place < end; place++ {
			keys = append(keys, r.s.key(place))
		}
	}
	for _, e := range slices.SortedFunc(maps.Values(r.edits), func(a, b *lineEdit) int { return cmp.Compare(a.Offset, b.Offset) }) {
		was, err := r.wholeLine(e.span)
		if err != nil {
			return nil, nil, unreadable(r.s.path, err)
		}
		keep(e.ordinal)
		is := appendLines(nil, &keys, e.before)
		switch {
		case !e.item:
		case e.gone:
			place++
		default:
			keep(e.ordinal + 1)
		}
		if !e.gone {
			text := e.text
			if text == nil {
				text = was[:e.Length]
			}
			is = append(append(is, text...), was[e.Length:]...)
			if len(e.after) > 0 && !bytes.HasSuffix(was, []byte("\n")) {
				is = append(is, '\n')
			}
		}
		list = append(list, filelog.Change(int(e.Offset), was, appendLines(is, &keys, e.after)))
	}
	keep(r.s.index.items)
	return list, keys, nil
}

// appendLines appends new lines, and the keys of those that are items.
func appendLines(text []byte, keys *[]int64, lines []newLine) []byte {
	for _, line := range lines {
		text = append(append(text, line.text...), '\n')
		if line.key >= 0 {
			*keys = append(*keys, line.key)
		}
	}
	return text
}

// wholeLine is a line with its end, and what is before that; without one at the end of the
// stream.
func (r *rewriter) wholeLine(at span) ([]byte, error) {
	for more := 64; ; more *= 2 {
		text := make([]byte, at.Length+more)
		n, err := r.s.log.Bytes().ReadAt(text, at.Offset)
		if end := bytes.IndexByte(text[min(n, at.Length):n], '\n'); end >= 0 {
			return text[:at.Length+end+1], nil
		}
		if err == io.EOF && n >= at.Length {
			return text[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

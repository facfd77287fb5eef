package canonical

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// rewriter writes a stream anew. Lines keep their places, those that belong to
// no session included; a line is another one only where its record changed, so
// that a stream in which nothing changed is the same bytes.
type rewriter struct {
	s     *stream
	to    io.Writer
	names signatureNames
	edits map[int64]*lineEdit // by the offset of the line
}

// lineEdit is what becomes of a line and what comes beside it.
type lineEdit struct {
	span
	text          []byte // what stands there instead; nil leaves the line as it is
	gone          bool
	before, after [][]byte
}

func (e *lineEdit) end() int64 { return e.Offset + int64(e.Length) }

// rewrite is store.Kind.Rewrite. Everything is written by Flush.
func rewrite(st store.Store, to io.Writer) (store.Rewriter, error) {
	s, ok := st.(*stream)
	if !ok {
		return nil, fmt.Errorf("%s is not a canonical stream", st.Facts().Path)
	}
	if s.newer {
		return nil, problem.New(problem.Usage, "Repair it with a later sessctl.", "%s cannot be repaired: %s", s.path, s.facts.ReadOnly)
	}
	return &rewriter{s: s, to: to, names: signatureNames{}, edits: map[int64]*lineEdit{}}, nil
}

// edit is the edit of a line, a new one if there is none.
func (r *rewriter) edit(at span) *lineEdit {
	e := r.edits[at.Offset]
	if e == nil {
		e = &lineEdit{span: at}
		r.edits[at.Offset] = e
	}
	return e
}

// Write implements store.Rewriter.
func (r *rewriter) Write(c *store.Change) error {
	if len(c.Sets) > 0 {
		return problem.New(problem.RolledBack, "", "%s of %s cannot be changed: a stream has no such value", c.Sets[0].Field, c.Sets[0].Ref.Row())
	}
	sessions, err := change.Of(c)
	if err != nil {
		return err
	}
	var created [][]byte
	last := span{Span: filelog.Span{Offset: -1}} // of the lines of the tree
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
			last = later(last, e.items[len(e.items)-1].span)
		}
	}
	if len(created) > 0 {
		end := r.edit(last)
		end.after = append(end.after, created...)
	}
	return nil
}

func later(a, b span) span {
	if b.Offset > a.Offset {
		return b
	}
	return a
}

// created are the lines of a session that was not there.
func (r *rewriter) created(c *store.Change, s *change.Session) ([][]byte, error) {
	line, err := r.newSessionLine(c, s.Is)
	if err != nil {
		return nil, err
	}
	lines := [][]byte{line}
	for i := range s.Items {
		if line, err = r.itemLine(s.Is, &s.Items[i]); err != nil {
			return nil, err
		}
		lines = append(lines, line)
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
	next := 0          // of e.items
	var first [][]byte // the lines before the first item that keeps its place
	add := func(line []byte) { first = append(first, line) }
	for i := range s.Items {
		it := &s.Items[i]
		if line, err = r.itemLine(s.Is, it); err != nil {
			return err
		}
		if !it.Stays() || it.Moves || it.At < next {
			add(line)
			continue
		}
		r.drop(e.items[next:it.At])
		at := e.items[it.At].span
		r.replace(at, it.Is.Body.Raw, line)
		if len(first) > 0 {
			r.edit(at).before, first = first, nil
		}
		next = it.At + 1
		add = func(line []byte) { to := r.edit(at); to.after = append(to.after, line) }
	}
	if len(first) > 0 { // no item keeps its place
		to := r.edit(e.line)
		to.after = append(to.after, first...)
	}
	r.drop(e.items[next:])
	return nil
}

// drop notes lines that leave their places.
func (r *rewriter) drop(items []itemSpan) {
	for _, at := range items {
		r.edit(at.span).gone = true
	}
}

// replace notes what a line becomes, if that is something else.
func (r *rewriter) replace(at span, was, line []byte) {
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

// Flush implements store.Rewriter: it copies the stream and makes the edits.
func (r *rewriter) Flush() error {
	p := splicer{from: r.s.r, to: bufio.NewWriterSize(r.to, 1<<16)}
	edits := slices.SortedFunc(maps.Values(r.edits), func(a, b *lineEdit) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, e := range edits {
		p.edit(e)
	}
	p.copy(math.MaxInt64)
	if p.err == nil {
		p.err = p.to.Flush()
	}
	return p.err
}

// splicer copies a stream and makes edits on the way. The first error stays.
type splicer struct {
	from io.ReaderAt
	to   *bufio.Writer
	done int64 // bytes of the stream that are copied or passed over
	err  error
}

func (p *splicer) edit(e *lineEdit) {
	p.copy(e.Offset)
	p.lines(e.before)
	switch {
	case e.gone:
		p.done, _ = p.lineEnd(e.end())
	case e.text != nil:
		p.write(e.text)
		p.done = e.end()
	}
	if len(e.after) == 0 {
		return
	}
	if !e.gone {
		end, ended := p.lineEnd(e.end())
		if p.copy(end); !ended {
			p.write([]byte("\n"))
		}
	}
	p.lines(e.after)
}

func (p *splicer) lines(lines [][]byte) {
	for _, line := range lines {
		p.write(line)
		p.write([]byte("\n"))
	}
}

func (p *splicer) write(text []byte) {
	if p.err == nil {
		_, p.err = p.to.Write(text)
	}
}

// copy copies up to an offset, or to the end of the stream.
func (p *splicer) copy(end int64) {
	if p.err != nil || end <= p.done {
		return
	}
	_, p.err = io.Copy(p.to, io.NewSectionReader(p.from, p.done, end-p.done))
	p.done = end
}

// lineEnd is the offset behind the line end that comes next, or the end of the
// stream, which has none there.
func (p *splicer) lineEnd(offset int64) (end int64, ended bool) {
	buf := make([]byte, 64)
	for p.err == nil {
		n, err := p.from.ReadAt(buf, offset)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return offset + int64(i) + 1, true
		}
		if offset += int64(n); err == io.EOF {
			break
		}
		p.err = err
	}
	return offset, false
}

package canonical

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// rewriter writes a stream anew. Lines keep their places, those that belong to
// no session included; a line is another one only where its record changed, so
// that a stream in which nothing changed is the same bytes.
type rewriter struct {
	s     *stream
	to    io.Writer
	skim  *skimmer
	items *itemReader
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

// rewrite is store.Kind.Rewrite. Everything is written by Flush.
func rewrite(st store.Store, to io.Writer) (store.Rewriter, error) {
	s, ok := st.(*stream)
	if !ok {
		return nil, fmt.Errorf("%s is no canonical stream", st.Facts().Path)
	}
	if s.newer {
		return nil, problem.New(problem.Usage, "Repair it with a later sessctl.", "%s cannot be repaired: %s", s.path, s.facts.ReadOnly)
	}
	return &rewriter{s: s, to: to, skim: newSkimmer(), items: newItemReader(), names: signatureNames{}, edits: map[int64]*lineEdit{}}, nil
}

// edit is the edit of a line, a new one if there is none.
func (r *rewriter) edit(at span) *lineEdit {
	e := r.edits[at.offset]
	if e == nil {
		e = &lineEdit{span: at}
		r.edits[at.offset] = e
	}
	return e
}

// Tree implements store.Rewriter.
func (r *rewriter) Tree(tree *session.Tree) error {
	clear(r.items.names)
	var created [][]byte
	last := span{offset: -1} // of the lines of the tree
	for _, s := range tree.Sessions {
		e := r.s.index.byID[s.ID]
		if e == nil {
			lines, err := r.created(tree, s)
			if err != nil {
				return err
			}
			created = append(created, lines...)
			continue
		}
		if err := r.session(tree, s, e); err != nil {
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
	if b.offset > a.offset {
		return b
	}
	return a
}

// created are the lines of a session that was not there.
func (r *rewriter) created(tree *session.Tree, s *session.Session) ([][]byte, error) {
	line, err := r.newSessionLine(tree, s)
	if err != nil {
		return nil, err
	}
	lines := [][]byte{line}
	for i := range s.Items {
		if line, err = r.itemLine(s, i); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// session changes the lines of a session that is there. The items that still
// follow each other keep their places; every other one is written behind its
// predecessor.
func (r *rewriter) session(tree *session.Tree, s *session.Session, e *entry) error {
	line, err := r.sessionLine(tree, s)
	if err != nil {
		return err
	}
	r.replace(e.line, s.Raw, line)
	rows := make(map[string]int, len(e.items))
	for i, at := range e.items {
		rows[strconv.FormatInt(at.ordinal, 10)] = i
	}
	next := 0          // of e.items
	var first [][]byte // the lines before the first item that keeps its place
	add := func(line []byte) { first = append(first, line) }
	for i := range s.Items {
		it := &s.Items[i]
		if line, err = r.itemLine(s, i); err != nil {
			return err
		}
		n, own := rows[it.Key]
		if it.Table != tableItems || !own || n < next {
			add(line)
			continue
		}
		r.drop(e.items[next:n])
		at := e.items[n].span
		r.replace(at, it.Body.Raw, line)
		if len(first) > 0 {
			r.edit(at).before, first = first, nil
		}
		next = n + 1
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

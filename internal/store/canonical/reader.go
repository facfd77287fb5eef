package canonical

import (
	"bytes"
	"context"
	"strconv"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// reader loads the items of trees. Each goroutine needs one of its own.
type reader struct {
	s     *stream
	lines window
	items *itemReader
}

func (s *stream) newReader() *reader {
	return &reader{s: s, lines: window{r: s.r}, items: newItemReader()}
}

// outlines gives the sessions of a tree their items.
func (r *reader) outlines(ctx context.Context, tree *session.Tree) error {
	clear(r.items.names)
	for _, s := range tree.Sessions {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := r.s.index.byID[s.ID]
		s.Items = make([]session.Item, 0, len(e.items))
		for i, at := range e.items {
			it, err := r.item(ctx, at.span)
			if err != nil {
				return err
			}
			if i == 0 {
				s.Task = taskOf(&it, it.Body.Text)
			}
			it.Table, it.Key, it.Position = tableItems, strconv.FormatInt(at.ordinal, 10), int64(i)
			dropBody(&it)
			s.Items = append(s.Items, it)
			r.moveFaults(s, i)
		}
		if e.task != nil {
			s.Task = *e.task
		}
		forest.MarkDangling(s, r.s.index.has)
	}
	return nil
}

// moveFaults gives the faults of the item read last to its session.
func (r *reader) moveFaults(s *session.Session, i int) {
	for _, f := range r.items.faults {
		f.Ref, f.Item = s.ItemRef(i), i
		s.Faults = append(s.Faults, f)
	}
}

// item reads one line. Its body points into the window.
func (r *reader) item(ctx context.Context, at span) (session.Item, error) {
	if err := ctx.Err(); err != nil {
		return session.Item{}, err
	}
	line, err := r.lines.line(at)
	if err != nil {
		return session.Item{}, unreadable(r.s.path, err)
	}
	return r.items.read(line, at.number), nil
}

func dropBody(it *session.Item) {
	it.Body = nil
	for i := range it.Calls {
		it.Calls[i].Args = ""
	}
	for i := range it.Results {
		it.Results[i].Text = ""
	}
}

// bodies loads what the items of a tree say.
func (r *reader) bodies(ctx context.Context, tree *session.Tree) error {
	for _, s := range tree.Sessions {
		e := r.s.index.byID[s.ID]
		line, err := r.lines.line(e.line)
		if err != nil {
			return unreadable(r.s.path, err)
		}
		s.Raw = bytes.Clone(line)
		for i, at := range e.items {
			full, err := r.item(ctx, at.span)
			if err != nil {
				return err
			}
			full.Body.Raw = bytes.Clone(full.Body.Raw)
			if full.Meaning != s.Items[i].Meaning {
				return r.changed(at.number)
			}
			takeBody(&s.Items[i], &full)
		}
	}
	return nil
}

// changed is the error for a line that says something else than before.
func (r *reader) changed(line int64) error {
	return problem.New(problem.Unreadable, "run the command again when nothing writes to it",
		"%s changed while it was read: line %d is not what it was", r.s.path, line)
}

// takeBody copies what the outline of an item lacks.
func takeBody(it, full *session.Item) {
	it.Body = full.Body
	for i := range it.Calls {
		it.Calls[i].Args = full.Calls[i].Args
	}
	for i := range it.Results {
		it.Results[i].Text = full.Results[i].Text
	}
}

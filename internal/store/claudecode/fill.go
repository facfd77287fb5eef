package claudecode

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// Fill implements store.Store: it reads the files of the tree again. A tree may have some of
// its sessions and items only.
func (c *claude) Fill(ctx context.Context, tree *session.Tree) error {
	parts, err := c.FillParts(ctx, tree)
	if err != nil {
		return err
	}
	return errors.Join(parts.Fill(tree), parts.Close())
}

// FillParts implements store.PartFiller: where the lines are is read once.
func (c *claude) FillParts(ctx context.Context, tree *session.Tree) (*store.Parts, error) {
	found := map[string]*placed{}
	var ids []string
	for _, s := range tree.Sessions {
		if ids = append(ids, s.ID); len(s.Items) > 0 {
			found[s.ID] = nil
		}
	}
	parts := &store.Parts{Close: func() (err error) {
		for _, p := range found {
			if p != nil {
				err = errors.Join(err, p.in.log.Close())
			}
		}
		return err
	}}
	parts.Fill = func(part *session.Tree) error {
		for _, s := range part.Sessions {
			switch same, err := found[s.ID].fillItems(s.Items); {
			case err != nil && !errors.Is(err, filelog.ErrShortened):
				return err
			case !same:
				return problem.New(problem.Unreadable, "Try it again when nothing writes to it.", "the transcript of session %s was changed while sessctl read it", s.ID)
			}
		}
		return ctx.Err()
	}
	if len(found) == 0 {
		return parts, nil
	}
	err := c.visitParts(ctx, ids, func(_ transcript, p *part) (err error) {
		if was, wanted := found[p.ID]; wanted && was == nil {
			found[p.ID], err = c.placeLines(tree.Session(p.ID), p)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, parts.Close())
	}
	return parts, nil
}

// placed says where the lines of a session's items are.
type placed struct {
	in    reader
	lines map[string][]int // by the keys of items
	from  *filelog.Window
}

// placeLines finds the lines of all items of a session, nil where the file has not all of them.
func (c *claude) placeLines(s *session.Session, of *part) (p *placed, err error) {
	p = &placed{in: *of.in, lines: make(map[string][]int, len(s.Items))}
	for i := range s.Items {
		key := s.Items[i].Key // and not the one that was made anew, which is the same
		if p.lines[key] = of.lines[key]; p.lines[key] == nil {
			return nil, nil
		}
	}
	if p.in.body = true; c.piped == nil {
		if p.in.log, err = c.file(p.in.source); err != nil {
			return nil, err
		}
	}
	p.from = p.in.log.Window()
	return p, nil
}

// fillItems loads texts, and reports whether the lines say what the outlines do.
func (p *placed) fillItems(items []session.Item) (same bool, err error) {
	if p == nil {
		return len(items) == 0, nil
	}
	for i := range items {
		full := session.Item{Shared: &session.Shared{}}
		it, m := &items[i], entry{Item: &full, reader: &p.in}
		if err := m.readLines(p.lines[it.Key], p.from); err != nil {
			return false, err
		}
		if full.Meaning != it.Meaning || len(full.Calls) != len(it.Calls) || len(full.Results) != len(it.Results) {
			return false, nil
		}
		it.TakeTexts(&full)
	}
	return true, nil
}

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
	f := &partFiller{claude: c, ctx: ctx, of: map[string]*filled{}}
	var ids []string
	for _, s := range tree.Sessions {
		if ids = append(ids, s.ID); len(s.Items) > 0 {
			f.of[s.ID] = &filled{}
		}
	}
	if len(f.of) > 0 {
		err := c.visitParts(ctx, ids, true, func(_ transcript, p *part) error {
			if s := f.of[p.ID]; s != nil && s.in == nil {
				s.findLines(tree.Session(p.ID), p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &store.Parts{Fill: f.fillTree, Close: f.closeFiles}, nil
}

// partFiller loads the texts of items by their lines.
type partFiller struct {
	*claude
	ctx context.Context
	of  map[string]*filled // by the ids of sessions
}

// filled is a session whose texts are loaded.
type filled struct {
	in    *reader          // nil where no file has all of its items
	lines map[string][]int // of each item, by its key
	from  *filelog.Window  // nil until the first of them is read
}

// findLines finds the lines of the items, if all are there.
func (f *filled) findLines(s *session.Session, p *part) {
	lines := make(map[string][]int, len(s.Items))
	for i := range s.Items {
		key := s.Items[i].Key // and not the one that was made anew, which is the same
		if lines[key] = p.lines[key]; lines[key] == nil {
			return
		}
	}
	in := *p.in
	in.body = true
	f.in, f.lines = &in, lines
}

func (f *partFiller) fillTree(tree *session.Tree) error {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			same, err := f.fillItem(f.of[s.ID], &s.Items[i])
			if err != nil {
				return err
			}
			if !same {
				return problem.New(problem.Unreadable, "Try it again when nothing writes to it.", "the transcript of session %s was changed while sessctl read it", s.ID)
			}
		}
	}
	return f.ctx.Err()
}

func (f *partFiller) fillItem(of *filled, it *session.Item) (same bool, err error) {
	if of.in == nil {
		return false, nil
	}
	if of.from == nil {
		if of.in.log = f.piped; f.piped == nil {
			if of.in.log, err = f.file(of.in.source); err != nil {
				return false, err
			}
		}
		of.from = of.in.log.Window()
	}
	return of.in.fillItem(it, of.lines[it.Key], of.from)
}

func (f *partFiller) closeFiles() (err error) {
	for _, of := range f.of {
		if of.from != nil {
			err = errors.Join(err, of.in.log.Close())
		}
	}
	return err
}

package loom

import (
	"context"
	"iter"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// loom is an opened workspace.
type loom struct {
	*index
	facts session.Store
}

// textPrompt is what every prompt builder of Loom does: what was called and what came
// back is written into one text (loom-py cognitive/loop.py and strategies.py; DESIGN.md,
// build_prompt). So nothing that an API minds about calls, results and turns matters.
const textPrompt = "writes steps into the text of its prompt, where no provider minds it"

var adaptations = map[string]string{
	"SC109": textPrompt, "SC110": textPrompt, "SC111": textPrompt, "SC203": textPrompt, "SC204": textPrompt, "SC205": textPrompt,
	"SC206": textPrompt, "SC207": textPrompt, "SC301": textPrompt, "SC302": textPrompt, "SC303": textPrompt, "SC305": textPrompt,
	"SC306": textPrompt, "SC401": textPrompt, "SC402": textPrompt, "SC403": textPrompt, "SC406": textPrompt, "SC506": textPrompt,
}

// Facts implements store.Store.
func (l *loom) Facts() *session.Store { return &l.facts }

// Close implements store.Store. The folder is the caller's.
func (l *loom) Close() error { return nil }

// Trees implements store.Store. The steps of one tree are read at a time; agents come
// in the order of their names.
func (l *loom) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		if ctx.Err() != nil {
			yield(nil, ctx.Err())
			return
		}
		trees := forest.Group(l.heads())
		for i, tree := range trees {
			trees[i] = nil // the caller's from here on
			looked := map[string]looked{}
			for _, s := range tree.Sessions {
				b := builder{loom: l, history: l.byID[s.ID], session: s, looked: looked}
				if err := b.build(ctx); err != nil {
					yield(nil, err)
					return
				}
			}
			if !yield(tree, nil) {
				return
			}
		}
	}
}

// heads are the sessions without their items. Nothing records a parent with its
// child: it is the one whose spawns name it.
func (l *loom) heads() []forest.Head {
	heads := make([]forest.Head, len(l.agents))
	for i, h := range l.agents {
		heads[i].Session = &session.Session{ID: h.id}
		for _, d := range h.delegations {
			if d.child != "" {
				heads[i].Refs = append(heads[i].Refs, d.child)
			}
		}
	}
	return heads
}

// Fill implements store.Store.
func (l *loom) Fill(ctx context.Context, tree *session.Tree) error {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			l.fill(s.Agent, &s.Items[i])
		}
	}
	return nil
}

package cmd

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// sideBySide is a store that is read in several parts at a time, each over a connection and
// in a snapshot of its own.
type sideBySide struct {
	store.Store // the first part: what is known of the store as a whole
	parts       []shard
	opened      []*registry.Opened
	order       map[string]int // of the roots in the first part's snapshot, as one reading yields them
}

// openParts opens a store in as many parts as --jobs says.
func (p *program) openParts(ctx context.Context, path string, opts store.Options) (*registry.Opened, error) {
	s := &sideBySide{parts: p.part.splitInto(uint32(min(p.config.Jobs, math.MaxUint8))), order: map[string]int{}}
	s.opened = make([]*registry.Opened, len(s.parts))
	failed := make([]error, len(s.parts))
	var all sync.WaitGroup
	for i, part := range s.parts {
		own := opts
		own.Keep = func(heads *session.Tree, newest time.Time) bool {
			if i == 0 {
				s.order[heads.Root().ID] = len(s.order)
			}
			return part.hasTree(heads) && (opts.Keep == nil || opts.Keep(heads, newest))
		}
		if i > 0 {
			own.Progress = nil
		}
		all.Go(func() { s.opened[i], failed[i] = registry.Open(ctx, path, p.config.Store, p.stdin, own) })
	}
	all.Wait()
	if err := cmp.Or(failed...); err != nil {
		for _, opened := range s.opened {
			if opened != nil {
				err = errors.Join(err, opened.Close())
			}
		}
		return nil, err
	}
	whole := *s.opened[0]
	s.Store, whole.Store = whole.Store, s
	for _, opened := range s.opened[1:] {
		s.addFaults(opened.Facts().Faults)
	}
	return &whole, nil
}

// addFaults adds what the first part does not say of the store already.
func (s *sideBySide) addFaults(faults []session.Fault) {
	facts := s.Facts()
	for _, f := range faults {
		if !slices.ContainsFunc(facts.Faults, func(g session.Fault) bool { return f.Kind == g.Kind && f.Ref == g.Ref && f.Detail == g.Detail }) {
			facts.Faults = append(facts.Faults, f)
		}
	}
}

// splitInto splits the parts of a shard, or of everything, that together are all of it.
func (s shard) splitInto(n uint32) []shard {
	if s.isWhole() {
		s = shard{1, 1}
	}
	var parts []shard
	for i := range n {
		parts = append(parts, shard{s.number + i*s.count, s.count * n})
	}
	return parts
}

// Trees implements store.Store: as they would come in one reading.
func (s *sideBySide) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	type found struct {
		tree *session.Tree
		err  error
	}
	return func(yield func(*session.Tree, error) bool) {
		var all sync.WaitGroup
		defer all.Wait()
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		next, waiting := make([]found, len(s.parts)), make([]chan found, len(s.parts))
		for i, part := range s.parts {
			waiting[i] = make(chan found, 1)
			all.Go(func() {
				defer close(waiting[i])
				for tree, err := range pickTrees(ctx, s.opened[i], func(heads *session.Tree, _ time.Time) bool { return part.hasTree(heads) }) {
					select {
					case waiting[i] <- found{tree, err}:
					case <-ctx.Done():
						return
					}
				}
			})
		}
		for i := range next {
			next[i] = <-waiting[i]
		}
		for {
			first := slices.Index(next, slices.MinFunc(next, func(a, b found) int { return cmp.Compare(s.orderOf(a.tree), s.orderOf(b.tree)) }))
			one := next[first]
			if i := slices.IndexFunc(next, func(f found) bool { return f.err != nil }); i >= 0 {
				one = next[i]
			}
			if one.tree == nil && one.err == nil || !yield(one.tree, one.err) || one.err != nil {
				return
			}
			next[first] = <-waiting[first]
		}
	}
}

// orderOf orders trees, those that came meanwhile last; nil is the end.
func (s *sideBySide) orderOf(tree *session.Tree) int {
	if tree == nil {
		return math.MaxInt
	}
	if n, known := s.order[tree.Root().ID]; known {
		return n
	}
	return math.MaxInt - 1
}

// partOf is the store that a tree was read of.
func (s *sideBySide) partOf(tree *session.Tree) store.Store {
	return s.opened[slices.IndexFunc(s.parts, func(part shard) bool { return part.hasTree(tree) })].Store
}

// Fill implements store.Store.
func (s *sideBySide) Fill(ctx context.Context, tree *session.Tree) error {
	return s.partOf(tree).Fill(ctx, tree)
}

// Rehearse implements store.Rehearser where the parts do.
func (s *sideBySide) Rehearse(ctx context.Context, change *store.Change) error {
	return oneSession{Store: s.partOf(change.Before)}.Rehearse(ctx, change)
}

// Relate implements store.Relater where the parts do.
func (s *sideBySide) Relate(tree *session.Tree) { oneSession{Store: s.partOf(tree)}.Relate(tree) }

// Close implements store.Store. The first part is closed with what it was opened from.
func (s *sideBySide) Close() error {
	err := s.Store.Close()
	for _, opened := range s.opened[1:] {
		err = errors.Join(err, opened.Close())
	}
	return err
}

// withinMemory is a context that ends when the program takes more memory than --max-memory
// allows, with a problem as its cause. done has to be called.
func (p *program) withinMemory(ctx context.Context, path string) (limited context.Context, done func()) {
	most := uint64(p.config.MaxMemory) * 1_000_000
	if most == 0 {
		return ctx, func() {}
	}
	limited, stop := context.WithCancelCause(ctx)
	before := debug.SetMemoryLimit(int64(most / 10 * 9)) // so that garbage alone stops nothing
	go func() {
		taken := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for every := time.Tick(20 * time.Millisecond); ; {
			select {
			case <-limited.Done():
				return
			case <-every:
			}
			if metrics.Read(taken); taken[0].Value.Uint64()-taken[1].Value.Uint64() > most {
				stop(problem.New(problem.Unreadable, "Check it in parts, one after another (--shard 1/8, 2/8, … 8/8), or allow more.",
					"the check of %s takes more than the %d MB of --max-memory, and was stopped", path, p.config.MaxMemory))
				return
			}
		}
	}()
	return limited, func() { stop(nil); debug.SetMemoryLimit(before) }
}

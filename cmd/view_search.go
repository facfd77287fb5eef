package cmd

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/view"
)

// search looks for one session in several stores. They stay open, because
// standard input can be read only once.
type search struct {
	*program
	judged   rules.Judge                 // for whom the request is shown
	asked    *view.Question              // who could see what; nil for the session itself
	borders  bool                        // what passed between sessions and their children
	opened   map[string]*registry.Opened // by path
	sessions view.Search
	code     int  // of stores that could not be read, or changed meanwhile
	named    bool // the user named the store
}

func (s *search) close() error {
	var err error
	for _, o := range s.opened {
		err = errors.Join(err, o.Close())
	}
	return err
}

// find is the session that the arguments mean. A single argument is a session;
// only a path that no session is called is a store.
func (s *search) find(ctx context.Context, args []string) (view.Known, error) {
	if len(args) == 2 {
		s.named, s.sessions.Name = true, args[1]
		if err := s.read(ctx, args[:1]); err != nil {
			return view.Known{}, err
		}
		return s.sessions.Choose(args[1])
	}
	s.sessions.Name = args[0]
	_, missing := os.Stat(args[0])
	isPath := missing == nil || args[0] == "-" || registry.IsPattern(args[0]) || strings.ContainsRune(args[0], filepath.Separator)
	err := s.read(ctx, nil)
	if err == nil {
		var found view.Known
		if found, err = s.sessions.Choose(args[0]); err == nil {
			return found, nil
		}
	}
	if !isPath || ctx.Err() != nil {
		return view.Known{}, err
	}
	s.sessions, s.named, s.code = view.Search{}, true, 0 // the usual places do not matter
	if err := s.read(ctx, args); err != nil {
		return view.Known{}, err
	}
	return s.sessions.OnlyRoot(args[0])
}

// read opens the stores that the arguments mean and lists their sessions. A
// store that cannot be read is an error only when it is the only one.
func (s *search) read(ctx context.Context, args []string) error {
	paths, err := s.storePaths(ctx, args)
	if err != nil {
		return err
	}
	if slices.Contains(args, paths[0]) {
		paths = paths[:1] // a folder that is a store means itself
	}
	for _, path := range paths {
		err := s.readOne(ctx, path)
		if err != nil && (len(paths) == 1 || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			s.report(err)
			s.code = worse(s.code, exitCode(err))
		}
	}
	return nil
}

func (s *search) readOne(ctx context.Context, path string) error {
	if s.opened[path] == nil {
		opened, err := s.open(ctx, path)
		if err != nil {
			return err
		}
		s.opened[path] = opened
	}
	for tree, err := range s.opened[path].Trees(ctx) {
		if err != nil {
			return err
		}
		s.sessions.Add(path, tree)
	}
	s.sessions.End(s.opened[path].Facts())
	return nil
}

// oneSession is a store of which only the tree of one session counts.
type oneSession struct {
	store.Store
	found view.Known
}

// findSession finds what --session means: an id, or the beginning of exactly
// one. Its errors are usage problems that name what may have been meant.
func findSession(ctx context.Context, st store.Store, word string) (oneSession, error) {
	search := view.Search{Name: word}
	for tree, err := range st.Trees(ctx) {
		if err != nil {
			return oneSession{}, err
		}
		search.Add(st.Facts().Path, tree)
	}
	search.End(st.Facts())
	found, err := search.Choose(word)
	return oneSession{st, found}, err
}

// Trees yields the tree that holds the session. A tree that the search kept is
// not read again, which in a stream would take as long as the check.
func (o oneSession) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		if o.found.Tree != nil {
			yield(o.found.Tree, nil)
			return
		}
		for tree, err := range o.Store.Trees(ctx) {
			if err != nil || tree.Session(o.found.ID) != nil {
				yield(tree, err)
				return
			}
		}
	}
}

package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
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
	parts    *store.Parts                // of the session that is shown; nil where none was loaded
	sessions view.Search
	code     int  // of stores that could not be read, or changed meanwhile
	named    bool // the user named the store
}

func (s *search) closeStores() error {
	var err error
	if s.parts != nil && s.parts.Close != nil {
		err = s.parts.Close()
	}
	for _, o := range s.opened {
		err = errors.Join(err, o.Close())
	}
	return err
}

// resolveArguments resolves the session that the arguments mean. A single argument that names an existing
// path is a store. Every other one is a session, and only if there is none a path, which
// a pattern and an id may look like.
func (s *search) resolveArguments(ctx context.Context, args []string) (view.Known, error) {
	if len(args) == 2 {
		return s.chooseSession(ctx, args[:1], args[1])
	}
	if !pathExists(args[0]) && args[0] != "-" {
		found, err := s.chooseSession(ctx, nil, args[0])
		if err == nil || !looksLikePath(args[0]) || ctx.Err() != nil {
			return found, err
		}
		s.sessions, s.code, s.only = view.Search{}, 0, "" // the usual places do not matter
	}
	s.named = true
	if err := s.readStores(ctx, args); err != nil {
		return view.Known{}, err
	}
	return s.sessions.OnlyRoot(args[0])
}

// chooseSession chooses the session of that name in the stores that the arguments mean.
func (s *search) chooseSession(ctx context.Context, stores []string, name string) (view.Known, error) {
	s.named, s.sessions.Name = len(stores) > 0, name
	s.setWanted(name)
	if err := s.readStores(ctx, stores); err != nil {
		return view.Known{}, err
	}
	return s.sessions.Choose(name)
}

// looksLikePath reports whether somebody who types a word may mean a file.
func looksLikePath(word string) bool {
	return registry.IsPattern(word) || strings.ContainsRune(word, filepath.Separator) || slices.Contains(registry.Endings, filepath.Ext(word))
}

// storeOf is the one of several stores that has the session of that name. Standard input
// is left out, because it can be read only once.
func (p *program) storeOf(ctx context.Context, paths []string, name string) (string, error) {
	s := &search{program: p, opened: map[string]*registry.Opened{}}
	s.sessions.Name = name
	for _, path := range paths {
		if path == "-" {
			continue
		}
		if err := s.readOne(ctx, path); ctx.Err() == nil {
			s.reportError(err)
		}
	}
	found, err := s.sessions.Choose(name)
	return found.Store, cmp.Or(ctx.Err(), errors.Join(err, s.closeStores()))
}

// silentProgram is the program without its messages, for what is only tried.
func (p *program) silentProgram() *program {
	quiet := *p
	quiet.stderr = io.Discard
	quiet.setScreens(ui.ColorNever)
	return &quiet
}

// sessionAsStore is the problem with a word where a store belongs, if it is no path but
// a session of the usual stores; else it is nil.
func (p *program) sessionAsStore(ctx context.Context, word string) error {
	flag := "--session"
	switch {
	case p.config.Sources["match"] != "":
		flag = "--match"
	case p.config.Sources["session"] == "":
		return nil
	}
	paths, err := registry.DefaultStores(ctx, p.home, p.config.Store)
	if err != nil || pathExists(word) || word == "-" {
		return nil
	}
	store, err := p.silentProgram().storeOf(ctx, paths, word)
	if err != nil {
		return nil
	}
	flags, operands := beforeDashes(p.args)
	isWord := func(arg string) bool { return arg == word }
	words := slices.Concat(slices.DeleteFunc(slices.Clone(flags), isWord), []string{flag, word}, slices.DeleteFunc(slices.Clone(operands), isWord))
	return problem.New(problem.Usage, "Name it with "+flag+": `sessctl "+strings.Join(shell.Words(words), " ")+"`.",
		"%s is not a file, but a session of %s", word, ui.Tilde(store, p.home))
}

// readStores opens the stores that the arguments mean and lists their sessions. A
// store that cannot be read is an error only when it is the only one.
func (s *search) readStores(ctx context.Context, args []string) error {
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
			s.reportError(err)
			s.code = max(s.code, exitCode(err))
		}
	}
	return nil
}

func (s *search) readOne(ctx context.Context, path string) error {
	if s.opened[path] == nil {
		opened, err := s.openStore(ctx, path)
		if err != nil {
			return err
		}
		s.opened[path] = opened
	}
	return addTo(ctx, &s.sessions, path, s.opened[path])
}

// addTo adds the sessions of a store to a search. If one has the very id that is looked
// for, a store that can do so reads only its tree.
func addTo(ctx context.Context, search *view.Search, path string, st store.Store) error {
	ways := []iter.Seq2[*session.Tree, error]{st.Trees(ctx)}
	if picker := pickerOf(st); picker != nil && search.Name != "" {
		ways = slices.Insert(ways, 0, picker.Pick(ctx, hasSession(search.Name)))
	}
	for _, trees := range ways {
		before := len(search.Known)
		for tree, err := range trees {
			if err != nil {
				return err
			}
			search.Add(path, tree)
		}
		if len(search.Known) > before {
			break
		}
	}
	search.AddFacts(st.Facts())
	return nil
}

// oneSession is a store of which only the tree of one session counts.
type oneSession struct {
	store.Store
	found view.Known
}

// Rehearse implements store.Rehearser where the store does.
func (o oneSession) Rehearse(ctx context.Context, change *store.Change) error {
	if asked, ok := o.Store.(store.Rehearser); ok {
		return asked.Rehearse(ctx, change)
	}
	return nil
}

// Relate implements store.Relater where the store does.
func (o oneSession) Relate(tree *session.Tree) {
	if asked, ok := o.Store.(store.Relater); ok {
		asked.Relate(tree)
	}
}

// findSession finds what --session means in one store: see view.ChooseSession.
func findSession(ctx context.Context, st store.Store, word string) (oneSession, error) {
	search := view.Search{Name: word}
	if err := addTo(ctx, &search, st.Facts().Path, st); err != nil {
		return oneSession{}, err
	}
	found, err := search.Choose(word)
	return oneSession{Store: st, found: found}, err
}

// Trees yields the tree that holds the session. A tree that the search kept is
// not read again, which in a stream would take as long as the check.
func (o oneSession) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		if o.found.Tree != nil {
			yield(o.found.Tree, nil)
			return
		}
		for tree, err := range pickTrees(ctx, o.Store, hasSession(o.found.ID)) {
			if err != nil || tree.Session(o.found.ID) != nil {
				yield(tree, err)
				return
			}
		}
	}
}

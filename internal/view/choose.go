package view

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Known is one session that a name may mean.
type Known struct {
	Store   string // the path of its store
	ID      string
	Title   string
	Created time.Time
	Root    bool // it names no parent, or none that leads to a root, and no call names it

	// Tree holds the session, where Search kept it; else it has to be read again.
	Tree *session.Tree
}

// Search collects sessions while the trees of stores pass by, to choose among.
type Search struct {
	Name  string // what is looked for, "" for nothing yet
	Known []Known
	kept  int

	lost session.Damage // what could not be read, and may be what is looked for
	cut  string         // why the rest was not read, "" where it was
}

// Add takes in the sessions of a tree. It keeps the tree if the name means one
// of them, few of those that it may mean, and without a name the first, which may be
// the only one: the others are to be forgotten.
func (s *Search) Add(store string, tree *session.Tree) {
	const few = 4
	called := calledIn(tree)
	for _, found := range tree.Sessions {
		s.lost.AddUnread(found.Faults, found.Items)
		root := found == tree.Root() || found.Parent == "" && !called[found.ID]
		k := Known{Store: store, ID: found.ID, Title: found.Title, Created: found.Created, Root: root}
		if k.ID == s.Name || s.Name != "" && strings.HasPrefix(k.ID, s.Name) && s.kept < few || s.Name == "" && len(s.Known) == 0 {
			k.Tree = tree
			s.kept++
		}
		s.Known = append(s.Known, k)
	}
}

// calledIn are the sessions that calls of a tree name as their children.
func calledIn(tree *session.Tree) map[string]bool {
	called := map[string]bool{}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			for n := range s.Items[i].Calls {
				if d := s.Items[i].Calls[n].Delegation; d != nil && d.Child != "" && d.Child != s.ID {
					called[d.Child] = true
				}
			}
		}
	}
	return called
}

// newestRoots are the root sessions, the newest first; of equally
// old ones the later stored.
func newestRoots(known []Known) []Known {
	var roots []Known
	for _, k := range slices.Backward(known) {
		if k.Root {
			roots = append(roots, k)
		}
	}
	slices.SortStableFunc(roots, newer)
	return roots
}

func newer(a, b Known) int { return b.Created.Compare(a.Created) }

// End takes in what is known of a store when all of its trees have been added.
func (s *Search) End(facts *session.Store) {
	s.lost.AddUnread(facts.Faults, nil)
	s.cut = cmp.Or(s.cut, facts.Incomplete)
}

// Choose finds the session that a name means among those that were added: see Choose. One
// that is not there may be in what could not be read, and then the name is not wrong.
func (s *Search) Choose(name string) (Known, error) {
	found, err := Choose(s.Known, name)
	return found, s.orLost(err)
}

// OnlyRoot is the one root session of a store: see OnlyRoot.
func (s *Search) OnlyRoot(store string) (Known, error) {
	found, err := OnlyRoot(s.Known, store)
	return found, s.orLost(err)
}

// orLost is the error about a session that was not found.
func (s *Search) orLost(err error) error {
	lost := cmp.Or(s.cut, s.lost.String())
	if !errors.Is(err, ErrNoSession) || lost == "" {
		return err
	}
	var known *problem.Error
	errors.As(err, &known)
	return &problem.Error{Class: problem.Unreadable, Err: ErrNoSession, Next: "`sessctl check` says what is damaged and how to recover it.",
		What: known.What + ", but not all of the store could be read: " + lost}
}

// Choose finds the session that a name means: an id, -1 for the newest root
// session, -2 for the one before, as docker agent counts them, or the unique
// beginning of an id. The error is a usage problem that names what comes near.
func Choose(known []Known, name string) (Known, error) {
	isID := slices.ContainsFunc(known, func(k Known) bool { return k.ID == name })
	if n, err := strconv.Atoi(name); err == nil && n < 0 && !isID {
		roots := newestRoots(known)
		if -n > len(roots) {
			return Known{}, noSession("Count from -1, the newest.", "there is no session %s: the store has %s", name, ui.Count(len(roots), "root session"))
		}
		return roots[-n-1], nil
	}
	for _, matches := range []func(id string) bool{
		func(id string) bool { return id == name },
		func(id string) bool { return name != "" && strings.HasPrefix(id, name) },
	} {
		var found []Known
		for _, k := range known {
			if matches(k.ID) {
				found = append(found, k)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return Known{}, ambiguous(found, name)
		}
	}
	var shared []Known
	for _, k := range known {
		if name != "" && strings.HasSuffix(k.ID, "/"+name) {
			shared = append(shared, k)
		}
	}
	if len(shared) > 1 {
		return Known{}, sharedID(shared, name)
	}
	return Known{}, unknown(known, name)
}

// OnlyRoot is the one root session of a store that was named without a session.
// The error is a usage problem that lists the newest ones.
func OnlyRoot(known []Known, store string) (Known, error) {
	roots := newestRoots(known)
	switch len(roots) {
	case 1:
		return roots[0], nil
	case 0:
		return Known{}, noSession(elsewhere, "%s holds no session to view", store)
	}
	return Known{}, problem.New(problem.Usage, "Name one behind the store. The newest: "+nameAll(roots, longestStart(roots)),
		"%s holds %d sessions", store, len(roots))
}

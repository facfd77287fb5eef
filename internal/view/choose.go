package view

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Known is one session that a name may mean.
type Known struct {
	Store   string // the path of its store
	ID      string
	Top     string // the session that somebody goes on with: itself, or the root above it
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
	called, top := calledIn(tree), map[*session.Session]string{}
	for _, part := range tree.Conversations() {
		for _, found := range part.Sessions {
			top[found] = part.Root().ID
		}
	}
	for _, found := range tree.Sessions {
		s.lost.AddUnread(found.Faults, found.Items)
		root := found == tree.Root() || found.Parent == "" && !called[found.ID]
		k := Known{Store: store, ID: found.ID, Top: top[found], Title: found.Title, Created: found.Created, Root: root}
		if k.ID == s.Name || FitsName(k.ID, k.Title, s.Name) && s.kept < few || s.Name == "" && len(s.Known) == 0 {
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
	slices.SortStableFunc(roots, compareNewer)
	return roots
}

func compareNewer(a, b Known) int { return b.Created.Compare(a.Created) }

// AddFacts takes in what is known of a store when all of its trees have been added.
func (s *Search) AddFacts(facts *session.Store) {
	s.lost.AddUnread(facts.Faults, nil)
	s.cut = cmp.Or(s.cut, facts.Incomplete)
}

// Choose finds the session that a name means among those that were added: see Choose. One
// that is not there may be in what could not be read, and then the name is not wrong.
func (s *Search) Choose(name string) (Known, error) {
	found, err := ChooseSession(s.Known, name)
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

// FitsName reports whether a session may be meant by a name: its id begins so, or its title
// has all of these words, in any order and case.
func FitsName(id, title, name string) bool {
	return name != "" && strings.HasPrefix(id, name) || hasWords(title, name)
}

func hasWords(title, name string) bool {
	words := strings.Fields(strings.ToLower(name))
	title = strings.ToLower(title)
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(title, w) })
}

// ChooseSession finds the session that a name means: an id, -1 for the newest root session, -2
// for the one before, as docker agent counts them, the unique beginning of an id, or
// words of one title; of equal ones, those of root sessions count. The error is a usage
// problem that names what may have been meant.
func ChooseSession(known []Known, name string) (Known, error) {
	isID := slices.ContainsFunc(known, func(k Known) bool { return k.ID == name })
	if n, err := strconv.Atoi(name); err == nil && n < 0 && !isID {
		roots := newestRoots(known)
		if -n > len(roots) {
			return Known{}, noSession("Count from -1, the newest.", "there is no session %s: the store has %s", name, ui.Count(len(roots), "root session"))
		}
		return roots[-n-1], nil
	}
	for _, way := range []struct {
		means     func(Known) bool
		ambiguous func([]Known, string) error
		least     int // how many there have to be
	}{
		{func(k Known) bool { return k.ID == name }, ambiguousName, 1},
		{func(k Known) bool { return name != "" && strings.HasPrefix(k.ID, name) }, ambiguousName, 1},
		{func(k Known) bool { return name != "" && strings.HasSuffix(k.ID, "/"+name) }, sharedID, 2},
		{func(k Known) bool { return k.Root && hasWords(k.Title, name) }, sharedTitle, 1},
		{func(k Known) bool { return hasWords(k.Title, name) }, sharedTitle, 1},
	} {
		found := slices.DeleteFunc(slices.Clone(known), func(k Known) bool { return !way.means(k) })
		if len(found) == 1 && way.least == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			slices.SortStableFunc(found, compareNewer)
			return Known{}, way.ambiguous(found, name)
		}
	}
	return Known{}, unknownName(known, name)
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
	return Known{}, problem.New(problem.Usage, "Give one after the store. The newest: "+nameAll(roots, longestStart(roots)),
		"%s holds %d sessions", store, len(roots))
}

// ErrNoSession is the cause where no session has the name.
var ErrNoSession = errors.New("no session has this name")

// noSession is a usage problem of that cause.
func noSession(next, format string, args ...any) error {
	err := problem.New(problem.Usage, next, format, args...)
	err.Err = ErrNoSession
	return err
}

// elsewhere is what to do about a store without sessions.
const elsewhere = "`sessctl stores` shows where else there are stores."

// ambiguousName says which sessions a name may mean.
func ambiguousName(found []Known, name string) error {
	if found[0].ID == found[1].ID {
		return problem.New(problem.Usage, "Name the store on the command line, too.",
			"session %q is in %s and in %s", name, found[0].Store, found[1].Store)
	}
	return problem.New(problem.Usage, "Type more of the id: "+nameAll(found, longestStart(found)), "%d sessions begin with %q", len(found), name)
}

// sharedID says which sessions have an id that several owners gave, and how each is
// called: by all of its key.
func sharedID(found []Known, name string) error {
	return problem.New(problem.Usage, "Name one of them in full: "+nameAll(found, math.MaxInt), "%d sessions have the id %q", len(found), name)
}

// sharedTitle says which sessions have these words in their titles.
func sharedTitle(found []Known, name string) error {
	return problem.New(problem.Usage, "Type more words, or an id: "+nameAll(found, longestStart(found)), "%d sessions have %q in their titles", len(found), name)
}

// longestStart is the number of bytes after which all ids differ, at least eight.
func longestStart(list []Known) int {
	ids := lists.MapEach(list, func(k Known) string { return k.ID })
	slices.Sort(ids)
	longest := 8
	for i := 1; i < len(ids); i++ {
		longest = max(longest, ui.CommonStart(ids[i-1], ids[i])+1)
	}
	return longest
}

// unknownName names the sessions whose id or title comes nearest.
func unknownName(known []Known, name string) error {
	if len(known) == 0 {
		return noSession(elsewhere, "there is no session %q: the store has none", name)
	}
	near := slices.Clone(known)
	lower := strings.ToLower(name)
	slices.SortStableFunc(near, func(a, b Known) int {
		return cmp.Or(cmp.Compare(nameCloseness(b, lower), nameCloseness(a, lower)), compareNewer(a, b))
	})
	near = near[:min(len(near), 3)]
	return noSession("The nearest: "+nameAll(near, longestStart(near)), "there is no session %q", name)
}

// nameCloseness is how much of a name a session shares: the length of the common
// start of the ids, or of the words that its title has.
func nameCloseness(k Known, lower string) (n int) {
	for _, word := range strings.Fields(lower) {
		if hasWords(k.Title, word) {
			n += len(word)
		}
	}
	return max(n, ui.CommonStart(strings.ToLower(k.ID), lower))
}

// nameAll lists sessions in one sentence part, with the first bytes of their ids.
func nameAll(list []Known, start int) string {
	const most = 6
	words := lists.MapEach(list[:min(len(list), most)], func(k Known) string {
		return fmt.Sprintf("%s (%s)", idStart(k.ID, start), k.dayAndTitle())
	})
	if len(list) > most {
		words = append(words, fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(words, ", ")
}

// idStart is the beginning of an id, quoted where it holds what no terminal
// should get. Ids up to twelve bytes stay whole, as in lists, and so does what stands
// before the last slash: whose the session is.
func idStart(id string, bytes int) string {
	owner := strings.LastIndexByte(id, '/') + 1
	if end := max(bytes, owner+8); len(id)-owner > 12 && len(id) > end {
		id = strings.ToValidUTF8(id[:end], "")
	}
	if quoted := strconv.Quote(id); quoted != `"`+id+`"` {
		return quoted
	}
	return id
}

// dayAndTitle say which session is meant: its day and its title.
func (k *Known) dayAndTitle() string {
	const longest = 40
	title := []rune(k.Title)
	if len(title) > longest {
		title = append(title[:longest], '…')
	}
	text := "no title"
	if len(title) > 0 {
		text = strconv.Quote(string(title))
	}
	if !k.Created.IsZero() {
		text = k.Created.Format(time.DateOnly) + " " + text
	}
	return text
}

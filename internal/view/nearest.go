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

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/ui"
)

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

// ambiguous says which sessions a name may mean.
func ambiguous(found []Known, name string) error {
	if found[0].ID == found[1].ID {
		return problem.New(problem.Usage, "Name the store before the session: "+shell.View(found[0].Store, name),
			"session %q is in %s and in %s", name, found[0].Store, found[1].Store)
	}
	slices.SortStableFunc(found, newer)
	return problem.New(problem.Usage, "Type more of the id: "+nameAll(found, longestStart(found)), "%d sessions begin with %q", len(found), name)
}

// sharedID says which sessions have an id that several owners gave, and how each is
// called: by all of its key.
func sharedID(found []Known, name string) error {
	slices.SortStableFunc(found, newer)
	return problem.New(problem.Usage, "Name one of them in full: "+nameAll(found, math.MaxInt), "%d sessions have the id %q", len(found), name)
}

// longestStart is the number of bytes after which all ids differ, at least eight.
func longestStart(list []Known) int {
	ids := make([]string, len(list))
	for i, k := range list {
		ids[i] = k.ID
	}
	slices.Sort(ids)
	longest := 8
	for i := 1; i < len(ids); i++ {
		longest = max(longest, ui.CommonStart(ids[i-1], ids[i])+1)
	}
	return longest
}

// unknown names the sessions whose id or title comes nearest.
func unknown(known []Known, name string) error {
	if len(known) == 0 {
		return noSession(elsewhere, "there is no session %q: the store has none", name)
	}
	near := slices.Clone(known)
	lower := strings.ToLower(name)
	slices.SortStableFunc(near, func(a, b Known) int {
		return cmp.Or(cmp.Compare(closeness(b, lower), closeness(a, lower)), newer(a, b))
	})
	near = near[:min(len(near), 3)]
	return noSession("The nearest: "+nameAll(near, longestStart(near)), "there is no session %q", name)
}

// closeness is how much of a name a session shares: the length of the common
// start of the ids, or the whole name when the title holds it.
func closeness(k Known, lower string) int {
	if lower != "" && strings.Contains(strings.ToLower(k.Title), lower) {
		return len(lower)
	}
	return ui.CommonStart(strings.ToLower(k.ID), lower)
}

// nameAll lists sessions in one sentence part, with the first bytes of their ids.
func nameAll(list []Known, start int) string {
	const most = 6
	var words []string
	for _, k := range list[:min(len(list), most)] {
		words = append(words, fmt.Sprintf("%s (%s)", idStart(k.ID, start), k.words()))
	}
	if len(list) > most {
		words = append(words, fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(words, ", ")
}

// idStart is the beginning of an id, quoted where it holds what no terminal
// should get. Ids up to twelve bytes stay whole, as in lists.
func idStart(id string, bytes int) string {
	if len(id) > 12 && len(id) > bytes {
		id = strings.ToValidUTF8(id[:bytes], "")
	}
	if quoted := strconv.Quote(id); quoted != `"`+id+`"` {
		return quoted
	}
	return id
}

// words say which session is meant: its day and its title.
func (k *Known) words() string {
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

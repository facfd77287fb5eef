package repair

import (
	"errors"
	"fmt"
	"os"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
)

// replaced says what became of a repair whose store is not at its path any more; whole
// says that all of it was committed. The backup stays in any case: it may be all that is
// left of the store.
func (a *application) replaced(err error, whole bool) (*Receipt, error) {
	r, d := a.receipt, displaced{err: err, path: a.plan.Store.Path, verb: "repaired"}
	if a.backed {
		d.backup = a.Backup
	}
	for _, b := range r.Batches {
		d.sessions += len(b.Sessions)
	}
	if len(r.Batches) == 0 {
		return nil, d.problem()
	}
	if r.State == Pending { // else it was closed before this came out
		state := Stopped
		if whole {
			state = Done
		}
		_ = r.finish(state) // else the digests of the sessions tell
	}
	if !whole {
		d.rest = "run the repair again for the rest"
	}
	return r, d.problem()
}

// displaced is a change of a store that another file took the place of meanwhile.
type displaced struct {
	err      error // store.ErrReplaced
	path     string
	verb     string // what was done with the sessions: "repaired"
	sessions int    // in which it was, and committed
	rest     string // what to do about what was not, where the store is at its path
	backup   string // "" for none
}

// problem is the error for people.
func (d displaced) problem() error {
	p, ok := errors.AsType[*problem.Error](d.err)
	if !ok {
		return d.err
	}
	told := *p
	told.Err = d.err
	told.What += " while the store was being " + d.verb
	switch {
	case d.sessions == 0:
		told.What += ", so that was rolled back"
		told.Next = "Nothing was changed."
	case !errors.Is(d.err, store.ErrBeside):
		told.Next = fmt.Sprintf("%s in the file that was there before; %s does not lead to it any more.", d.done(), d.path)
	default:
		told.Next = fmt.Sprintf("%s in %s before that.", d.done(), d.path)
		if errors.Is(d.err, store.ErrForeignLog) {
			told.Next += " The next program that opens it would take the other log for its own: close all of them and move that log away."
		}
		if d.rest != "" {
			told.Next += " Then " + d.rest + "."
		}
	}
	told.Next += d.whole() + " Find out which program moves these files."
	return &told
}

// done counts the sessions.
func (d displaced) done() string {
	if d.sessions == 1 {
		return "1 session was " + d.verb
	}
	return fmt.Sprintf("%d sessions were %s", d.sessions, d.verb)
}

// whole says where the whole store is as it was.
func (d displaced) whole() string {
	if d.backup == "" {
		return ""
	}
	if _, err := os.Lstat(d.backup); err != nil {
		return " The backup " + d.backup + " was moved away, too; it holds the whole store as it was before."
	}
	return " The backup " + d.backup + " holds the whole store as it was before."
}

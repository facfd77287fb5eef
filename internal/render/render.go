// Package render is what the printers of all commands share: what they are given, and the
// words for stores, sessions and findings. The short lists (ls, stores, config, explain) it
// prints itself. It decides nothing; what it is given is what it shows.
package render

import (
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Tool is the program, as machine formats name it.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Build is the program with how it was built.
type Build struct {
	Tool
	Commit   string `json:"commit,omitzero"`
	Date     string `json:"date,omitzero"`
	Go       string `json:"go,omitzero"`
	Platform string `json:"platform,omitzero"`
}

// String is one line for people.
func (b Build) String() string {
	var facts []string
	if b.Commit != "" {
		facts = append(facts, "commit "+b.Commit)
	}
	for _, fact := range []string{b.Date, b.Go, b.Platform} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	return b.Name + " " + b.Version + " (" + strings.Join(facts, ", ") + ")"
}

// Command is a command to type, with the reason.
type Command = document.Command

// RepairWriter prints a repair: the plan first, then what became of it.
type RepairWriter interface {
	Plan(plan *repair.Plan, store *session.Store, left []*check.Finding) error
	// Ask prints where the backup will be, and how to go back, before a person says yes.
	Ask(backup string, bytes int64, undo Command) error
	Close(outcome Outcome) error
}

// Outcome is how a repair ended.
type Outcome struct {
	Applied  bool
	Output   string         // the repaired copy, "" for a repair in place
	Backup   string         // "" for none
	Receipt  string         // "" for none
	Ledger   *repair.Ledger // nil when nothing was changed
	ExitCode int
	Next     []Command // what to type when nothing was changed

	LeftOut []repair.LeftOut // trees of the plan that could not be repaired
	Left    []*check.Finding // what is left after a plan that was carried out
}

// RepairOptions say how a repair is printed.
type RepairOptions struct {
	Screen   *ui.Screen
	Tool     Tool
	Home     string   // the folder that ~ stands for
	Quiet    bool     // the steps and the receipt only
	MaxSteps int      // in text; 0 for no limit
	Content  bool     // with excerpts of what the items say
	Check    string   // the command that lists what is left
	Allowed  []string // the words of --allow that were given
}

// DiffWriter prints a comparison of two stores.
type DiffWriter interface {
	// Tree prints a session tree that differs. It keeps none of its texts.
	Tree(tree *diff.Tree) error
	Close(end DiffEnd) error
}

// DiffEnd is what is known when everything was compared.
type DiffEnd struct {
	Tally    diff.Tally
	ExitCode int
	Next     []Command // what to type next
}

// DiffStore is one of the stores.
type DiffStore struct {
	*session.Store
	Trees   int // session trees in it
	Orphans int // records of no session, where these are compared
	// Incomplete is the reason why not all of it was compared, "" if it was.
	Incomplete string
}

// DiffOptions say how a comparison is printed.
type DiffOptions struct {
	Screen *ui.Screen
	Tool   Tool
	Home   string // the folder that ~ stands for
	Quiet  bool   // in text and markdown: only whether the stores differ
	Full   bool   // whole texts, and every item of added and gone sessions
	A, B   DiffStore
}

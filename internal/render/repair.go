package render

import (
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

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

package machine

import (
	stdjson "encoding/json" // as plans are saved: "" is not left out like nil

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
)

const repairSchema = "sessctl.repair/1"

type repairDocument struct {
	head
	// what the repair does, as `--plan-out` saves it; its `trees` are empty when there is nothing to
	// repair
	Plan jsontext.Value `json:"plan"`
	// those of the database that its runtime does not make; left out if there is none
	Triggers []session.Trigger `json:"triggers,omitempty"`
	Applied  bool              `json:"applied"`         // whether the plan was carried out
	Output   string            `json:"output,omitzero"` // the repaired copy; left out for a repair in place
	// the copy of the store as it was; left out when nothing was changed, or with `output`
	Backup string `json:"backup,omitzero"`
	// what `sessctl undo` takes, in the form that docs/repair.md shows; left out when nothing was
	// changed
	Receipt string         `json:"receipt,omitzero"`
	Ledger  *repair.Ledger `json:"ledger,omitzero"` // what became of the items; left out when nothing was changed
	// sessions that the plan repairs and that stayed as they were, with all of their sub-sessions,
	// because their repair failed; left out if there is none
	LeftOut []repair.LeftOut `json:"left_out,omitempty"`
	// findings that remain, of which some may be there only after the repair; those of sessions in
	// `left_out` included
	Left     jsonLeft `json:"left"`
	ExitCode int      `json:"exit_code"` // of the program: docs/exit-codes.md
}

// jsonLeft counts what a check finds besides the planned repairs.
type jsonLeft struct {
	render.Severities
	Refused int `json:"refused"` // sessions whose next request a provider would still refuse because of what is left
}

func leftOf(found []*check.Finding) jsonLeft {
	left := jsonLeft{Refused: len(render.RefusedSessions(found))}
	left.Add(found)
	return left
}

// repairJSON prints one document when all is known.
type repairJSON struct {
	render.RepairOptions
	plan     *repair.Plan
	left     jsonLeft
	triggers []session.Trigger
}

// NewRepair prints one document when all is known.
func NewRepair(o render.RepairOptions) render.RepairWriter { return &repairJSON{RepairOptions: o} }

func (r *repairJSON) Plan(plan *repair.Plan, store *session.Store, left []*check.Finding) error {
	r.plan, r.left, r.triggers = plan, leftOf(left), store.Triggers
	return nil
}

func (r *repairJSON) Ask(string, int64, render.Command) error { return nil }

func (r *repairJSON) Close(o render.Outcome) error {
	plan, err := stdjson.Marshal(r.plan)
	if err != nil {
		return err
	}
	if o.Applied {
		r.left = leftOf(o.Left)
	}
	return JSON(r.Screen.Plain(), repairDocument{
		head: head{repairSchema, r.Tool}, Plan: plan, Triggers: r.triggers, Applied: o.Applied, Output: o.Output,
		Backup: o.Backup, Receipt: o.Receipt, Ledger: o.Ledger, LeftOut: o.LeftOut, Left: r.left, ExitCode: o.ExitCode,
	})
}

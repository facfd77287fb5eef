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
	Schema   string            `json:"schema"`
	Tool     render.Tool       `json:"tool"`
	Plan     jsontext.Value    `json:"plan"`
	Triggers []session.Trigger `json:"triggers,omitempty"`
	Applied  bool              `json:"applied"`
	Output   string            `json:"output,omitzero"`
	Backup   string            `json:"backup,omitzero"`
	Receipt  string            `json:"receipt,omitzero"`
	Ledger   *repair.Ledger    `json:"ledger,omitzero"`
	LeftOut  []repair.LeftOut  `json:"left_out,omitempty"`
	Left     jsonLeft          `json:"left"`
	ExitCode int               `json:"exit_code"`
}

// jsonLeft counts what a check finds besides the planned repairs.
type jsonLeft struct {
	render.Severities
	Refused int `json:"refused"` // sessions
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
		Schema: repairSchema, Tool: r.Tool, Plan: plan, Triggers: r.triggers, Applied: o.Applied, Output: o.Output,
		Backup: o.Backup, Receipt: o.Receipt, Ledger: o.Ledger, LeftOut: o.LeftOut, Left: r.left, ExitCode: o.ExitCode,
	})
}

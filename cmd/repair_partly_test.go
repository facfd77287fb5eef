package cmd

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
)

func TestARepairThatFailsHalfwaySaysWhatStays(t *testing.T) {
	receipt := &repair.Receipt{Batches: []*repair.Batch{{Sessions: []repair.Touched{{ID: "a"}, {ID: "b"}}}, {Sessions: []repair.Touched{{ID: "c"}}}}}
	tests := []struct {
		name    string
		receipt *repair.Receipt
		err     error
		says    string
		code    int
		partly  bool
	}{
		{"nothing was changed", nil, problem.New(problem.Busy, "", "in use"), "in use", 5, false},
		{"a later batch found a writer", receipt, problem.New(problem.Busy, "", "in use"), "in use; before that, 3 sessions had been repaired", 5, true},
		{"a later batch was rolled back", receipt, errors.Join(problem.New(problem.RolledBack, "", "rolled back"), errors.New("x")), "rolled back; before that, 3 sessions", 4, true},
		{"an interruption", receipt, context.Canceled, "interrupted; before that, 3 sessions", 3, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := new(program).partlyChanged(tt.receipt, tt.err)
			if !strings.Contains(err.Error(), tt.says) || exitCode(err) != tt.code || errors.Is(err, errChanged) != tt.partly {
				t.Errorf("got %v, code %d", err, exitCode(err))
			}
		})
	}
}

func TestAnInterruptedCommandDoesNotDenyWhatItChanged(t *testing.T) {
	for _, tt := range []struct {
		err        error
		says, hush string
		code       int
	}{
		{new(program).partlyChanged(&repair.Receipt{Batches: []*repair.Batch{{Sessions: []repair.Touched{{ID: "a"}}}}}, context.Canceled), "sessctl undo", "nothing was changed", exitInterrupted},
		{context.Canceled, "nothing was changed", "undo", exitInterrupted},
		{errors.Join(shown(exitFindings), errChanged), "", "interrupted", exitFindings}, // all was done and shown
	} {
		p, stderr := testProgram()
		code := p.reportExitCode(&cobra.Command{}, interruptionError(tt.err))
		if code != tt.code || !strings.Contains(stderr.String(), tt.says) || strings.Contains(stderr.String(), tt.hush) {
			t.Errorf("code %d: %s", code, stderr.String())
		}
	}
}

func TestInterruptionTakesPrecedenceOverTheClassOfAProblem(t *testing.T) {
	err := errors.Join(errInterrupted, problem.New(problem.Busy, "", "in use"))
	if got := exitCode(err); got != exitInterrupted {
		t.Errorf("got %d", got)
	}
}

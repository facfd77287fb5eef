package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAnInterruptedRunLeavesItsReportsAsTheyWere: the signal comes while they are written.
func TestAnInterruptedRunLeavesItsReportsAsTheyWere(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "report.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, interrupted := range []bool{true, false} {
		p, _ := testProgram()
		p.config.Format, p.config.Report = "text", []string{"json=" + path}
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		reports, err := p.openReports(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		run := &checkRun{program: p, code: exitFindings}
		run.writer, _ = p.checkWriters(reports, false, time.Time{})
		if interrupted {
			interrupt()
		}
		err = run.finishRun(ctx, nil, nil, reports)
		reports.discardReports()
		got, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if interrupted != errors.Is(err, context.Canceled) || interrupted != (string(got) == "old") {
			t.Errorf("interrupted %t: %v, and the report holds %.20q", interrupted, err, got)
		}
		if !interrupted {
			interrupt() // too late
			if code := p.reportExitCode(nil, interruptionError(err)); code != exitFindings {
				t.Errorf("code %d of a run that had done everything", code)
			}
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Errorf("%v is left (%v)", entries, err)
		}
	}
}

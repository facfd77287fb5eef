package cmd

import (
	"errors"
	"io"
	"os"
)

// stepSummary appends one report to the file that GitHub makes the summary of a step
// from. What goes wrong there is told and fails nothing: the findings are printed.
type stepSummary struct {
	*program
	path    string
	written bool
}

// newStepSummary is the one of the step that the program runs in, nil elsewhere.
func (p *program) newStepSummary() io.Writer {
	path := p.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	return &stepSummary{program: p, path: path}
}

// Write implements io.Writer. A second report of the same run is the same.
func (s *stepSummary) Write(report []byte) (int, error) {
	if s.written {
		return len(report), nil
	}
	s.written = true
	file, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = file.Write(report)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		s.note("the summary of the step was not written, the findings are complete: %v", err)
	}
	return len(report), nil
}

package problem_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
)

func TestReasonLeavesThePathOut(t *testing.T) {
	denied := errors.New("denied")
	for want, err := range map[string]error{
		"denied":       fmt.Errorf("reading: %w", &fs.PathError{Op: "open", Path: "a.db", Err: denied}),
		"link: denied": &os.LinkError{Op: "rename", Old: "a", New: "b", Err: fmt.Errorf("link: %w", denied)},
		"no path":      errors.New("no path"),
	} {
		if got := problem.Reason(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

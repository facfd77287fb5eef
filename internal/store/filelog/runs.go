package filelog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Name says which lines a run is.
func (r *Run) Name() string {
	if r.Last == r.Number {
		return fmt.Sprintf("line %d", r.Number)
	}
	return fmt.Sprintf("lines %d to %d", r.Number, r.Last)
}

// Describe says what is wrong with the lines of a run, in which these calls have results, and what puts that right.
func (r *Run) Describe(calls []string) (wrong, remedy string) {
	if wrong, remedy = r.describe(); len(calls) > 0 {
		wrong += "; the results of these calls are there, and the model does not see them: " + strings.Join(calls, ", ")
	}
	return wrong, remedy
}

func (r *Run) describe() (wrong, remedy string) {
	name := r.Name()
	switch {
	case r.Joined:
		return "line ends stand within a record", "join what is one record in " + name
	case r.Records > 1 && r.Last > r.Number:
		return fmt.Sprintf("%d records are within them", r.Records), fmt.Sprintf("split %s into their %d records", name, r.Records)
	case r.Records > 1:
		return fmt.Sprintf("%d records share it", r.Records), fmt.Sprintf("split %s into its %d records", name, r.Records)
	case len(r.Pieces) > 1:
		return "a whole record is beside what was cut off", "part the record on " + name + " from what was cut off"
	}
	return "NUL bytes are beside a record, or in it", "take the NUL bytes out of " + name
}

// RunAt is the run in which an offset lies, nil for none. Runs are in their order.
func RunAt(runs []*Run, offset int64) *Run {
	at, exact := slices.BinarySearchFunc(runs, offset, func(r *Run, at int64) int { return cmp.Compare(r.Offset, at) })
	if !exact {
		at--
	}
	if at < 0 || offset >= runs[at].Offset+int64(runs[at].Length) {
		return nil
	}
	return runs[at]
}

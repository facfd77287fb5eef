package eventlog

import (
	"math"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// SecondBits are the bits of a position that tell events of one second apart, where a
// store orders events by seconds, and those of one second by their rows. A position is
// both: the second, and room for the row.
const SecondBits = 22

const (
	rowMask    = 1<<SecondBits - 1
	mostSecond = math.MaxInt64 >> (SecondBits + 1) // such numbers count no seconds any more
)

// Seconds are the times of such a store.
var Seconds = column.Times{
	Number: column.Seconds, Whole: true, Years: [2]int{2000, 2200},
	Formless: "it is not a number of seconds", Outside: "read as seconds, its year is %d",
}

// BySecond is the place of such an event, for Layout.Order.
func BySecond(at table.Place, stored any) (position, tie int64) {
	second, ok := column.Int(stored)
	if v, number := stored.(float64); number && math.Abs(v) < mostSecond {
		second = int64(math.Floor(v))
	} else if !ok {
		second = mostSecond // SQLite sorts texts behind numbers
	}
	second = max(-mostSecond, min(mostSecond, second))
	return second<<SecondBits + min(int64(at), rowMask), int64(at)
}

// RowNumbers tell in which order the rows of a session were stored: a clock that is set back tells something
// else. They are 0 where a repair gave them out, to a result that it made up and what is after that in its second.
func RowNumbers(s *session.Session) []int64 {
	numbers, anew := make([]int64, len(s.Items)), false
	for i := range s.Items {
		it := &s.Items[i]
		anew = anew && SameSecond(s.Items[i-1].Position, it.Position) || it.Flags.Has(session.Synthetic)
		if number := it.Position & rowMask; !anew && number < rowMask {
			numbers[i] = number
		}
	}
	return numbers
}

// AtSecond is the place that an event would have with another second.
func AtSecond(position, second int64) int64 { return second<<SecondBits | position&rowMask }

// BadTimes are the faults of columns with times.
func BadTimes(value func(column string) any, times *column.Times, columns ...string) (faults []session.Fault) {
	for _, name := range columns {
		if wrong := times.Read(value(name)).Wrong; wrong != "" {
			faults = append(faults, session.Fault{Kind: session.BadTime, Field: name, Detail: wrong})
		}
	}
	return faults
}

// SecondOf is the second of a place, for a row that a repair stores there or whose time, as it
// is stored, it changes. Beside what has no such time there is none.
func SecondOf(position int64, stored any) (int64, error) {
	second := position >> SecondBits
	switch stored.(type) {
	case int64, float64:
		if Seconds.Read(second).Wrong == "" {
			return second, nil
		}
		return 0, problem.New(problem.RolledBack, "", "the message beside its place has no time that can be")
	}
	return 0, problem.New(problem.RolledBack, "", "its time is no number, and cannot be changed")
}

// TooLate are seconds that no message can have: the year is 5138.
const TooLate = 1e11

// DropTimeFaults is Layout.Relate of such a store: an item that moved has the second of its place,
// and no fault of its time any more.
func DropTimeFaults(s *session.Session, name string) {
	s.Faults = slices.DeleteFunc(s.Faults, func(f session.Fault) bool {
		return f.Kind == session.BadTime && f.Field == name && f.Default == nil && f.Item >= 0 && Seconds.Read(s.Items[f.Item].Position>>SecondBits).Wrong == ""
	})
}

// SameSecond is Write.Tied of such a store.
func SameSecond(before, at int64) bool { return before>>SecondBits == at>>SecondBits }

// SameRow is Write.SameNumber of such a store.
func SameRow(before, at int64) bool { return before&rowMask == at&rowMask && at&rowMask != rowMask }

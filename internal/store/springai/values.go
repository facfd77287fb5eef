package springai

import (
	"time"

	"github.com/sessctl/sessctl/internal/store/column"
)

// times are the forms in which times are stored: texts, whose zones may follow in several
// ways (PostgreSQL leaves minutes of 00 out, Java seconds of 00), or numbers of
// milliseconds, which is what the SQLite driver of Java makes of a Timestamp. A time
// without a zone is taken for UTC: which zone its writer was in is not stored.
// Agents can have run in these years; seconds that are read as milliseconds are in 1970.
var times = column.Times{
	Forms: []column.Form{
		{Layout: sqlTime, Fraction: micros},
		{Layout: sqlTime + "Z07:00", Fraction: micros},
		{Layout: sqlTime + "-07", Fraction: micros},
		{Layout: sqlTime + "-0700", Fraction: micros},
		{Layout: sqlTime + " Z07:00", Fraction: micros},
		{Layout: sqlTime + " -0700", Fraction: micros},
		{Layout: "2006-01-02 15:04", Fraction: micros},
	},
	T: true, UTC: true, Number: column.Milliseconds, Whole: true,
	Years:         [2]int{2000, 2200},
	Formless:      "it is not in the form 2026-02-03 09:56:40",
	Empty:         "it is empty",
	Outside:       "its year is %d",
	OutsideNumber: "read as %s, its year is %d",
}

const sqlTime, micros = "2006-01-02 15:04:05", ".000000"

// clockOf stands for the form of a stored time: a number, digits, or the text of a time. For
// what is none of these it is that of the scripts' columns.
func clockOf(stored any) any {
	if blob, ok := stored.([]byte); ok {
		stored = string(blob)
	}
	if _, ok := column.Int(stored); ok {
		return column.IntLike(stored, 0)
	}
	if _, form := times.Parse(column.View(stored)); form == nil {
		return sqlTime
	}
	return column.Text(stored)
}

// formatTime formats a time in the form of the store's others, exact to the microsecond where it is
// a text.
func (sc *schema) formatTime(t time.Time) any {
	if _, ok := column.Int(sc.clock); ok {
		return column.IntLike(sc.clock, t.UnixMilli())
	}
	text, _ := times.Like(column.View(sc.clock), t.UnixMicro(), time.Time{})
	return text
}

package eventlog_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// TestSplitPlace: rows can have numbers below zero.
func TestSplitPlace(t *testing.T) {
	for count := 1; count <= 3; count++ {
		for row := table.Place(-4); row <= 4; row++ {
			for n := range count {
				if in, at := eventlog.SplitPlace(row*table.Place(count)+table.Place(n), count); in != n || at != row {
					t.Errorf("row %d of table %d of %d is row %d of table %d", row, n, count, at, in)
				}
			}
		}
	}
}

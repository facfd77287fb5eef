package server

import (
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/store/table"
)

// rowsAtOnce are read with one query.
const rowsAtOnce = 1000

// ReadPlaces hands the rows at places to fn, with their indexes in the list, and tells those that
// were not read: table.Reader.Rows. read reads the rows at some places, in their order.
func ReadPlaces(places []table.Place, fn func(n int, row []table.Value) error,
	read func(places []table.Place, each func(at table.Place, row []table.Value) error) error,
) (unread []int, err error) {
	for from := 0; from < len(places); from += rowsAtOnce {
		rest := map[table.Place][]int{}
		for n := from; n < min(from+rowsAtOnce, len(places)); n++ {
			rest[places[n]] = append(rest[places[n]], n)
		}
		err := read(slices.Sorted(maps.Keys(rest)), func(at table.Place, row []table.Value) error {
			for _, n := range rest[at] {
				if err := fn(n, row); err != nil {
					return err
				}
			}
			delete(rest, at)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, indexes := range rest {
			unread = append(unread, indexes...)
		}
	}
	slices.Sort(unread)
	return unread, nil
}

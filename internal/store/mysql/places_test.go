package mysql

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/store/table"
)

// TestPlaces: each key has one place, from which it comes back, also when a row gets another key.
func TestPlaces(t *testing.T) {
	for unlike := range 3 {
		p := places{unlike: unlike}
		key := func(n int) []table.Value {
			k := []table.Value{"app", []byte{byte(n % 3)}, fmt.Sprint("user", n%7)}
			k[unlike] = fmt.Sprintf("%08x\x00é", n)
			return k
		}
		const rows = 5000
		for round := range 2 {
			for n := range rows {
				if at := p.placeOf(key(n)); at != table.Place(n) {
					t.Fatalf("round %d: %d has the place %d", round, n, at)
				}
			}
		}
		same := func(at table.Place, want []table.Value) {
			t.Helper()
			if got := p.keyOf(at); !slices.EqualFunc(got, want, func(a, b table.Value) bool { return table.SameValue(a, b) }) {
				t.Fatalf("%d: %q, not %q", at, got, want)
			}
		}
		for n := range rows {
			same(table.Place(n), key(n))
		}
		for _, n := range []int{rows, rows + 1, 7} { // there and back
			p.moveEntry(7, key(n))
			same(7, key(n))
			if at := p.placeOf(key(n)); at != 7 {
				t.Errorf("the place %d", at)
			}
		}
		if at := p.placeOf(key(rows)); at == 7 || p.placeOf(key(rows)) != at { // another row has the key that it had
			t.Errorf("the place %d", at)
		}
		if p.keyOf(-1) != nil || p.keyOf(2*rows) != nil {
			t.Error("a row that nobody read has a key")
		}
	}
}

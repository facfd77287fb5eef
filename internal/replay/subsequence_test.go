package replay

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
)

func TestEqualsFindsALongestCommonSubsequence(t *testing.T) {
	keys := rapid.Map(rapid.SliceOfN(rapid.IntRange(0, 4), 0, 150), func(list []int) []session.Digest {
		digests := make([]session.Digest, len(list))
		for i, n := range list {
			digests[i] = session.Digest(n)
		}
		return digests
	})
	rapid.Check(t, func(rt *rapid.T) {
		a, b := keys.Draw(rt, "a"), keys.Draw(rt, "b")
		found, last := 0, -1
		for i, j := range alignKeys(a, b, nil) {
			if j < 0 {
				continue
			}
			if j <= last || a[i] != b[j] || a[i] == 0 {
				rt.Fatalf("%d (%d) is the partner of %d (%d), behind one of %d", i, a[i], j, b[j], last)
			}
			found, last = found+1, j
		}
		if want := longest(a, b); found != want {
			rt.Errorf("%d have a partner, %d can have one", found, want)
		}
	})
}

// longest is the length by the textbook's table.
func longest(a, b []session.Digest) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		before := 0
		for j, y := range b {
			above := row[j+1]
			switch {
			case x == y && x != 0:
				row[j+1] = before + 1
			case row[j] > above:
				row[j+1] = row[j]
			}
			before = above
		}
	}
	return row[len(b)]
}

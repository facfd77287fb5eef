package render

import (
	"strings"
	"testing"
)

func TestItemRanges(t *testing.T) {
	var odd []int
	for i := 1; i < 1_000_000; i += 2 {
		odd = append(odd, i)
	}
	for want, items := range map[string][]int{
		"":                  nil,
		"4":                 {4},
		"0-2,7,9-10":        {0, 1, 2, 7, 9, 10},
		"1,3,5,7,9,11,13,1": odd,
	} {
		if got := itemRanges(items); got != want && (len(items) < 100 || !strings.HasPrefix(got, want) || !strings.HasSuffix(got, ",…") || len(got) > 600) {
			t.Errorf("%v: %q, want %q", items[:min(len(items), 10)], got, want)
		}
	}
	var whole []int
	for i := range 1000 {
		whole = append(whole, i)
	}
	if got := itemRanges(whole); got != "0-999" {
		t.Errorf("%q", got)
	}
}

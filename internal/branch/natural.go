package branch

import (
	"cmp"
	"strings"
)

// natural compares names as people number them: "a2" before "a10".
func natural(a, b string) int {
	whole := strings.Compare(a, b)
	for a != "" && b != "" {
		var x, y string
		x, a = chunk(a)
		y, b = chunk(b)
		order := strings.Compare(x, y)
		if isDigit(x[0]) && isDigit(y[0]) {
			order = compareDigits(x, y)
		}
		if order != 0 {
			return order
		}
	}
	return cmp.Or(len(a)-len(b), whole)
}

// chunk cuts off the digits that a name begins with, or all before the first.
func chunk(name string) (first, rest string) {
	n := 1
	for n < len(name) && isDigit(name[n]) == isDigit(name[0]) {
		n++
	}
	return name[:n], name[n:]
}

// compareDigits compares numbers of any length.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(len(a)-len(b), strings.Compare(a, b))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

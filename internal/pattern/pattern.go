// Package pattern compiles regular expressions when they are first used: a run of sessctl
// needs few of them, and together they take longer than the rest of its start.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy is regexp.MustCompile at its first call.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

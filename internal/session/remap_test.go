package session_test

import (
	"strconv"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestRemapIndex(t *testing.T) {
	list := func(keys ...int) *session.Session {
		s := &session.Session{ID: "P"}
		for _, key := range keys {
			s.Items = append(s.Items, session.Item{Shared: &session.Shared{Table: "session_items"}, Key: strconv.Itoa(key)})
		}
		return s
	}
	for _, c := range []struct {
		name          string
		before, after *session.Session
		index, want   int64
	}{
		{"the same item", list(1, 2, 3), list(9, 1, 2, 3), 1, 2},
		{"the next one that is still there", list(1, 2, 3), list(1, 3), 1, 1},
		{"nothing behind it is left", list(1, 2, 3), list(1), 1, 1},
		{"the end", list(1, 2), list(1, 2, 3), 2, 3},
		{"behind the end of a list that grows past it", list(1, 2), list(7, 8, 9, 1, 2), 3, 5},
		{"far behind the end", list(1, 2), list(1, 2, 3), 40, 40},
		{"a negative one", list(1, 2), list(1), -1, -1},
	} {
		if got := session.RemapIndex(c.before, c.after, c.index); got != c.want {
			t.Errorf("%s: %d became %d, not %d", c.name, c.index, got, c.want)
		}
	}
}

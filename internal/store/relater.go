package store

import "github.com/sessctl/sessctl/internal/session"

// Relater is a store in which an item says something of others that they do not
// hold themselves: what a rewind annuls, which answer stands for a later one, which
// session belongs below which. Relate sets that anew in a tree of the store that was changed in memory, as it would be
// read if it were stored so.
type Relater interface {
	Relate(tree *session.Tree)
}

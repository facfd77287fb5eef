package render

import (
	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// DiffWriter prints a comparison of two stores.
type DiffWriter interface {
	// Tree prints a session tree that differs. It keeps none of its texts.
	Tree(tree *diff.Tree) error
	Close(end DiffEnd) error
}

// DiffEnd is what is known when everything was compared.
type DiffEnd struct {
	Tally    diff.Tally
	ExitCode int
	Next     []Command // what to type next
}

// DiffStore is one of the stores.
type DiffStore struct {
	*session.Store
	Trees   int // session trees in it
	Orphans int // records of no session, where these are compared
	// Incomplete is the reason why not all of it was compared, "" if it was.
	Incomplete string
}

// DiffOptions say how a comparison is printed.
type DiffOptions struct {
	Screen *ui.Screen
	Tool   Tool
	Home   string // the folder that ~ stands for
	Quiet  bool   // in text and markdown: only whether the stores differ
	Full   bool   // whole texts, and every item of added and gone sessions
	A, B   DiffStore
}

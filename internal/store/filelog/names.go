package filelog

import "github.com/sessctl/sessctl/internal/session"

// Name is an identifier that lines have, 0 for none.
type Name int32

// Names gives identifiers numbers, so that what is kept of lines has no pointers.
type Names struct {
	all  []byte
	ends []int           // of each in all
	seen map[uint64]Name // by their digests, or a number behind where others have that
}

// NewNames has none.
func NewNames() *Names { return &Names{ends: []int{0, 0}, seen: map[uint64]Name{}} }

// Name is the number of an identifier.
func (n *Names) Name(text string) Name {
	if text == "" {
		return 0
	}
	for at := uint64(session.DigestOf(text)); ; at++ {
		switch known := n.seen[at]; {
		case known == 0:
			n.all = append(n.all, text...)
			n.ends = append(n.ends, len(n.all))
			n.seen[at] = Name(len(n.ends) - 2)
			return n.seen[at]
		case n.Text(known) == text:
			return known
		}
	}
}

// Text is the identifier.
func (n *Names) Text(of Name) string { return string(n.all[n.ends[of]:n.ends[of+1]]) }

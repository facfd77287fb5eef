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
	known, at := n.find(text)
	if known == 0 && text != "" {
		n.all = append(n.all, text...)
		n.ends = append(n.ends, len(n.all))
		known = Name(len(n.ends) - 2)
		n.seen[at] = known
	}
	return known
}

// Known reports whether an identifier has a number.
func (n *Names) Known(text string) bool { known, _ := n.find(text); return known != 0 }

// find is the number of an identifier, 0 for none, and where it is in seen, or would be.
func (n *Names) find(text string) (known Name, at uint64) {
	for at = uint64(session.DigestOf(text)); ; at++ {
		if known = n.seen[at]; known == 0 || n.Text(known) == text {
			return known, at
		}
	}
}

// Text is the identifier.
func (n *Names) Text(of Name) string { return string(n.all[n.ends[of]:n.ends[of+1]]) }

package filelog

import (
	"crypto/sha256"
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
)

// Name is an identifier that lines have, 0 for none.
type Name int32

// Names gives identifiers numbers, so that what is kept of lines has no pointers.
type Names struct {
	all  []byte
	ends []int  // of each in all
	seen []Name // a hash table of them with open addressing, which takes a third of what a map does
}

// NewNames has none.
func NewNames() *Names { return &Names{ends: []int{0, 0}, seen: make([]Name, 64)} }

// Name is the number of an identifier.
func (n *Names) Name(text string) Name {
	at := n.find(text)
	if n.seen[at] == 0 && text != "" {
		if 4*len(n.ends) > 3*len(n.seen) {
			n.seen = make([]Name, 2*len(n.seen))
			for known := range Name(len(n.ends) - 1) {
				n.seen[n.find(n.Text(known))] = known
			}
			at = n.find(text)
		}
		n.all = append(n.all, text...)
		n.ends = append(n.ends, len(n.all))
		n.seen[at] = Name(len(n.ends) - 2)
	}
	return n.seen[at]
}

// Known reports whether an identifier has a number.
func (n *Names) Known(text string) bool { return n.seen[n.find(text)] != 0 }

// find finds where the number of an identifier is in seen, or would be.
func (n *Names) find(text string) int {
	at := int(session.DigestOf(text)) & (len(n.seen) - 1)
	for n.seen[at] != 0 && n.Text(n.seen[at]) != text {
		at = (at + 1) & (len(n.seen) - 1)
	}
	return at
}

// Text is the identifier.
func (n *Names) Text(of Name) string { return string(n.all[n.ends[of]:n.ends[of+1]]) }

// DeriveUUID derives an identifier that nothing has, the same for the same seed.
func (n *Names) DeriveUUID(seed string) string {
	for k := 0; ; k++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "sessctl %d\n%s", k, seed))
		sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // RFC 9562: its bits are of no time, name or chance
		if uuid := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]); !n.Known(uuid) {
			return uuid
		}
	}
}

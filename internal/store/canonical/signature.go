package canonical

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// signatureNames names signatures whose texts are not found: the model keeps
// the digest only, which differs from run to run, so they are counted. The
// records of one store have the texts of all its signatures, or of none.
type signatureNames map[session.Digest]string

// text is the text of a signature: the one that the stored record has, else its
// name, so that equal signatures stay equal. nil when there is none.
func (n signatureNames) text(signature session.Digest, stored []byte) *string {
	if signature == 0 {
		return nil
	}
	if text := stringWithDigest(jsontext.Value(stored), signature); text != nil {
		return text
	}
	name, known := n[signature]
	if !known {
		name = fmt.Sprintf("signature %d", len(n)+1)
		n[signature] = name
	}
	return &name
}

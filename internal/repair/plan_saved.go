package repair

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// computeDigest computes the digest of a plan as it is read again.
func (p *Plan) computeDigest() (string, error) {
	data, err := json.Marshal(p)
	var bare Plan
	if err == nil {
		err = json.Unmarshal(data, &bare)
	}
	if bare.Digest = ""; err == nil {
		data, err = json.Marshal(&bare)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// Seal gives a plan its digest, before it is saved.
func (p *Plan) Seal() (err error) {
	p.Digest, err = p.computeDigest()
	return err
}

// IsSealed reports whether a saved plan says what it said when it was saved.
func (p *Plan) IsSealed() bool {
	sum, err := p.computeDigest()
	return err == nil && sum == p.Digest
}

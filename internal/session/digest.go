package session

import (
	"encoding/binary"
	"hash/maphash"
)

// Digest is a 64-bit hash of a text. Equal texts have equal digests within one
// run of the program; the seed differs between runs, so a digest is never
// stored or printed. A digest only finds candidates: what a repair removes is
// compared byte by byte. 0 means "no text".
type Digest uint64

var seed = maphash.MakeSeed()

// DigestOf hashes a text; the empty text gives 0.
func DigestOf[T string | []byte](text T) Digest {
	if len(text) == 0 {
		return 0
	}
	var h uint64
	switch t := any(text).(type) {
	case string:
		h = maphash.String(seed, t)
	case []byte:
		h = maphash.Bytes(seed, t)
	}
	return nonZero(h)
}

func nonZero(h uint64) Digest {
	if h == 0 {
		h = 1
	}
	return Digest(h)
}

// Meaning collects what an item says, to make Item.Meaning of it. Adapters fill
// it while decoding; the same content must be given in the same order.
type Meaning struct{ buf []byte }

// Reset starts a new item. The agent of a tool item does not count: runtimes
// write results into rows that a child began, under the child's name
// (docs/stores/docker-agent.md#which-versions-leak).
func (m *Meaning) Reset(role Role, agent string) {
	if role == Tool {
		agent = ""
	}
	if m.buf == nil {
		m.buf = make([]byte, 0, 128) // what nearly all items take
	}
	m.buf = append(m.buf[:0], byte(role))
	m.AddDigest(DigestOf(agent))
}

// AddDigest appends the digest of a further part.
func (m *Meaning) AddDigest(d Digest) { m.buf = binary.LittleEndian.AppendUint64(m.buf, uint64(d)) }

// AddTexts appends further texts.
func (m *Meaning) AddTexts(texts ...string) {
	for _, text := range texts {
		m.AddDigest(DigestOf(text))
	}
}

// AddFlag appends whether something is so.
func (m *Meaning) AddFlag(is bool) {
	if is {
		m.AddMark(1)
	} else {
		m.AddMark(0)
	}
}

// AddMark appends a small number: a count or a flag that separates parts.
func (m *Meaning) AddMark(b byte) { m.buf = append(m.buf, b) }

// Digest is the digest of all that was added since Reset.
func (m *Meaning) Digest() Digest { return nonZero(maphash.Bytes(seed, m.buf)) }

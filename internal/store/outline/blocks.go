package outline

import (
	"encoding/binary"

	"github.com/sessctl/sessctl/internal/session"
)

// The bits of a block beside its kind, which are the lowest three.
const (
	kindMask = 1<<3 - 1

	isUnsigned = 1 << (iota + 2)
	isBlank
	isCached
)

// Parts of a block that are left out when they are empty.
const (
	hasNth = 1 << iota
	hasName
	hasID
	hasWith
	hasText
	hasSignature
	hasPixels
)

func (l *Log) packBlocks(b []byte, list []session.Block) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		k := &list[i]
		parts := bit(k.Nth != 0, hasNth) | bit(k.Name != "", hasName) | bit(k.ID != "", hasID) | bit(k.With != "", hasWith) |
			bit(k.Text != 0, hasText) | bit(k.Signature != 0, hasSignature) | bit(k.Width != 0 || k.Height != 0, hasPixels)
		b = append(b, byte(k.Kind)|bit(k.Unsigned, isUnsigned)|bit(k.Blank, isBlank)|bit(k.Cached, isCached), parts)
		if parts&hasNth != 0 {
			b = binary.AppendVarint(b, int64(k.Nth))
		}
		if parts&hasName != 0 {
			b = l.names.append(b, k.Name)
		}
		if parts&hasID != 0 {
			b = appendString(b, k.ID)
		}
		if parts&hasWith != 0 {
			b = appendString(b, k.With)
		}
		if parts&hasText != 0 {
			b = appendDigest(b, k.Text)
		}
		if parts&hasSignature != 0 {
			b = appendDigest(b, k.Signature)
		}
		if parts&hasPixels != 0 {
			b = binary.AppendVarint(binary.AppendVarint(b, int64(k.Width)), int64(k.Height))
		}
	}
	return b
}

func (l *Log) unpackBlocks(r *reader) []session.Block {
	list := make([]session.Block, r.uint())
	for i := range list {
		k := &list[i]
		bits, parts := r.byte(), r.byte()
		k.Kind = session.BlockKind(bits & kindMask)
		k.Unsigned, k.Blank, k.Cached = bits&isUnsigned != 0, bits&isBlank != 0, bits&isCached != 0
		if parts&hasNth != 0 {
			k.Nth = int(r.int())
		}
		if parts&hasName != 0 {
			k.Name = l.names.read(r)
		}
		if parts&hasID != 0 {
			k.ID = r.string()
		}
		if parts&hasWith != 0 {
			k.With = r.string()
		}
		if parts&hasText != 0 {
			k.Text = r.digest()
		}
		if parts&hasSignature != 0 {
			k.Signature = r.digest()
		}
		if parts&hasPixels != 0 {
			k.Width, k.Height = int(r.int()), int(r.int())
		}
	}
	return list
}

package outline

import (
	"encoding/binary"

	"github.com/sessctl/sessctl/internal/session"
)

// The bits of a call. Its form is a number of formBits bits from formShift on.
const (
	delegates = 1 << iota
	blocks
	onServer
	waits

	formShift = iota
	formBits  = 2
	asked     = 1 << (formShift + formBits)
	rarity    = asked << 1 // it has something that few calls have: rare.go
)

func (l *Log) packCalls(b []byte, calls []session.Call) []byte {
	b = binary.AppendUvarint(b, uint64(len(calls)))
	for i := range calls {
		c := &calls[i]
		b = appendString(b, c.ID)
		b = l.names.append(b, c.Name)
		d, rare := c.Delegation, rareOfCall(c)
		b = append(b, bit(d != nil, delegates)|bit(d != nil && d.Blocking, blocks)|bit(c.Server, onServer)|bit(c.Waits, waits)|bit(c.Asked, asked)|
			bit(rare != 0, rarity)|byte(c.Form)<<formShift)
		if d != nil {
			b = l.names.append(b, d.Agent)
			b = appendDigest(b, d.Task)
			b = appendString(b, d.Child)
		}
		if rare != 0 {
			b = l.packRareCall(b, c, rare)
		}
	}
	return b
}

func (l *Log) unpackCalls(r *reader) []session.Call {
	calls := make([]session.Call, r.uint())
	for i := range calls {
		c := &calls[i]
		c.ID, c.Name = r.string(), l.names.read(r)
		bits := r.byte()
		c.Server, c.Waits, c.Asked = bits&onServer != 0, bits&waits != 0, bits&asked != 0
		c.Form = session.ArgsForm(bits >> formShift & (1<<formBits - 1))
		if bits&delegates != 0 {
			c.Delegation = &session.Delegation{Blocking: bits&blocks != 0, Agent: l.names.read(r), Task: r.digest(), Child: r.string()}
		}
		if bits&rarity != 0 {
			l.unpackRareCall(r, c)
		}
	}
	return calls
}

// The bits of a result.
const (
	isError = 1 << iota
	isSynthetic
	isPending
	isItemText // its digest is that of the item's text, and left out
	isNull
	ofServer
	isRare // it has something that few results have: rare.go
)

func (l *Log) packResults(b []byte, it *session.Item) []byte {
	b = binary.AppendUvarint(b, uint64(len(it.Results)))
	for i := range it.Results {
		r := &it.Results[i]
		rare := rareOfResult(r)
		b = appendString(b, r.CallID)
		b = l.names.append(b, r.Name)
		b = append(b, bit(r.IsError, isError)|bit(r.Synthetic, isSynthetic)|bit(r.Pending, isPending)|
			bit(r.Digest == it.Text, isItemText)|bit(r.Null, isNull)|bit(r.Server, ofServer)|bit(rare != 0, isRare))
		if r.Digest != it.Text {
			b = appendDigest(b, r.Digest)
		}
		if rare != 0 {
			b = packRareResult(b, r, rare)
		}
	}
	return b
}

func (l *Log) unpackResults(r *reader, text session.Digest) []session.Result {
	results := make([]session.Result, r.uint())
	for i := range results {
		res := &results[i]
		res.CallID, res.Name = r.string(), l.names.read(r)
		bits := r.byte()
		res.IsError, res.Synthetic, res.Pending = bits&isError != 0, bits&isSynthetic != 0, bits&isPending != 0
		res.Null, res.Server, res.Digest = bits&isNull != 0, bits&ofServer != 0, text
		if bits&isItemText == 0 {
			res.Digest = r.digest()
		}
		if bits&isRare != 0 {
			unpackRareResult(r, res)
		}
	}
	return results
}

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

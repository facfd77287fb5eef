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

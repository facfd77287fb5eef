package outline

import (
	"encoding/binary"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// Parts of a record that are left out when they are empty. The first seven fit
// into one byte.
const (
	hasTime = 1 << iota
	hasSize
	hasModel
	hasCalls
	hasResults
	hasBlocks
	hasNanos
	hasChild
	hasKept
	hasBranch
	hasInvocation
	hasScope
	hasNode
	hasOutputs
)

func partsOf(it *session.Item) (parts int) {
	set := func(part int, on bool) {
		if on {
			parts |= part
		}
	}
	set(hasTime, !it.Time.IsZero())
	set(hasSize, it.Size != 0)
	set(hasModel, it.Model != "")
	set(hasCalls, len(it.Calls) > 0)
	set(hasResults, len(it.Results) > 0)
	set(hasBlocks, len(it.Blocks) > 0)
	set(hasNanos, !it.Time.IsZero() && it.Time.Nanosecond() != 0)
	set(hasChild, it.Child != "")
	set(hasKept, it.KeptFrom != 0)
	set(hasBranch, it.Branch != "")
	set(hasInvocation, it.Invocation != "")
	set(hasScope, it.Scope != "")
	set(hasNode, it.Node != "")
	set(hasOutputs, len(it.Outputs) > 0)
	return parts
}

func (l *Log) pack(b []byte, it *session.Item) []byte {
	parts := partsOf(it)
	b = append(b, byte(it.Kind)|byte(it.Role)<<4)
	b = binary.AppendUvarint(b, uint64(parts))
	b = binary.AppendUvarint(b, uint64(it.Flags))
	b = l.names.append(b, it.Table)
	b = appendString(b, it.Key)
	b = binary.AppendVarint(b, it.Position)
	b = l.names.append(b, it.Agent)
	b = appendDigest(b, it.Meaning)
	b = appendDigest(b, it.Text)
	if parts&hasTime != 0 {
		b = binary.AppendVarint(b, it.Time.Unix())
	}
	if parts&hasNanos != 0 {
		b = binary.AppendUvarint(b, uint64(it.Time.Nanosecond()))
	}
	if parts&hasSize != 0 {
		b = binary.AppendVarint(b, it.Size)
	}
	if parts&hasModel != 0 {
		b = l.names.append(b, it.Model)
	}
	if parts&hasChild != 0 {
		b = appendString(b, it.Child)
	}
	if parts&hasKept != 0 {
		b = binary.AppendVarint(b, it.KeptFrom)
	}
	if parts&hasBranch != 0 {
		b = l.names.append(b, it.Branch)
	}
	if parts&hasInvocation != 0 {
		b = l.names.append(b, it.Invocation)
	}
	if parts&hasScope != 0 {
		b = l.names.append(b, it.Scope)
	}
	if parts&hasNode != 0 {
		b = l.names.append(b, it.Node)
	}
	if parts&hasCalls != 0 {
		b = l.packCalls(b, it.Calls)
	}
	if parts&hasResults != 0 {
		b = l.packResults(b, it)
	}
	if parts&hasBlocks != 0 {
		b = l.packBlocks(b, it.Blocks)
	}
	if parts&hasOutputs != 0 {
		b = packOutputs(b, it.Outputs)
	}
	return b
}

func (l *Log) unpack(r *reader) session.Item {
	first := r.byte()
	parts := int(r.uint())
	it := session.Item{Kind: session.Kind(first & 0xf), Role: session.Role(first >> 4), Flags: session.Flags(r.uint())}
	it.Table = l.names.read(r)
	it.Key = r.string()
	it.Position = r.int()
	it.Agent = l.names.read(r)
	it.Meaning, it.Text = r.digest(), r.digest()
	if parts&hasTime != 0 {
		it.Time = time.Unix(r.int(), 0).UTC()
	}
	if parts&hasNanos != 0 {
		it.Time = it.Time.Add(time.Duration(r.uint()))
	}
	if parts&hasSize != 0 {
		it.Size = r.int()
	}
	if parts&hasModel != 0 {
		it.Model = l.names.read(r)
	}
	if parts&hasChild != 0 {
		it.Child = r.string()
	}
	if parts&hasKept != 0 {
		it.KeptFrom = r.int()
	}
	if parts&hasBranch != 0 {
		it.Branch = l.names.read(r)
	}
	if parts&hasInvocation != 0 {
		it.Invocation = l.names.read(r)
	}
	if parts&hasScope != 0 {
		it.Scope = l.names.read(r)
	}
	if parts&hasNode != 0 {
		it.Node = l.names.read(r)
	}
	if parts&hasCalls != 0 {
		it.Calls = l.unpackCalls(r)
	}
	if parts&hasResults != 0 {
		it.Results = l.unpackResults(r, it.Text)
	}
	if parts&hasBlocks != 0 {
		it.Blocks = l.unpackBlocks(r)
	}
	if parts&hasOutputs != 0 {
		it.Outputs = unpackOutputs(r)
	}
	return it
}

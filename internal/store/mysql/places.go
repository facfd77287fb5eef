package mysql

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// places number the rows of a table: InnoDB knows a row by its primary key only. Of a key they
// keep the value that mostly differs from row to row, and the number of the others, which many
// rows share: about 55 bytes for an event whose id is a UUID. A row that is read again
// has the number that it had.
type places struct {
	unlike int   // which column of the key has values that mostly differ
	rows   int64 // as the server estimates

	shared   [][]table.Value // the other values
	byShared map[string]uint64
	text     []byte   // of all rows: the number of the other values, and the one that differs
	ends     []uint64 // of each row in text
	index    []uint32 // an open hash table of the rows' numbers plus one
	buf      []byte

	// moved are the entries that rows of a transaction have now, and owners tells of an entry
	// to which row it belongs: nobody's is one that a row had before.
	moved, owners map[table.Place]table.Place
}

const nobody = table.Place(-1)

var placeSeed = maphash.MakeSeed()

// placeOf is the place of the row with a key.
func (p *places) placeOf(key []table.Value) table.Place {
	p.buf = p.buf[:0]
	for i, v := range key {
		if i != p.unlike {
			p.buf = table.AppendExactly(p.buf, v)
		}
	}
	n, known := p.byShared[string(p.buf)]
	if !known {
		if p.byShared == nil {
			p.byShared = map[string]uint64{}
		}
		n = uint64(len(p.shared))
		p.byShared[string(p.buf)] = n
		others := make([]table.Value, len(key))
		for i, v := range key {
			if i != p.unlike {
				others[i] = table.CloneValue(v)
			}
		}
		p.shared = append(p.shared, others)
	}
	p.buf = append(binary.AppendUvarint(p.buf[:0], n), column.View(key[p.unlike])...)
	entry := p.addEntry()
	if owner, moved := p.owners[entry]; moved {
		return owner
	}
	return entry
}

// addEntry is the number of the entry in buf.
func (p *places) addEntry() table.Place {
	if 4*len(p.ends) >= 3*len(p.index) {
		p.index = make([]uint32, 2*len(p.index)+64)
		for n := range p.ends {
			at, _ := p.seekEntry(p.entryAt(table.Place(n)), true)
			p.index[at] = uint32(n) + 1 //nolint:gosec // a table has fewer rows
		}
	}
	at, known := p.seekEntry(p.buf, false)
	if !known {
		p.text = append(p.text, p.buf...)
		p.ends = append(p.ends, uint64(len(p.text)))
		p.index[at] = uint32(len(p.ends)) //nolint:gosec // a table has fewer rows
	}
	return table.Place(p.index[at]) - 1
}

// seekEntry is where in the index an entry is, or would be; free asks for a place that nothing takes.
func (p *places) seekEntry(entry []byte, free bool) (at int, known bool) {
	size := uint64(len(p.index))
	for h := maphash.Bytes(placeSeed, entry) % size; ; h = (h + 1) % size {
		at = int(h) //nolint:gosec // below size
		if p.index[at] == 0 {
			return at, false
		}
		n := table.Place(p.index[at]) - 1
		if owner, moved := p.owners[n]; !free && (!moved || owner != nobody) && string(p.entryAt(n)) == string(entry) {
			return at, true
		}
	}
}

func (p *places) entryAt(at table.Place) []byte {
	from := uint64(0)
	if at > 0 {
		from = p.ends[at-1]
	}
	return p.text[from:p.ends[at]]
}

// keyOf is the key of the row at a place, the value that differs as text; nil where there is none.
func (p *places) keyOf(at table.Place) []table.Value {
	if entry, moved := p.moved[at]; moved {
		at = entry
	}
	if at < 0 || int(at) >= len(p.ends) {
		return nil
	}
	n, size := binary.Uvarint(p.entryAt(at))
	key := append([]table.Value{}, p.shared[n]...)
	key[p.unlike] = string(p.entryAt(at)[size:])
	return key
}

// moveEntry notes that the row at a place has another key now.
func (p *places) moveEntry(at table.Place, key []table.Value) {
	if p.moved == nil {
		p.moved, p.owners = map[table.Place]table.Place{}, map[table.Place]table.Place{}
	}
	had, moved := p.moved[at]
	if !moved {
		had = at
	}
	p.owners[had] = nobody
	entry := p.placeOf(key) // a new one: no two rows have one key
	p.moved[at], p.owners[entry] = entry, at
}

package sqlite

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// The pages of a table's b-tree (file format 1.6), as far as a test needs them: where
// their cells are, and what these say before their values.

const (
	interiorPage = 5
	leafPage     = 13
)

// cell is a cell of a page. Only that of a leaf has a row, only that of an interior
// page a child.
type cell struct {
	from, to int // of its bytes in the page
	rowid    int64
	child    uint32
	overflow uint32 // the first page of the rest of the row, 0 where there is none
	rest     int64  // the bytes of the row on overflow pages
	sound    bool
}

// treePage is a page of a table's b-tree. Its memory is used again for the next one.
type treePage struct {
	leaf  bool
	right uint32 // the last child of an interior page
	cells []cell
	spans [][2]int // of cells and free blocks
	whole bool     // each byte belongs to one cell, to one free block, or is counted as a fragment
}

// shape is what all pages of a table have in common.
type shape struct {
	usable  int // bytes of a page
	columns int // of the table: a row has no more, and fewer where some were added later
}

// parse reads a page. It is none of a table's b-tree where ok is false.
func (p *treePage) parse(data []byte, s shape) (ok bool) {
	if len(data) < s.usable || data[0] != leafPage && data[0] != interiorPage {
		return false
	}
	data = data[:s.usable]
	head := 8
	if p.leaf = data[0] == leafPage; !p.leaf {
		head, p.right = 12, binary.BigEndian.Uint32(data[8:])
	}
	end := head + 2*int(binary.BigEndian.Uint16(data[3:])) // of the array of pointers
	if end > len(data) {
		return false
	}
	p.cells = p.cells[:0]
	for at := head; at < end; at += 2 {
		c := cell{from: int(binary.BigEndian.Uint16(data[at:]))}
		switch {
		case c.from < end || c.from > len(data)-4:
		case p.leaf:
			c.leaf(data, s)
		default:
			c.interior(data)
		}
		p.cells = append(p.cells, c)
	}
	p.account(data, end)
	return true
}

func (c *cell) interior(data []byte) {
	c.child = binary.BigEndian.Uint32(data[c.from:])
	key, n := varint(data[c.from+4:])
	c.rowid, c.to, c.sound = key, c.from+4+n, n > 0
}

// leaf reads a cell with a row, and tests whether the lengths in it fit together.
func (c *cell) leaf(data []byte, s shape) {
	size, n := varint(data[c.from:])
	rowid, m := varint(data[min(c.from+n, len(data)):])
	if n == 0 || m == 0 || size < 0 || size > 1<<31 {
		return
	}
	c.rowid = rowid
	start, here := c.from+n+m, size
	if most := int64(s.usable - 35); size > most {
		least := int64((s.usable-12)*32/255 - 23)
		if here = least + (size-least)%int64(s.usable-4); here > most {
			here = least
		}
		c.rest = size - here
	}
	c.to = start + int(here)
	if c.rest > 0 {
		if c.to += 4; c.to > len(data) {
			return
		}
		c.overflow = binary.BigEndian.Uint32(data[c.to-4:])
	}
	c.to = max(c.to, c.from+4)
	c.sound = c.to <= len(data) && recordFits(data[start:start+int(here)], size, s.columns)
}

// recordFits reports whether the header of a row names no more values than the table has
// columns, and such as are as long together as the row is. here is the part of the row that
// stands on the page.
func recordFits(here []byte, size int64, columns int) bool {
	head, at := varint(here)
	if at == 0 || head < int64(at) || head > size {
		return false
	}
	if head > int64(len(here)) { // it goes on elsewhere
		return true
	}
	values, sum := 0, head
	for ; at < int(head); values++ {
		kind, n := varint(here[at:head])
		if n == 0 || kind < 0 || kind == 10 || kind == 11 {
			return false
		}
		at, sum = at+n, sum+valueSize(kind)
	}
	return values <= columns && sum == size
}

// valueSize is the length of a value of a serial type.
func valueSize(kind int64) int64 {
	if kind >= 12 {
		return (kind - 12) / 2
	}
	return [12]int64{0, 1, 2, 3, 4, 6, 8, 8}[kind]
}

// varint reads a number of one to nine bytes; n is 0 where data ends before it.
func varint(data []byte) (value int64, n int) {
	for n < len(data) && n < 8 {
		value = value<<7 | int64(data[n]&0x7f)
		if n++; data[n-1] < 0x80 {
			return value, n
		}
	}
	if n < len(data) && n == 8 {
		return value<<8 | int64(data[8]), 9
	}
	return 0, 0
}

// account tests that every byte behind the pointers has one use. Cells of which a byte has
// another use, too, are unsound: one of the two is not where it should be.
func (p *treePage) account(data []byte, end int) {
	p.spans, p.whole = p.spans[:0], true
	for i := range p.cells {
		if c := &p.cells[i]; c.sound {
			p.spans = append(p.spans, [2]int{c.from, c.to})
		} else {
			p.whole = false
		}
	}
	for at := int(binary.BigEndian.Uint16(data[1:])); at > 0; {
		if at < end || at > len(data)-4 {
			p.whole = false
			break
		}
		next, to := int(binary.BigEndian.Uint16(data[at:])), at+int(binary.BigEndian.Uint16(data[at+2:]))
		if to > len(data) || next > 0 && next <= to {
			p.whole = false
			break
		}
		p.spans = append(p.spans, [2]int{at, to})
		at = next
	}
	slices.SortFunc(p.spans, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	used, fragments := int(binary.BigEndian.Uint16(data[5:])), 0 // where the content begins
	if used == 0 {
		used = 65536
	}
	p.whole = p.whole && used >= end
	for _, span := range p.spans {
		p.whole = p.whole && span[0] >= used
		fragments += span[0] - used
		used = max(used, span[1])
	}
	if fragments+len(data)-used != int(data[7]) {
		p.whole = false
	}
	if !p.whole {
		p.dispute()
	}
}

// dispute calls the cells unsound that share bytes with another one, or with a free block.
func (p *treePage) dispute() {
	for i := 1; i < len(p.spans); i++ {
		for j := i; j > 0 && p.spans[j-1][1] > p.spans[i][0]; j-- {
			for n := range p.cells {
				if at := p.cells[n].from; at == p.spans[i][0] || at == p.spans[j-1][0] {
					p.cells[n].sound = false
				}
			}
		}
	}
}

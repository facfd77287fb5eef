package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// A survey goes over the pages of a table before its rows are read. SQLite follows much
// damage without an error: a pointer into the middle of a cell gives a row that was never
// stored, a number of cells that is too small hides rows. What a survey reads of a page are
// the places and lengths in it; of the pages of a long value, the number of the next one.
type survey struct {
	db     *DB
	shape  shape
	pages  uint32 // of the database
	seen   []uint64
	page   treePage
	chains []cell     // of which overflow pages are still to be looked at
	reader *rowReader // takes the rows of pages that are sound; or nil
	over   error      // why it takes no more

	tree, overflow ahead // where they are pages of a DB.raw

	damaged bool
	keep    bool    // what is found, instead of ending at the first damage
	only    []int64 // the rows that matter, in order; nil for all of them
	met     int     // how many rows that matter were found
	rows    []int64
	lost    []Range
	sound   []int // of inOrder
}

// node is a page that a parent names, with the rowids that may stand below it.
type node struct {
	page     uint32
	from, to int64
}

// areRowsSound reports whether some rows of a table, in the order of their rowids, are where they
// should be, and nothing is wrong with the pages that lead there and hold them.
func (db *DB) areRowsSound(ctx context.Context, table string, rows []int64) (bool, error) {
	if len(rows) == 0 {
		return true, nil
	}
	s, err := db.surveyPages(ctx, table, false, rows...)
	if !isDamage(err) {
		return false, db.Explain(err)
	}
	return err == nil && !s.damaged && s.met == len(rows), nil
}

// surveyPages goes over the pages of a table, or over those of some rows. With keep it notes all
// rows that can be where they are, in order, and what is lost besides.
func (db *DB) surveyPages(ctx context.Context, table string, keep bool, only ...int64) (*survey, error) {
	s := &survey{db: db, keep: keep, only: only}
	err := s.walk(ctx, table)
	return s, err
}

// walk goes over the pages of a table.
func (s *survey) walk(ctx context.Context, table string) error {
	s.tree.file, s.overflow.file = s.db.raw, s.db.raw
	var root, size int64
	err := s.db.QueryRow(ctx, `select rootpage, (select count(*) from pragma_table_xinfo(?1) where hidden <> 2),
		page_count, page_size from sqlite_schema, pragma_page_count, pragma_page_size where type = 'table' and name = ?1 collate nocase limit 1`, table).
		Scan(&root, &s.shape.columns, &s.pages, &size)
	if err != nil {
		return err
	}
	s.shape.usable = int(size)
	err = s.pagesAt(ctx, []uint32{1}, headerSize, func(_ int, head []byte) {
		s.shape.usable -= int(head[20]) // reserved
		// Of other texts than UTF-8, and of pages that say where others belong, only SQLite reads.
		if r := s.reader; r != nil && (len(r.stored) != s.shape.columns || head[59] != 1 || binary.BigEndian.Uint32(head[52:]) > 0) {
			s.over = errStop
		}
	})
	if err != nil {
		return err
	}
	s.seen = make([]uint64, s.pages/64+1)
	if locked := uint32(1<<30/size) + 1; s.reader != nil && locked <= s.pages {
		s.markTaken(locked) // where locks are, SQLite reads nothing
	}
	level := []node{{uint32(root), math.MinInt64, math.MaxInt64}}
	for len(level) > 0 && s.goesOn() && err == nil {
		level, err = s.readLevel(ctx, level)
	}
	slices.Sort(s.rows)
	return cmp.Or(err, s.over)
}

// goesOn reports whether there is a reason to look at more pages.
func (s *survey) goesOn() bool { return s.keep || !s.damaged && s.over == nil }

// noteLost notes that rows between two rowids, at most so many of them (0: nobody knows), are
// lost.
func (s *survey) noteLost(from, to, most int64) {
	s.damaged = true
	if s.keep {
		s.lost = append(s.lost, Range{From: from, To: to, Most: most})
	}
}

// noteTorn notes that a row does not go on where it should.
func (s *survey) noteTorn(rowid int64) {
	s.damaged = true
	if s.keep {
		s.lost = append(s.lost, Range{From: rowid, To: rowid, Most: 1, Torn: true})
	}
}

// pagesAtOnce are read with one query.
const pagesAtOnce = 500

// readLevel reads pages of one depth and gives those below them.
func (s *survey) readLevel(ctx context.Context, nodes []node) (below []node, err error) {
	list := make([]uint32, 0, pagesAtOnce)
	for part := range slices.Chunk(nodes, pagesAtOnce) {
		list = list[:0]
		for _, n := range part {
			list = append(list, n.page)
		}
		read := 0
		missing := func(to int) {
			for ; read < to; read++ {
				s.noteLost(part[read].from, part[read].to, 0)
			}
		}
		err := s.pagesAt(ctx, list, s.shape.usable, func(i int, data []byte) {
			missing(i)
			read++
			if below = s.readNode(part[i], data, below); s.reader != nil && !s.damaged {
				s.over = s.reader.takePage(ctx, s, part[i], data, len(below) > 0)
			}
		})
		if err = cmp.Or(err, s.over); err != nil {
			return nil, err
		}
		missing(len(part))
		if err := s.followChains(ctx); err != nil || !s.goesOn() {
			return nil, err
		}
	}
	return below, nil
}

// readNode looks at one page.
func (s *survey) readNode(n node, data []byte, below []node) []node {
	p := &s.page
	if s.isTaken(n.page) || !p.parsePage(data, s.shape) {
		s.noteLost(n.from, n.to, 0)
		return below
	}
	sound := s.inOrder(n)
	if len(sound) == 0 && len(p.cells) > 0 { // it belongs elsewhere
		s.noteLost(n.from, n.to, 0)
		return below
	}
	s.markTaken(n.page)
	if p.leaf {
		s.noteRows(n, sound)
		return below
	}
	return s.addChildren(n, sound, below)
}

// isTaken reports whether a page does not exist or belongs to something else already.
func (s *survey) isTaken(page uint32) bool {
	return page < 2 || page > s.pages || s.seen[page/64]>>(page%64)&1 == 1
}

func (s *survey) markTaken(page uint32) { s.seen[page/64] |= 1 << (page % 64) }

// inOrder are the cells of the page whose rowids can be where they are: as many as possible
// that ascend, within the bounds.
func (s *survey) inOrder(n node) []int {
	cells := s.page.cells
	sound, last := s.sound[:0], n.from
	for i := range cells {
		if c := &cells[i]; c.sound && c.rowid >= last && c.rowid <= n.to {
			sound, last = append(sound, i), c.rowid+1
			if c.rowid == math.MaxInt64 {
				break
			}
		}
	}
	if s.sound = sound; len(sound) == len(cells) {
		return sound
	}
	return ascendingRun(cells, n)
}

// ascendingRun is the longest run of sound cells, not all of them neighbours, that ascend.
func ascendingRun(cells []cell, n node) []int {
	length, before := make([]int, len(cells)), make([]int, len(cells))
	best := -1
	for i := range cells {
		if c := &cells[i]; !c.sound || c.rowid < n.from || c.rowid > n.to {
			continue
		}
		length[i], before[i] = 1, -1
		for j := range i {
			if length[j] >= length[i] && cells[j].rowid < cells[i].rowid {
				length[i], before[i] = length[j]+1, j
			}
		}
		if best < 0 || length[i] > length[best] {
			best = i
		}
	}
	var run []int
	for ; best >= 0; best = before[best] {
		run = append(run, best)
	}
	slices.Reverse(run)
	return run
}

// noteRows notes the rows of a page and what is missing between them.
func (s *survey) noteRows(n node, sound []int) {
	p := &s.page
	from, next := n.from, 0 // the rowid and the cell that may come now
	gap := func(cell int, to int64) {
		if cell > next {
			s.noteLost(from, to, int64(cell-next))
		}
	}
	for _, i := range sound {
		c := &p.cells[i]
		gap(i, c.rowid-1)
		from, next = c.rowid+1, i+1
		if !s.isWanted(c.rowid, c.rowid) {
			continue
		}
		s.met++
		if s.keep {
			s.rows = append(s.rows, c.rowid)
		}
		if c.rest > 0 {
			s.chains = append(s.chains, *c)
		}
	}
	gap(len(p.cells), n.to)
	if !p.whole && len(sound) == len(p.cells) { // cells may be missing that the page does not count
		s.noteLost(from, n.to, 0)
	}
}

// isWanted reports whether a row that is asked for may be between two rowids.
func (s *survey) isWanted(from, to int64) bool {
	i, _ := slices.BinarySearch(s.only, from)
	return s.only == nil || i < len(s.only) && s.only[i] <= to
}

// addChildren adds the children of a page. Where a key is damaged, its neighbours say what may
// stand below.
func (s *survey) addChildren(n node, sound []int, below []node) []node {
	p := &s.page
	if !p.whole {
		s.damaged = true
	}
	from, at := n.from, 0
	for i := range p.cells {
		c := &p.cells[i]
		to := n.to
		for at < len(sound) && sound[at] < i {
			at++
		}
		if at < len(sound) {
			to = p.cells[sound[at]].rowid
		}
		if c.child == 0 || c.to == 0 {
			s.noteLost(from, to, 0)
		} else if s.isWanted(from, to) {
			below = append(below, node{c.child, from, to})
		}
		if at < len(sound) && sound[at] == i {
			from = c.rowid + 1
		}
	}
	if !p.whole && len(sound) == len(p.cells) {
		s.noteLost(from, n.to, 0)
	}
	if !s.isWanted(from, n.to) {
		return below
	}
	return append(below, node{p.right, from, n.to})
}

// followChains goes along the overflow pages of rows, one page of each at a time. A row whose
// chain is broken keeps its other values.
func (s *survey) followChains(ctx context.Context) error {
	if s.db.raw != nil && !s.keep { // then it does not matter which of two rows a page belongs to
		for _, c := range s.chains {
			s.followChain(c, nil)
		}
		s.chains = s.chains[:0]
		return ctx.Err()
	}
	for len(s.chains) > 0 && s.goesOn() {
		var rest []cell
		for part := range slices.Chunk(s.chains, pagesAtOnce) {
			list := make([]uint32, 0, len(part))
			whole := part[:0:len(part)]
			for _, c := range part {
				if s.isTaken(c.overflow) {
					s.noteTorn(c.rowid)
					continue
				}
				s.markTaken(c.overflow)
				whole, list = append(whole, c), append(list, c.overflow)
			}
			next := make([]uint32, len(list))
			for i := range next {
				next[i] = math.MaxUint32
			}
			if err := s.pagesAt(ctx, list, 4, func(i int, data []byte) { next[i] = binary.BigEndian.Uint32(data) }); err != nil {
				return err
			}
			for i, c := range whole {
				switch c.overflow, c.rest = next[i], c.rest-int64(s.shape.usable-4); {
				case c.rest > 0:
					rest = append(rest, c)
				case c.overflow != 0:
					s.noteTorn(c.rowid)
				}
			}
		}
		s.chains = rest
	}
	s.chains = s.chains[:0]
	return nil
}

// pagesAt hands the beginnings of pages to fn, with their indexes in the list and in its
// order, but for those that cannot be read.
func (s *survey) pagesAt(ctx context.Context, list []uint32, head int, fn func(i int, data []byte)) error {
	if s.db.raw != nil {
		last := uint32(0)
		for i, page := range list {
			if i == 0 || page < list[i-1] || page > last {
				last = s.lastNear(list[i:])
			}
			if data := s.pageAt(&s.tree, page, last); len(data) >= head && s.goesOn() {
				fn(i, data[:head])
			}
		}
		return ctx.Err()
	}
	done := 0
	for done < len(list) {
		numbers, _ := json.Marshal(list[done:]) // never fails on numbers
		first := done
		err := s.db.Scan(ctx, `select 1 from json_each(?) j cross join sqlite_dbpage p where p.pgno = j.value
			and {scan}(j.key, substr(p.data, 1, `+strconv.Itoa(head)+`))`, func(row []driver.Value) error {
			done = first + int(row[0].(int64)) + 1
			if data := row[1].([]byte); len(data) == head {
				fn(done-1, data)
			}
			return nil
		}, string(numbers))
		if err == nil {
			return nil
		}
		if !IsCorrupt(err) {
			return err
		}
		done++ // the page behind the last one that could be read cannot be
	}
	return nil
}

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
	row      int // where its row begins
	here     int // the bytes of it on the page
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

// parsePage reads a page. It is none of a table's b-tree where ok is false.
func (p *treePage) parsePage(data []byte, s shape) (ok bool) {
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
			c.readLeaf(data, s)
		default:
			c.readInterior(data)
		}
		p.cells = append(p.cells, c)
	}
	p.accountForBytes(data, end)
	return true
}

func (c *cell) readInterior(data []byte) {
	c.child = binary.BigEndian.Uint32(data[c.from:])
	key, n := readVarint(data[c.from+4:])
	c.rowid, c.to, c.sound = key, c.from+4+n, n > 0
}

// readLeaf reads a cell with a row, and tests whether the lengths in it fit together.
func (c *cell) readLeaf(data []byte, s shape) {
	size, n := readVarint(data[c.from:])
	rowid, m := readVarint(data[min(c.from+n, len(data)):])
	if n == 0 || m == 0 || size < 0 || size > 1<<31 {
		return
	}
	c.rowid = rowid
	c.row, c.here = c.from+n+m, int(size)
	if most := int64(s.usable - 35); size > most {
		least := int64((s.usable-12)*32/255 - 23)
		here := least + (size-least)%int64(s.usable-4)
		if here > most {
			here = least
		}
		c.here, c.rest = int(here), size-here
	}
	c.to = c.row + c.here
	if c.rest > 0 {
		if c.to += 4; c.to > len(data) {
			return
		}
		c.overflow = binary.BigEndian.Uint32(data[c.to-4:])
	}
	c.to = max(c.to, c.from+4)
	c.sound = c.to <= len(data) && recordFits(data[c.row:c.row+c.here], size, s.columns)
}

// recordFits reports whether the header of a row names no more values than the table has
// columns, and such as are as long together as the row is. here is the part of the row that
// stands on the page.
func recordFits(here []byte, size int64, columns int) bool {
	head, at := readVarint(here)
	if at == 0 || head < int64(at) || head > size {
		return false
	}
	if head > int64(len(here)) { // it goes on elsewhere
		return true
	}
	values, sum := 0, head
	for ; at < int(head); values++ {
		kind, n := readVarint(here[at:head])
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

// readVarint reads a number of one to nine bytes; n is 0 where data ends before it.
func readVarint(data []byte) (value int64, n int) {
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

// accountForBytes tests that every byte behind the pointers has one use. Cells of which a byte has
// another use, too, are unsound: one of the two is not where it should be.
func (p *treePage) accountForBytes(data []byte, end int) {
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
		p.markOverlaps()
	}
}

// markOverlaps calls the cells unsound that share bytes with another one, or with a free block.
func (p *treePage) markOverlaps() {
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

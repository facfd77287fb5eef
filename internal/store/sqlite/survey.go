package sqlite

import (
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
	chains []chain

	damaged bool
	keep    bool // what is found, instead of ending at the first damage
	rows    []int64
	lost    []Range
	sound   []int // of inOrder
}

// node is a page that a parent names, with the rowids that may stand below it.
type node struct {
	page     uint32
	from, to int64
}

// chain are the overflow pages of a row that are still to be looked at.
type chain struct {
	rowid int64
	next  uint32
	rest  int64 // bytes
}

// survey goes over the pages of a table. With keep it notes all rows that can be where
// they are, in order, and what is lost besides.
func (db *DB) survey(ctx context.Context, table string, keep bool) (*survey, error) {
	s := &survey{db: db, keep: keep}
	var root, size int64
	err := db.QueryRow(ctx, `select rootpage, (select count(*) from pragma_table_xinfo(?1) where hidden <> 2),
		page_count, page_size from sqlite_schema, pragma_page_count, pragma_page_size where type = 'table' and name = ?1 collate nocase limit 1`, table).
		Scan(&root, &s.shape.columns, &s.pages, &size)
	if err != nil {
		return nil, err
	}
	reserved := make([]byte, 1)
	if err := db.pagesAt(ctx, []uint32{1}, headerSize, func(_ int, head []byte) { reserved[0] = head[20] }); err != nil {
		return nil, err
	}
	s.shape.usable = int(size) - int(reserved[0])
	s.seen = make([]uint64, s.pages/64+1)
	level := []node{{uint32(root), math.MinInt64, math.MaxInt64}}
	for len(level) > 0 && s.goesOn() && err == nil {
		level, err = s.level(ctx, level)
	}
	slices.Sort(s.rows)
	return s, err
}

// goesOn reports whether there is a reason to look at more pages.
func (s *survey) goesOn() bool { return s.keep || !s.damaged }

// lose notes that rows between two rowids, at most so many of them (0: nobody knows), are
// lost.
func (s *survey) lose(from, to, most int64) {
	s.damaged = true
	if s.keep {
		s.lost = append(s.lost, Range{From: from, To: to, Most: most})
	}
}

// tear notes that a row does not go on where it should.
func (s *survey) tear(rowid int64) {
	s.damaged = true
	if s.keep {
		s.lost = append(s.lost, Range{From: rowid, To: rowid, Most: 1, Torn: true})
	}
}

// pagesAtOnce are read with one query.
const pagesAtOnce = 500

// level reads pages of one depth and gives those below them.
func (s *survey) level(ctx context.Context, nodes []node) (below []node, err error) {
	list := make([]uint32, 0, pagesAtOnce)
	for part := range slices.Chunk(nodes, pagesAtOnce) {
		list = list[:0]
		for _, n := range part {
			list = append(list, n.page)
		}
		read := 0
		missing := func(to int) {
			for ; read < to; read++ {
				s.lose(part[read].from, part[read].to, 0)
			}
		}
		err := s.db.pagesAt(ctx, list, s.shape.usable, func(i int, data []byte) {
			missing(i)
			read++
			below = s.node(part[i], data, below)
		})
		if err != nil {
			return nil, err
		}
		missing(len(part))
		if err := s.follow(ctx); err != nil || !s.goesOn() {
			return nil, err
		}
	}
	return below, nil
}

// node looks at one page.
func (s *survey) node(n node, data []byte, below []node) []node {
	p := &s.page
	if s.taken(n.page) || !p.parse(data, s.shape) {
		s.lose(n.from, n.to, 0)
		return below
	}
	sound := s.inOrder(n)
	if len(sound) == 0 && len(p.cells) > 0 { // it belongs elsewhere
		s.lose(n.from, n.to, 0)
		return below
	}
	s.take(n.page)
	if p.leaf {
		s.leaf(n, sound)
		return below
	}
	return s.interior(n, sound, below)
}

// taken reports whether a page does not exist or belongs to something else already.
func (s *survey) taken(page uint32) bool {
	return page < 2 || page > s.pages || s.seen[page/64]>>(page%64)&1 == 1
}

func (s *survey) take(page uint32) { s.seen[page/64] |= 1 << (page % 64) }

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
	return ascending(cells, n)
}

// ascending is the longest run of sound cells, not all of them neighbours, that ascend.
func ascending(cells []cell, n node) []int {
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

// leaf notes the rows of a page and what is missing between them.
func (s *survey) leaf(n node, sound []int) {
	p := &s.page
	from, next := n.from, 0 // the rowid and the cell that may come now
	gap := func(cell int, to int64) {
		if cell > next {
			s.lose(from, to, int64(cell-next))
		}
	}
	for _, i := range sound {
		c := &p.cells[i]
		gap(i, c.rowid-1)
		from, next = c.rowid+1, i+1
		if s.keep {
			s.rows = append(s.rows, c.rowid)
		}
		if c.rest > 0 {
			s.chains = append(s.chains, chain{c.rowid, c.overflow, c.rest})
		}
	}
	gap(len(p.cells), n.to)
	if !p.whole && len(sound) == len(p.cells) { // cells may be missing that the page does not count
		s.lose(from, n.to, 0)
	}
}

// interior adds the children of a page. Where a key is damaged, its neighbours say what may
// stand below.
func (s *survey) interior(n node, sound []int, below []node) []node {
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
			s.lose(from, to, 0)
		} else {
			below = append(below, node{c.child, from, to})
		}
		if at < len(sound) && sound[at] == i {
			from = c.rowid + 1
		}
	}
	if !p.whole && len(sound) == len(p.cells) {
		s.lose(from, n.to, 0)
	}
	return append(below, node{p.right, from, n.to})
}

// follow goes along the overflow pages of rows, one page of each at a time. A row whose
// chain is broken keeps its other values.
func (s *survey) follow(ctx context.Context) error {
	for len(s.chains) > 0 && s.goesOn() {
		var rest []chain
		for part := range slices.Chunk(s.chains, pagesAtOnce) {
			list := make([]uint32, 0, len(part))
			whole := part[:0:len(part)]
			for _, c := range part {
				if s.taken(c.next) {
					s.tear(c.rowid)
					continue
				}
				s.take(c.next)
				whole, list = append(whole, c), append(list, c.next)
			}
			next := make([]uint32, len(list))
			for i := range next {
				next[i] = math.MaxUint32
			}
			if err := s.db.pagesAt(ctx, list, 4, func(i int, data []byte) { next[i] = binary.BigEndian.Uint32(data) }); err != nil {
				return err
			}
			for i, c := range whole {
				switch c.next, c.rest = next[i], c.rest-int64(s.shape.usable-4); {
				case c.rest > 0:
					rest = append(rest, c)
				case c.next != 0:
					s.tear(c.rowid)
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
func (db *DB) pagesAt(ctx context.Context, list []uint32, head int, fn func(i int, data []byte)) error {
	if db.raw != nil {
		data := make([]byte, head)
		for i, page := range list {
			if n, _ := db.raw.ReadAt(data, int64(page-1)*int64(db.File.Header.PageSize)); n == head && page > 0 {
				fn(i, data)
			}
		}
		return ctx.Err()
	}
	done := 0
	for done < len(list) {
		numbers, _ := json.Marshal(list[done:]) // never fails on numbers
		first := done
		err := db.Scan(ctx, `select 1 from json_each(?) j cross join sqlite_dbpage p where p.pgno = j.value
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

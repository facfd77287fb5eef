package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// rowReader makes rows of the cells that a survey looks at, as SQLite does. It stops at
// everything that is out of the ordinary, so that SQLite reads that.
type rowReader struct {
	scan    *tableScan
	rows    Selection // by which SQLite reads a row
	stored  []table.Column
	columns []struct { // that are asked for
		same     int // the first that is the same column
		real     bool
		rowid    bool
		known    bool
		standard driver.Value // of rows that end before it, once known

		kind     int64 // serial type of its value, -1 where the row ends before it
		from, to int64 // where the row has it
		body     int   // where the body has it, if it does not end on the page of the row
	}
	wanted []int // the column of each value of a row, -1 for none
	begun  bool  // with the leaves
	failed error // what the callback said

	local int64  // how much of a row its page has
	body  []byte // never nil, as no empty value is
	row   []driver.Value
}

// scanPages reads rows from the pages of the table. They are not all of them where done is false.
func (t *tableScan) scanPages(ctx context.Context, rows Selection) (done bool, err error) {
	if t.db.raw == nil {
		return false, nil
	}
	schema, err := t.db.Schema(ctx)
	if err != nil {
		return false, nil //nolint:nilerr // SQLite tells of what is wrong when it reads
	}
	r := &rowReader{scan: t, rows: rows, stored: schema.Tables[rows.Table].Columns, row: make([]driver.Value, len(rows.Columns)), body: []byte{}}
	r.columns = slices.Grow(r.columns, len(r.row))[:len(r.row)]
	for i, name := range rows.Columns {
		at := slices.IndexFunc(r.stored, func(c table.Column) bool { return c.Name == name || Quoted(c.Name) == name })
		if at < 0 { // an expression
			return false, nil
		}
		for len(r.wanted) <= at {
			r.wanted = append(r.wanted, -1)
		}
		if r.wanted[at] < 0 {
			r.wanted[at] = i
		}
		c := &r.columns[i]
		c.same, c.real, c.rowid = r.wanted[at], r.isReal(r.stored[at].Type), r.stored[at].Given
	}
	s := &survey{db: t.db, reader: r}
	err = s.walk(ctx, rows.Table)
	return err == nil && !s.damaged, r.failed
}

// isReal tells of a declared type (datatype3.html, 3.1) whether whole numbers, which are
// stored as such, are read as fractions.
func (*rowReader) isReal(declared string) bool {
	has := func(word string) bool { return strings.Contains(strings.ToLower(declared), word) }
	return slices.ContainsFunc([]string{"real", "floa", "doub"}, has) && //nolint:misspell // how SQLite looks for a type
		!slices.ContainsFunc([]string{"int", "char", "clob", "text", "blob"}, has)
}

// takePage hands over the rows of a page, if it is a leaf. beside says that a page of its depth
// was none.
func (r *rowReader) takePage(ctx context.Context, s *survey, n node, data []byte, beside bool) error {
	p, root := &s.page, n.from == math.MinInt64 && n.to == math.MaxInt64
	switch {
	case len(p.cells) == 0 && (!root || !p.leaf), p.leaf && beside, !p.leaf && r.begun:
		return errStop
	case !p.leaf:
		return nil
	}
	r.begun, s.chains = true, s.chains[:0]
	for i := range p.cells {
		c := &p.cells[i]
		if err := r.readRow(ctx, s, c, data[c.row:c.row+c.here]); err != nil {
			return err
		}
		r.scan.next = max(c.rowid, c.rowid+1)
		if r.failed = r.scan.fn(c.rowid, r.row); r.failed != nil {
			return r.failed
		}
	}
	return ctx.Err()
}

// readRow makes the row of a cell.
func (r *rowReader) readRow(ctx context.Context, s *survey, c *cell, record []byte) error {
	head, at := readVarint(record)
	if r.local = int64(len(record)); head > r.local {
		return errStop
	}
	size, from := 0, head
	for _, i := range r.wanted {
		kind, n, to := int64(-1), 0, from
		if int64(at) < head {
			kind, n = readVarint(record[at:])
			to += valueSize(kind)
		}
		if i >= 0 {
			col := &r.columns[i]
			if col.kind, col.from, col.to, col.body = kind, from, to, size; to > r.local {
				size += int(to - from)
			}
		}
		at, from = at+n, to
	}
	r.body = slices.Grow(r.body[:0], size)[:size]
	r.gatherBody(0, record)
	if s.followChain(*c, r); s.damaged {
		return errStop
	}
	for i := range r.columns {
		col := &r.columns[i]
		switch {
		case col.same < i:
			r.row[i] = r.row[col.same]
		case col.rowid:
			r.row[i] = c.rowid
		case col.kind < 0:
			if err := r.learnDefault(ctx, i, c.rowid); err != nil {
				return err
			}
			r.row[i] = col.standard
		case col.to <= r.local:
			r.row[i] = r.decodeValue(col.kind, col.real, record[col.from:col.to:col.to], r.row[i])
		default:
			to := col.body + int(col.to-col.from)
			r.row[i] = r.decodeValue(col.kind, col.real, r.body[col.body:to:to], r.row[i])
		}
	}
	return nil
}

// gatherBody copies into the body what it wants of some bytes of a row, which begin at a place in it.
func (r *rowReader) gatherBody(at int64, data []byte) {
	for i := range r.columns {
		c := &r.columns[i]
		if from, to := max(c.from, at), min(c.to, at+int64(len(data))); c.to > r.local && from < to {
			copy(r.body[c.body+int(from-c.from):], data[from-at:to-at])
		}
	}
}

// decodeValue decodes what some bytes stand for, by their serial type (file format 2.1). A text that
// is what the one before became takes no memory.
func (*rowReader) decodeValue(kind int64, real bool, data []byte, before driver.Value) driver.Value {
	var n int64
	switch {
	case kind >= 12 && kind%2 == 1:
		if text, ok := before.(string); ok && text == string(data) {
			return before
		}
		return column.ViewBytes(data)
	case kind >= 12:
		return data
	case kind == 0:
		return nil
	case kind >= 8:
		n = kind - 8
	default:
		n = int64(int8(data[0]))
		for _, b := range data[1:] {
			n = n<<8 | int64(b)
		}
	}
	switch f := math.Float64frombits(uint64(n)); {
	case kind == 7 && math.IsNaN(f):
		return nil
	case kind == 7:
		return f
	case real:
		return float64(n)
	}
	return n
}

// learnDefault asks SQLite for the value of a row in a column that was added behind its end.
func (r *rowReader) learnDefault(ctx context.Context, i int, rowid int64) error {
	c, one := &r.columns[i], r.rows
	if c.known {
		return nil
	}
	one.Columns, one.Where = one.Columns[i:i+1], one.RowID+" = ?"
	err := r.scan.db.ScanRows(ctx, one, func(_ int64, row []driver.Value) error {
		c.standard, c.known = table.CloneValue(row[0]), true
		return nil
	}, rowid)
	if err != nil || !c.known {
		return errStop
	}
	return nil
}

// followChain goes along the overflow pages of a row to their end. A reader gathers what it wants.
func (s *survey) followChain(c cell, r *rowReader) {
	at, each := int64(c.here), int64(s.shape.usable-4)
	for before := c.overflow - 1; c.rest > 0; { // mostly they follow each other in the file
		size, last := int(min(c.rest, each)), c.overflow
		if c.overflow == before+1 {
			last += uint32((c.rest - 1) / each)
		}
		if before = c.overflow; s.isTaken(c.overflow) {
			break
		}
		page := s.pageAt(&s.overflow, c.overflow, last)
		if len(page) < 4 || r != nil && len(page) < 4+size {
			break
		}
		s.markTaken(c.overflow)
		if r != nil {
			r.gatherBody(at, page[4:4+size])
		}
		c.overflow, c.rest, at = binary.BigEndian.Uint32(page), c.rest-int64(size), at+int64(size)
	}
	if c.rest > 0 || c.overflow != 0 {
		s.noteTorn(c.rowid)
	}
}

// pageAt is what there is of a page, valid until another one is read into the same piece.
// With it those up to the last one are read, as many as the piece holds.
func (s *survey) pageAt(a *ahead, n, last uint32) []byte {
	size := int64(s.db.File.Header.PageSize)
	at := int64(n-1) * size
	if n == 0 {
		return nil
	}
	for _, b := range [...]*ahead{a, &s.tree} {
		if p := at - b.from; p >= 0 && p < int64(len(b.piece)) {
			return b.piece[p:min(p+size, int64(len(b.piece)))]
		}
	}
	if a.load(at, min(int64(max(last, n)-n+1)*size, 4*pieceSize)); len(a.piece) < int(size) {
		a.load(at, size) // what cannot be read with others is read by itself
	}
	return a.piece[:min(len(a.piece), int(size))]
}

// lastNear is the last of the pages at the beginning of a list that lie near each other: a
// call costs as much as to copy some pages.
func (*survey) lastNear(list []uint32) uint32 {
	last := list[0]
	for _, page := range list[1:] {
		if page <= last || page > last+8 {
			break
		}
		last = page
	}
	return last
}

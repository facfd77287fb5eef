package view

// A sub-session with more rows than foldFrom is shown by its first rows and its
// last one, and by those that a finding or a leak marks.
const (
	foldFrom = 10
	foldHead = 4
)

// Piece is a row, or a number of items that are left out.
type Piece struct {
	Row    *Row // nil for what is left out
	Hidden int  // items left out
}

// Pieces are what is shown of the session: all rows but those folded into a
// call, and in a short view of a sub-session only the telling ones.
func (s *Session) Pieces(short bool) []Piece {
	shown := 0
	for i := range s.Rows {
		if !s.Rows[i].Folded {
			shown++
		}
	}
	short = short && shown > foldFrom
	var list []Piece
	n := 0
	for i := range s.Rows {
		row := &s.Rows[i]
		if row.Folded {
			if last := len(list) - 1; last >= 0 && list[last].Row == nil {
				list[last].Hidden++
			}
			continue
		}
		n++
		if !short || n <= foldHead || n == shown || row.telling() {
			list = append(list, Piece{Row: row})
			continue
		}
		if list[len(list)-1].Row != nil {
			list = append(list, Piece{})
		}
		list[len(list)-1].Hidden++
	}
	return list
}

// telling reports whether something is to be seen at the row or below it.
func (r *Row) telling() bool {
	if r.Mark() != "" {
		return true
	}
	if r.Child == nil {
		return false
	}
	if r.Item < 0 || r.Child.Mark() != "" {
		return true
	}
	for i := range r.Child.Rows {
		if r.Child.Rows[i].telling() {
			return true
		}
	}
	return false
}

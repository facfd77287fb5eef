package session

// Place is an item of a session by its index in stored order, as people see it. It
// needs no tree, so that reports, plans and receipts can hold it.
type Place struct {
	Session string `json:"session"`
	Item    int    `json:"item"` // -1 for the session as a whole
}

// At is the place of the item at index i.
func (s *Session) At(i int) Place { return Place{Session: s.ID, Item: i} }

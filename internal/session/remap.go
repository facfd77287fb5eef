package session

// RemapIndex is what an index into the loaded list of a session becomes when
// the session's items change: the index of the same item, else of the next one
// that is still there, else the end of the list. An index outside the list
// stays as it is: nobody can say what it meant.
func RemapIndex(before, after *Session, index int64) int64 {
	old := before.Loaded()
	if index < 0 || index > int64(len(old)) {
		return index
	}
	now := map[string]int64{}
	loaded := after.Loaded()
	for n, i := range loaded {
		now[after.ItemRef(i).Row()] = int64(n)
	}
	for _, i := range old[index:] {
		if n, ok := now[before.ItemRef(i).Row()]; ok {
			return n
		}
	}
	return int64(len(loaded))
}

package session

// RemapIndex is what an index into the loaded list of a session becomes when
// the session's items change: the index of the same item, else of the next one
// that is still there, else the end of the list. One behind the end stays behind
// it, however long the list becomes, and a negative one as it is.
func RemapIndex(before, after *Session, index int64) int64 {
	old, loaded := before.Loaded(), after.Loaded()
	switch {
	case index < 0:
		return index
	case index > int64(len(old)):
		return max(index, int64(len(loaded)))
	}
	now := map[string]int64{}
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

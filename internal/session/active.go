package session

// Loaded lists the indexes of the items that the store's own reader keeps when
// it loads the session. Index references count in this list.
func (s *Session) Loaded() []int {
	list := make([]int, 0, len(s.Items))
	for i := range s.Items {
		if !s.Items[i].Flags.Has(Skipped) {
			list = append(list, i)
		}
	}
	return list
}

// LastSummary is the index of the summary that the next request starts from,
// -1 when the session was never summarised. A summary without text is ignored,
// as readers do, and so is one that a later one stands for.
func (s *Session) LastSummary() int {
	for i := len(s.Items) - 1; i >= 0; i-- {
		it := &s.Items[i]
		if it.Kind == Summary && it.Text != 0 && it.Flags&(Skipped|Compacted) == 0 {
			return i
		}
	}
	return -1
}

// Start is the index of the first item that the next request sends: behind the
// last summary, or at the start of the tail that the summary kept, when that
// lies between the beginning and the summary (docker agent 3.4).
func (s *Session) Start() int {
	last := s.LastSummary()
	if last < 0 {
		return 0
	}
	if kept := s.Items[last].KeptFrom; kept > 0 {
		loaded := s.Loaded()
		if kept < int64(len(loaded)) && loaded[kept] < last {
			return loaded[kept]
		}
	}
	return last + 1
}

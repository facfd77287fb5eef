package branch

// ByLabel reports whether a model decides by the labels of events, and not by the
// sessions that hold them.
func ByLabel(model string) bool {
	switch Find(model).(type) {
	case nil, Session:
		return false
	}
	return true
}

// ReaderOf is the model of a store's own reader, by the facts of the store: a store
// that names no model shows an agent all of its session. It is not for several
// goroutines at once.
func ReaderOf(model string, hidesToolRuns bool) Model {
	switch m := Find(model).(type) {
	case nil:
		return Session{}
	case Path:
		m.HidesToolRuns = hidesToolRuns
		return m
	case Tokens:
		m.read = map[string]Label{}
		return m
	default:
		return m
	}
}

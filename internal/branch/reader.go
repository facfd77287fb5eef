package branch

// ByLabel reports whether a model decides by the labels of events, and not by the
// sessions that hold them.
func ByLabel(model string) bool {
	m := Find(model)
	return m != nil && m != Model(Session{})
}

// ReaderOf is the model of a store's own reader, by the facts of the store: a store
// that names no model shows an agent all of its session.
func ReaderOf(model string, hidesToolRuns bool) Model {
	switch m := Find(model).(type) {
	case nil:
		return Session{}
	case Path:
		m.HidesToolRuns = hidesToolRuns
		return m
	default:
		return m
	}
}

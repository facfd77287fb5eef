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
// that names no model shows an agent all of its session. A reader of paths is the given
// one. It is not for several goroutines at once.
func ReaderOf(model string, paths Path) Model {
	switch m := Find(model).(type) {
	case nil:
		return Session{}
	case Path:
		return paths
	case Tokens:
		m.read = map[string]Label{}
		return m
	default:
		return m
	}
}

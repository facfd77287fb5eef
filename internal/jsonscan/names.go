package jsonscan

// Names finds values by short names, several times as fast as a map: by their lengths and
// ends, which tell most names of members and columns apart.
type Names[T any] [64][]struct {
	name string
	of   T
}

// Set gives a name a value.
func (n *Names[T]) Set(name string, of T) {
	if known := FindName(n, name); known != nil {
		*known = of
		return
	}
	at := placeOf(name)
	n[at] = append(n[at], struct {
		name string
		of   T
	}{name, of})
}

// FindName finds the value of a name, nil for none.
func FindName[S string | []byte, T any](n *Names[T], name S) *T {
	if n == nil {
		return nil
	}
	list := n[placeOf(name)]
	for i := range list {
		if list[i].name == string(name) {
			return &list[i].of
		}
	}
	return nil
}

// Recent are short texts that came before. Most come again: then they take no memory anew.
type Recent [64]string

// KeepText is a text that stays when the bytes change.
func (r *Recent) KeepText(text []byte) string {
	if len(text) > len(r) { // no id or name
		return string(text)
	}
	known := &r[placeOf(text)]
	if *known != string(text) {
		*known = string(text)
	}
	return *known
}

func placeOf[S string | []byte](name S) int {
	if len(name) == 0 {
		return 0
	}
	return (len(name)*5 + int(name[0])*3 + int(name[len(name)-1])) % 64
}

package errtext

import "strings"

// Named is what a line of the table names.
type Named struct{ Rules, Profiles []string }

// Sentences is the table.
func Sentences() []Named {
	var list []Named
	for i := range sentences {
		list = append(list, Named{strings.Fields(sentences[i].rules), strings.Fields(sentences[i].profiles)})
	}
	return list
}

package errtext

import "strings"

// Row is a line of the table.
type Row struct {
	Kind            Kind
	Rules, Profiles []string
	Wordings        []string
}

// Table is the table of what is recognised.
func Table() []Row {
	var list []Row
	for i := range sentences {
		r := &sentences[i]
		list = append(list, Row{r.kind, strings.Fields(r.rules), strings.Fields(r.profiles), strings.Split(r.wordings, "|")})
	}
	return list
}

package errtext

// Row is a row of the table.
type Row struct {
	Kind            Kind
	Rules, Profiles []string
	Wordings        []string
}

// Table is the table of what is recognised.
func Table() []Row {
	var list []Row
	for _, r := range rows() {
		list = append(list, Row{r.kind, r.rules, r.profiles, r.wordings})
	}
	return list
}

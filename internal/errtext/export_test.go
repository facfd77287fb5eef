package errtext

// Row is a row of the table.
type Row struct {
	Kind            Kind
	Rules, Profiles []string
	Stores          []string
	Wordings        []string
	From, Meaning   string
	Next            string
}

// Table is the table of what is recognised.
func Table() []Row {
	var list []Row
	for _, r := range rows() {
		list = append(list, Row{r.kind, r.rules, r.profiles, r.stores, r.wordings, r.from, r.meaning, r.next})
	}
	return list
}

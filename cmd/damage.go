package cmd

import (
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// damages adds to a list what faults say that cannot be read.
func damages(list []string, faults []session.Fault) []string {
	for _, f := range faults {
		if f.Kind == session.StoreDamaged {
			list = append(list, f.Detail)
		}
	}
	return list
}

// damageText is the first damage and how many there are besides, "" for none.
func damageText(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return list[0] + ", and " + ui.Number(len(list)-1) + " more"
}

// noteDamage warns of damage where the findings of the store itself are not
// shown.
func (p *program) noteDamage(facts *session.Store) {
	if text := damageText(damages(nil, facts.Faults)); text != "" {
		p.note("%s is damaged, so something may be missing here: %s. `sessctl check` shows all", facts.Path, text)
	}
}

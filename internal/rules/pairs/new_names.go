package pairs

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/rules"
)

// newNames gives out ids that nothing in a session has.
type newNames struct {
	taken    map[string]bool
	last     map[string]int // the number that an id was given last
	profiles []*rules.Profile
}

func newNamesOf(s *rules.Subject) *newNames {
	names := &newNames{taken: map[string]bool{}, last: map[string]int{}, profiles: s.Profiles}
	for i := range s.Items {
		for n := range s.Items[i].Calls {
			names.taken[s.Items[i].Calls[n].ID] = true
		}
		for n := range s.Items[i].Results {
			names.taken[s.Items[i].Results[n].CallID] = true
		}
	}
	return names
}

// repeated is the id of a call whose own is taken: "<id>_dup<n>".
func (names *newNames) repeated(id string) string {
	for {
		names.last[id]++
		if name := names.suited(id, id+"_dup"+strconv.Itoa(names.last[id])); !names.taken[name] {
			names.taken[name] = true
			return name
		}
	}
}

// suited is the new id of a call in a form that every provider takes that took
// the old one; where there was none, that every provider takes.
func (names *newNames) suited(old, id string) string {
	for _, p := range names.profiles {
		if (old == "" || rules.Fits(p.CallID, old)) && !rules.Fits(p.CallID, id) {
			id = rules.Reformed(p.CallID, id, 0)
		}
	}
	return id
}

// plain is an id for a call that has none: "call_<item>_<nth>".
func (names *newNames) plain(item, nth int) string {
	id := names.suited("", "call_"+strconv.Itoa(item)+"_"+strconv.Itoa(nth))
	if names.taken[id] {
		return names.repeated(id)
	}
	names.taken[id] = true
	return id
}

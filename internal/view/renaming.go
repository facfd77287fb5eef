package view

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// Renaming is an id of a call or the name of a tool that the provider does not
// take, and what an adapter sends instead, everywhere in the request.
type Renaming struct{ From, To string }

// rename says at every part which of its ids and names are sent otherwise.
func (r *Request) rename() {
	var own, server, names []string
	for i := range r.Parts {
		if it := r.Parts[i].Row.Stored; it != nil && !r.Parts[i].Unsent {
			eachName(it, &own, &server, &names)
		}
	}
	toOwn, toServer, toNames := r.Profile.WireIDs(own, false), r.Profile.WireIDs(server, true), r.Profile.WireNames(names)
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Row.Stored == nil || p.Unsent {
			continue
		}
		var own, server, names []string
		eachName(p.Row.Stored, &own, &server, &names)
		p.rename(own, toOwn)
		p.rename(server, toServer)
		p.rename(names, toNames)
	}
}

// eachName collects the ids of calls and results, those of tools that the
// provider ran apart, and the names of tools.
func eachName(it *session.Item, own, server, names *[]string) {
	add := func(id, name string, ran bool) {
		ids := own
		if ran {
			ids = server
		}
		if id != "" {
			*ids = append(*ids, id)
		}
		if name != "" {
			*names = append(*names, name)
		}
	}
	for _, c := range it.Calls {
		add(c.ID, c.Name, c.Server)
	}
	for _, result := range it.Results {
		add(result.CallID, result.Name, result.Server)
	}
}

func (p *Part) rename(stored []string, sent map[string]string) {
	for _, from := range stored {
		if renaming := (Renaming{from, sent[from]}); renaming.To != from && !slices.Contains(p.Renamed, renaming) {
			p.Renamed = append(p.Renamed, renaming)
		}
	}
}

package adktest

import (
	_ "embed"
	"encoding/json"
	"slices"
)

//go:embed scripts.json
var scripts []byte

// Scripts are the sessions of scripts.json, which people meet; the member about says
// what each is, and turn is the invocation of an event. Not every generation can store
// every one of them: see Generation.Lacks.
func Scripts() []Session {
	var told []struct {
		Session
		Events []struct {
			Event
			Turn int
		}
	}
	if err := json.Unmarshal(scripts, &told); err != nil {
		panic("scripts.json: " + err.Error())
	}
	list := make([]Session, len(told))
	for i, s := range told {
		list[i] = s.Session
		for _, e := range s.Events {
			if e.Turn > 0 {
				e.Invocation = invocation(e.Turn)
			}
			list[i].Events = append(list[i].Events, e.Event)
		}
	}
	return list
}

// Script is the script with an id. There must be one.
func Script(id string) Session {
	list := Scripts()
	return list[slices.IndexFunc(list, func(s Session) bool { return s.ID == id })]
}

// For are those of the sessions that the generation can store.
func (g Generation) For(sessions []Session) []Session {
	return slices.DeleteFunc(slices.Clone(sessions), func(s Session) bool { return g.Lacks(s) != "" })
}

package view

import "github.com/sessctl/sessctl/internal/rules"

// Masking is what docker agent's request-time sanitiser makes of a request that
// a provider would refuse: an error result "No result provided" behind every
// call that lacks one (docker/docker-agent#2377, v1.44), and no result that
// answers no call of the message before it (#3001, #3162, June 2026).
type Masking struct {
	Invented []Masked // calls
	Dropped  []Masked // results
}

// Masked is a call or a result that the model sees otherwise than it is stored.
type Masked struct {
	Item int
	Call string // the call's id
	Name string // of the tool, "" when no call of the session has that id
}

// maskingOf is nil when the sanitiser has nothing to do.
func maskingOf(s *rules.Subject, w *wire) *Masking {
	names := map[string]string{}
	for i := range s.Items {
		for _, c := range s.Items[i].Calls {
			names[c.ID] = c.Name
		}
	}
	m := &Masking{}
	for i := range s.Items {
		for _, n := range w.unanswered[i] {
			c := &s.Items[i].Calls[n]
			m.Invented = append(m.Invented, Masked{Item: i, Call: c.ID, Name: c.Name})
		}
		for _, r := range w.surplus[i] {
			id := s.Items[i].Results[r.nth].CallID
			m.Dropped = append(m.Dropped, Masked{Item: i, Call: id, Name: names[id]})
		}
	}
	if len(m.Invented)+len(m.Dropped) == 0 {
		return nil
	}
	return m
}

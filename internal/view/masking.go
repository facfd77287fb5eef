package view

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
)

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

// sanitised is the profile that pairs as docker agent's sanitiser does, whoever gets
// the request: results stand directly behind their calls, and system messages part
// nothing (docker/docker-agent#2377, #3001).
var sanitised = rules.FindProfile("anthropic")

// maskingOf is nil when the sanitiser has nothing to do.
func maskingOf(s *rules.Subject) *Masking {
	names := map[string]string{}
	for i := range s.Items {
		for _, c := range s.Items[i].Calls {
			names[c.ID] = c.Name
		}
	}
	m, refused := &Masking{}, s.Refused(sanitised)
	for _, at := range refused.Calls {
		c := &s.Items[at.Item].Calls[at.Nth]
		m.Invented = append(m.Invented, Masked{Item: at.Item, Call: c.ID, Name: c.Name})
	}
	for _, at := range refused.Results {
		id := s.Items[at.Item].Results[at.Nth].CallID
		m.Dropped = append(m.Dropped, Masked{Item: at.Item, Call: id, Name: names[id]})
	}
	if len(m.Invented)+len(m.Dropped) == 0 {
		return nil
	}
	return m
}

// words say what docker agent does instead of letting the request fail, or with
// one that would not.
func (m *Masking) words(fails bool) string {
	var acts []string
	if len(m.Invented) > 0 {
		acts = append(acts, `puts an error result "No result provided" behind `+masked(m.Invented, "%s (item %d)"))
	}
	if len(m.Dropped) > 0 {
		acts = append(acts, "leaves out the result of "+masked(m.Dropped, "%s at item %d"))
	}
	text := "docker agent since v1.44 does not let it fail: it "
	if !fails {
		text = "docker agent since v1.44 changes it all the same: it "
	}
	text += strings.Join(acts, ", and ") + "."
	if len(m.Invented) > 0 {
		text += " To the model those calls have failed."
	}
	return text
}

// masked lists calls or results: "shell (item 3) and read_file (item 5)".
func masked(list []Masked, form string) string {
	const most = 6
	var words []string
	for _, m := range list[:min(len(list), most)] {
		name := m.Name
		if name == "" {
			name = "call " + m.Call
		}
		words = append(words, fmt.Sprintf(form, name, m.Item))
	}
	if more := len(list) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Masking is what the runtime's sanitiser makes of a request that a provider would
// refuse: an error result behind every call that lacks one, and no result that answers
// no call of the message before it.
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

// maskingOf is nil when there is no sanitiser, or nothing for it to do.
func maskingOf(s *rules.Subject, by *session.Sanitiser) *Masking {
	if by == nil {
		return nil
	}
	names := map[string]string{}
	for i := range s.Items {
		for _, c := range s.Items[i].Calls {
			names[c.ID] = c.Name
		}
	}
	m, refused := &Masking{}, s.Refused(rules.FindProfile(by.Pairs))
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

// words say what the sanitiser does instead of letting the request fail, or with
// one that would not.
func (m *Masking) words(by *session.Sanitiser, fails bool) string {
	var acts []string
	if len(m.Invented) > 0 {
		acts = append(acts, "puts an error result "+strconv.Quote(by.Result)+" behind "+masked(m.Invented, "%s (item %d)"))
	}
	if len(m.Dropped) > 0 {
		acts = append(acts, "leaves out the result of "+masked(m.Dropped, "%s at item %d"))
	}
	text := by.By + " does not let it fail: it "
	if !fails {
		text = by.By + " changes it all the same: it "
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

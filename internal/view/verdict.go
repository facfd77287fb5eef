package view

import (
	"fmt"
	"strings"
)

// CoverWords say which items a summary stands for, "" when all are sent.
func (r *Request) CoverWords() string {
	if r.Covered == 0 {
		return ""
	}
	return "Not sent, because the summary stands for it: " + itemWords(r.Covered) + "."
}

// Verdict says what becomes of the request, in sentences that may hold stored
// names and ids.
func (r *Request) Verdict() []string {
	refusal := r.Error()
	switch {
	case r.Closed && refusal == "":
		return []string{"This sub-session is finished: docker agent never sends it to a model again. The request would be accepted."}
	case r.Closed:
		return []string{"This sub-session is finished: docker agent never sends it to a model again, so nothing fails. The request would be rejected: " + refusal}
	case refusal == "":
		return []string{"The next request would be accepted."}
	}
	said := []string{"The next request would be rejected: " + refusal}
	if r.Live {
		said = append(said, "Another process has the store open: it may still add what is missing.")
	}
	if r.Masking != nil {
		said = append(said, r.Masking.words())
	}
	return said
}

// words say what docker agent does instead of letting the request fail.
func (m *Masking) words() string {
	var acts []string
	if len(m.Invented) > 0 {
		acts = append(acts, `puts an error result "No result provided" behind `+masked(m.Invented, "%s (item %d)"))
	}
	if len(m.Dropped) > 0 {
		acts = append(acts, "leaves out the result of "+masked(m.Dropped, "%s at item %d"))
	}
	text := "docker agent since v1.44 does not let it fail: it " + strings.Join(acts, ", and ") + "."
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

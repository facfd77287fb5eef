package view

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// Head says whose request it is, and why: "as anthropic would get it, because
// the model is claude-opus-4-1".
func (r *Request) Head() string {
	text := "as " + r.Profile.Name + " would get it"
	if r.AsIs {
		text += " without a next message"
	}
	if r.Why != "" {
		text += ", because " + r.Why
	}
	return text
}

// Preface says whose request it is, where several agents share the session, and
// which items a summary stands for; "" when there is nothing to say.
func (r *Request) Preface() string {
	var said []string
	if r.Voice != "" {
		said = append(said, "This is what "+r.Voice+" is sent, which spoke last.")
		if r.Retold {
			said = append(said, "What other agents said comes to it as texts of the user.")
		}
	}
	if r.Covered > 0 {
		said = append(said, "Not sent, because the summary stands for it: "+itemWords(r.Covered)+".")
	}
	return strings.Join(said, " ")
}

// Verdict says what becomes of the request, in sentences that may hold stored
// names and ids.
func (r *Request) Verdict() []string {
	refusal := r.Refusal()
	var said []string
	switch {
	case r.Closed && refusal == nil:
		said = []string{"This sub-session is finished: docker agent never sends it to a model again. The request would be " + r.accepted()}
	case r.Closed:
		return []string{"This sub-session is finished: docker agent never sends it to a model again, so nothing fails. The request would be rejected: " + refusal.words(r.Profile)}
	case refusal == nil:
		said = []string{r.name() + " would be " + r.accepted()}
	default:
		said = []string{r.name() + " would be rejected: " + refusal.words(r.Profile)}
		if r.Live {
			said = append(said, "Another process has the store open: it may still add what is missing.")
		}
	}
	if refusal == nil && r.Risk != "" {
		said = append(said, "Some models or servers of "+r.Profile.Name+" may refuse it: "+r.Risk)
	}
	if r.Masking != nil && !r.Closed {
		said = append(said, r.Masking.words(refusal != nil))
	}
	return said
}

func (r *Request) name() string {
	if r.AsIs {
		return "The request as it is stored"
	}
	return "The next request"
}

// accepted says what has to be done before the provider accepts the request.
func (r *Request) accepted() string {
	switch {
	case r.Adjusted+r.Eased == 0:
		return "accepted."
	case r.Adjusted == 0:
		return fmt.Sprintf("accepted after %s, which %s makes by itself.", ui.Count(r.Eased, "adjustment"), r.Runtime)
	case r.Eased == 0:
		return fmt.Sprintf("accepted after %s.", ui.Count(r.Adjusted, "adjustment"))
	}
	return fmt.Sprintf("accepted after %s; %s makes %d more by itself.", ui.Count(r.Adjusted, "adjustment"), r.Runtime, r.Eased)
}

// Words say why the place is refused, with its rules.
func (r *Rejection) Words(profile *rules.Profile) string {
	if r.Error == "" {
		return "refused: " + r.words(profile)
	}
	return "refused: " + strings.TrimSpace(strings.Join(r.Rules, " ")+" "+r.Error)
}

func (r *Rejection) words(profile *rules.Profile) string {
	if r.Error == "" {
		return strings.Join(r.Rules, ", ") + ", in words of " + profile.Name + " that are not known"
	}
	return r.Error
}

// Words say what is sent instead, and what becomes of what is stored.
func (a *Adjustment) Words(r *Request) string {
	if a.Runtime {
		return a.Rule + " " + r.Runtime + " " + a.Sent
	}
	duty := [...]string{rules.Info: "may send", rules.Warning: "should send", rules.Error: "has to send"}[a.Severity]
	text := fmt.Sprintf("%s an adapter for %s %s %s", a.Rule, r.Profile.Name, duty, a.Sent)
	if a.Severity == rules.Info {
		return text
	}
	text += [...]string{rules.Warning: "; as stored some models or servers refuse it", rules.Error: "; as stored it is refused"}[a.Severity]
	if a.Error != "" {
		text += " with: " + a.Error
	}
	return text
}

package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// Head says whose request it is, and why: "request as sent to: anthropic (model
// claude-opus-4-1)".
func (r *Request) Head() string {
	text := "request as sent to: " + r.Profile.Name
	if r.Why != "" {
		text += " (" + r.Why + ")"
	}
	if r.AsIs {
		text += ", without a next message"
	}
	return text
}

// Preface says whose request it is, where several agents share the session, and
// which items a summary stands for; "" when there is nothing to say.
func (r *Request) Preface() string {
	var said []string
	if r.Viewer != "" {
		why := ", which spoke last."
		if r.Main {
			why = ", where a new run goes on unless it chooses another branch."
		}
		said = append(said, "This is the request of "+r.Viewer+why)
		if r.Retold {
			said = append(said, "It gets what other agents said as user messages.")
		}
	}
	if r.Covered > 0 {
		said = append(said, "Not sent: "+itemWords(r.Covered)+", which the summary replaces.")
	}
	return strings.Join(said, " ")
}

// Verdict says what becomes of the request, in sentences that may hold stored
// names and ids.
func (r *Request) Verdict() []string {
	said := []string{r.requestName() + " would be accepted" + r.easedClause() + "."}
	switch r.Answer.Verdict {
	case check.Reject:
		said = []string{r.requestName() + " would be rejected" + r.storedClause() + ": " + r.errorWords()}
	case check.Risk:
		said = append(said, "Some models or servers of "+r.Profile.Name+" may refuse "+r.whoseRequest()+": "+r.Risk())
	}
	if r.Closed {
		said[0] = r.closedSentence() + said[0]
		return said
	}
	if r.Adjusted > 0 && r.Answer.Verdict != check.Accept && r.FirstRefusal() == nil && r.Answer.Viewer == "" {
		said = append(said, r.adjustingSentence())
	}
	if r.Live && r.FirstRefusal() != nil {
		said = append(said, "Another process has the store open and may still add what is missing.")
	}
	if r.Masking != nil {
		said = append(said, r.Masking.maskingWords(r.mender, r.Answer.Verdict == check.Reject && !r.Masking.Refused))
	}
	return said
}

// closedSentence says that nothing comes of the verdict.
func (r *Request) closedSentence() string {
	text := "This sub-session is finished: " + cmp.Or(r.sentBy.Name, "its runtime") + " never sends it to a model again"
	if r.Answer.Verdict == check.Reject {
		text += ", so nothing fails"
	}
	return text + ". "
}

// requestName says which request the verdict is about.
func (r *Request) requestName() string {
	switch {
	case r.Answer.Viewer != "" && r.Answer.Verdict == check.Reject:
		return "This request is not refused. The next request of " + r.Answer.Viewer
	case r.Closed:
		return "The request"
	case r.AsIs:
		return "The request as it is stored"
	}
	return "The next request"
}

// whoseRequest request may be refused.
func (r *Request) whoseRequest() string {
	if r.Answer.Viewer != "" {
		return "that of " + r.Answer.Viewer
	}
	return "it"
}

// storedClause says that something else can be sent than what is refused.
func (r *Request) storedClause() string {
	mended := r.Masking != nil && !r.Masking.Refused && r.mender.Always
	if (mended || r.Adjusted > 0 && r.FirstRefusal() == nil) && !r.AsIs && r.Answer.Viewer == "" {
		return " as it is stored"
	}
	return ""
}

// errorWords are the provider's, or the rules where those are not known.
func (r *Request) errorWords() string {
	rejection := Rejection{Rules: r.Answer.Rules, Error: r.Answer.Error}
	return rejection.errorOrRules(r.Profile)
}

// Risk is what some models or servers of the provider answer, in its words, or the
// rules where those are not known; "" when none does.
func (r *Request) Risk() string {
	if r.Answer.Verdict != check.Risk {
		return ""
	}
	return cmp.Or(r.Answer.Error, strings.Join(r.Answer.Rules, ", "))
}

// adjustingSentence says what an adapter, and the runtime, can send otherwise.
func (r *Request) adjustingSentence() string {
	text := "An adapter for " + r.Profile.Name + " can send it with " + ui.Count(r.Adjusted, "adjustment") + " (marked ~)"
	if r.Eased > 0 {
		text += fmt.Sprintf("; %s makes %d more by itself", r.Runtime, r.Eased)
	}
	return text + "."
}

// easedClause says what the runtime does so that the provider accepts the request.
func (r *Request) easedClause() string {
	if r.Eased == 0 {
		return ""
	}
	return fmt.Sprintf(" after %s, which %s makes by itself", ui.Count(r.Eased, "adjustment"), r.Runtime)
}

// Words say why the place is refused, with its rules.
func (r *Rejection) Words(profile *rules.Profile) string {
	if r.Error == "" {
		return "refused: " + r.errorOrRules(profile)
	}
	return "refused: " + strings.TrimSpace(strings.Join(r.Rules, " ")+" "+r.Error)
}

func (r *Rejection) errorOrRules(profile *rules.Profile) string {
	if r.Error == "" {
		return strings.Join(r.Rules, ", ") + " (the error text of " + profile.Name + " is not known)"
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

package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var endsWithAssistant = rules.Rule{
	ID: "SC303", Name: "ends-with-assistant", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a request that ends with an answer of the assistant",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		last, ok := lastAnswer(&j)
		if !ok {
			return
		}
		f := p.FindSent(j, []int{last}, rules.Said{})
		f.Message = "the request ends with an answer of the assistant. If it is sent like this, the model has to continue that answer."
		f.Sent = "a user message after it"
		p.Report(f)
	}),
}

// lastAnswer is the item of the answer that a request of the stored messages
// alone ends with. A turn that ends with calls is no answer, and where the user's
// next message follows, no request ends with one.
func lastAnswer(j *rules.Judged) (item int, ok bool) {
	if !j.AsIs {
		return -1, false
	}
	turns := j.Turns()
	if len(turns) == 0 {
		return -1, false
	}
	last := turns[len(turns)-1]
	return last.Item, last.Role == session.Assistant && !last.Calls
}

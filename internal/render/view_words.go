package render

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// sizeWords say how long a session is: "13 items, 1 sub-session".
func sizeWords(s *view.Session) string {
	words := ui.Count(len(s.Items), "item")
	if s.Below > 0 {
		words += ", " + ui.Count(s.Below, "sub-session")
	}
	return words
}

// answerWords are the state of a call's result and its size: "ok   212 B".
func answerWords(a view.Answer) string {
	if a.State == view.Unsaid {
		return ""
	}
	if a.Item < 0 {
		return a.State.String()
	}
	return fmt.Sprintf("%s %7s", a.State, ui.Bytes(int64(a.Size)))
}

// substance is what stands in the place of a text that a row lacks; "" when its
// calls or results say enough.
func substance(r *view.Row) string {
	switch {
	case r.Label != "" || r.Text != "" || len(r.Calls) > 0 || len(r.Results) > 0:
		return r.Label
	case r.Thought != "":
		return "(only reasoning, " + ui.Bytes(int64(len(r.Thought))) + ")"
	}
	return "(no text)"
}

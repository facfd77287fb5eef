package agenttest

// Summary is a compaction: the prompt of the next request starts behind it.
type Summary struct {
	Text      string
	FirstKept int64   // index in the loaded list of the first item that stays in the prompt; generation 21
	Cost      float64 // dollars; generation 23
	Model     string  // generation 25
	Usage     *Usage  // generation 25
}

// Summary adds a compaction.
func (s *Session) Summary(summary Summary) *Item {
	return s.add(&Item{summary: &summary})
}

// columns are the columns that a summary fills, and their values.
func (summary *Summary) columns(generation int) (string, []any) {
	names, values := "summary_text", []any{summary.Text}
	if generation >= 21 {
		names, values = names+", first_kept_entry", append(values, summary.FirstKept)
	}
	if generation >= 23 {
		names, values = names+", cost", append(values, summary.Cost)
	}
	if generation >= 25 {
		usage := ""
		if summary.Usage != nil {
			usage = string(encode(summary.Usage))
		}
		names, values = names+", model, usage_json", append(values, summary.Model, usage)
	}
	return names, values
}

// RunError is the record of a run that ended with an error (2026-06-26 and
// later).
type RunError struct {
	Message   string `json:"message"`
	Code      string `json:"code,omitempty"`
	AgentName string `json:"agent_name,omitempty"`
	CreatedAt string `json:"created_at,omitempty"`
}

// Error adds the record of a run that ended with an error. It needs generation
// 14.
func (s *Session) Error(e RunError) *Item {
	e.CreatedAt = or(e.CreatedAt, s.db.tick())
	return &Item{Row: s.insertRow("error", "message_json", string(encode(e))), session: s}
}

// Stop is the record of a run that a budget stopped.
type Stop struct {
	Reason  string  `json:"reason"` // "" for budget_exceeded
	Budget  string  `json:"budget,omitempty"`
	Limit   string  `json:"limit,omitempty"`
	Used    float64 `json:"used,omitempty"`
	Max     float64 `json:"max,omitempty"`
	Message string  `json:"message,omitempty"`
}

// Termination adds the record of a run that a budget stopped. It needs
// generation 14.
func (s *Session) Termination(stop Stop) *Item {
	stop.Reason = or(stop.Reason, "budget_exceeded")
	return &Item{Row: s.insertRow("termination", "message_json", string(encode(stop))), session: s}
}

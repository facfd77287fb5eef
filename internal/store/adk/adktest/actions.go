package adktest

import "encoding/json"

// python are actions in an event_data of adk-python: dictionaries are always
// there, everything else only when it is set.
func (a Actions) python() object {
	o := object{{"skip_summarization", true}, {"state_delta", delta(a.StateDelta)}, {"artifact_delta", object{}}}
	if !a.SkipSummary {
		o = o[1:]
	}
	if a.Transfer != "" {
		o = append(o, member{"transfer_to_agent", a.Transfer})
	}
	if a.Escalate {
		o = append(o, member{"escalate", true})
	}
	o = append(o, member{"requested_auth_configs", object{}}, member{"requested_tool_confirmations", a.confirmations()})
	if c := a.Compaction; c != nil {
		o = append(o, member{"compaction", c.python()})
	}
	if a.RewindBefore != "" {
		o = append(o, member{"rewind_before_invocation_id", a.RewindBefore})
	}
	return o
}

func (c *Compaction) python() object {
	return object{
		{"start_timestamp", seconds(c.From)}, {"end_timestamp", seconds(c.To)},
		{"compacted_content", object{{"parts", []object{{{"text", c.Text}}}}, {"role", "model"}}},
	}
}

// golang are the actions as adk-go 2.2 writes them.
func (a Actions) golang() object {
	var o object
	if a.Transfer != "" {
		o = append(o, member{"transfer_to_agent", a.Transfer})
	}
	o = append(o, member{"state_delta", delta(a.StateDelta)}, member{"artifact_delta", object{}})
	if a.Escalate {
		o = append(o, member{"escalate", true})
	}
	if a.SkipSummary {
		o = append(o, member{"skip_summarization", true})
	}
	if len(a.Confirmations) > 0 {
		o = append(o, member{"requested_tool_confirmations", a.confirmations()})
	}
	return o
}

// pascal are the actions as adk-go writes them up to 2.1: all fields, by their names.
func (a Actions) pascal() object {
	confirmations := json.RawMessage("null")
	if len(a.Confirmations) > 0 {
		confirmations = a.confirmations()
	}
	return object{
		{"StateDelta", delta(a.StateDelta)}, {"ArtifactDelta", object{}}, {"RequestedToolConfirmations", confirmations},
		{"SkipSummarization", a.SkipSummary}, {"TransferToAgent", a.Transfer}, {"Escalate", a.Escalate},
	}
}

// confirmations are what was asked of a person, by the id of the call.
func (a Actions) confirmations() json.RawMessage {
	asked := map[string]any{}
	for _, id := range a.Confirmations {
		asked[id] = map[string]any{"hint": "please confirm", "confirmed": false}
	}
	text, _ := json.Marshal(asked) // texts always have a form
	return text
}

func delta(text string) json.RawMessage {
	if text == "" {
		text = "{}"
	}
	return json.RawMessage(text)
}

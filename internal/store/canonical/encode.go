package canonical

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// encodeSession makes the line of a session of another store.
func encodeSession(s *session.Session) sessionLine {
	rec := sessionLine{
		Type: typeSession, ID: s.ID, Parent: s.Parent, App: s.App, User: s.User,
		Title: s.Title, Agent: s.Agent, Model: s.Model,
		Created: formatTime(s.Created), Updated: formatTime(s.Updated),
		Task: explicitTask(s), Agents: s.Agents, Unstored: s.Unstored,
		Delegated: s.Delegated, Deleted: s.Deleted, Inseparable: s.Inseparable, Workspace: s.Workspace, Runs: encodeRuns(s),
	}
	if s.Thinking != session.Unsaid {
		thinking := s.Thinking == session.Yes
		rec.Thinking = &thinking
	}
	if s.Forked {
		rec.ForkOf = jsontext.Value("true")
	}
	rec.Stored.set(s.Raw)
	return rec
}

// explicitTask is the task text of a session whose task is not that of its
// first item, nil if it is. The model keeps the digest only, so the text is
// looked for in what the session says.
func explicitTask(s *session.Session) *string {
	if len(s.Items) > 0 && s.Items[0].Body != nil && s.Task == taskOf(&s.Items[0], s.Items[0].Body.Text) {
		return nil
	}
	if s.Task == 0 {
		if len(s.Items) == 0 {
			return nil
		}
		return new(string)
	}
	for i := range s.Items {
		it := &s.Items[i]
		if it.Body == nil {
			continue
		}
		_, task, _, _ := cutTask(it.Body.Text)
		for _, text := range []string{task, it.Body.Text} {
			if session.DigestOf(text) == s.Task {
				return &text
			}
		}
	}
	return nil
}

// encodeItem makes the line of an item of another store.
func encodeItem(s *session.Session, it *session.Item, body *session.Body, names signatureNames) itemLine {
	rec := itemLine{
		Type: typeItem, Session: s.ID, Kind: it.Kind.String(), Role: it.Role.String(),
		Agent: it.Agent, Model: it.Model, Branch: branchLabel{text: it.Branch}, Invocation: it.Invocation,
		Scope: it.Scope, Node: it.Node,
		Time: formatTime(it.Time), Text: textMember{body.Text, it.Flags.Has(session.NullText)}, Reasoning: body.Reasoning,
		Outputs: encodeOutputs(it.Outputs), Child: it.Child, KeptFrom: it.KeptFrom,
	}
	for _, f := range rec.flags() {
		*f.member = it.Flags.Has(f.flag)
	}
	if it.Flags.Has(session.Dangling) { // the reader finds that out again
		rec.Skipped = false
	}
	for i := range it.Calls {
		rec.Calls = append(rec.Calls, encodeCall(&it.Calls[i]))
	}
	for i := range it.Results {
		rec.Results = append(rec.Results, encodeResult(&it.Results[i]))
	}
	if it.Kind == session.Message {
		if holds := contentFlags(&rec, it); holds.Has(session.Blank) && !it.Flags.Has(session.Blank) {
			rec.Media = true
		}
		if usual, _ := usualBlocks(&rec); len(it.Blocks) > 0 && !slices.Equal(usual, it.Blocks) {
			rec.Blocks = encodeBlocks(it, body, names)
		}
		if it.Size != rec.size() {
			rec.Size = it.Size
		}
	}
	rec.Stored.set(body.Raw)
	return rec
}

func encodeCall(c *session.Call) callLine {
	return callLine{
		ID: c.ID, Name: c.Name, Args: looseText(c.Args), Server: c.Server, Waits: c.Waits, Asked: c.Asked,
		Delegation: encodeDelegation(c.Name, c.Args, c.Delegation), Question: questionLine{Child: c.Question.Child, Run: c.Question.Run},
	}
}

func encodeResult(r *session.Result) resultLine {
	line := resultLine{
		Call: r.CallID, Name: r.Name, Text: textMember{r.Text, r.Null},
		Error: r.IsError, Synthetic: r.Synthetic, Pending: r.Pending, Server: r.Server,
		Child: r.Child, Correlation: r.Correlation, Question: questionLine{Child: r.Question.Child, Run: r.Question.Run},
	}
	if r.Answer != 0 {
		line.Answer = stringWithDigest(jsontext.Value(r.Text), r.Answer)
	}
	return line
}

func encodeBlocks(it *session.Item, body *session.Body, names signatureNames) []blockLine {
	list := make([]blockLine, len(it.Blocks))
	for i := range it.Blocks {
		b := &it.Blocks[i]
		list[i] = blockLine{
			Type: b.Kind.String(), Name: b.Name, ID: b.ID, With: b.With, Signature: names.text(b.Signature, body.Raw),
			Unsigned: b.Unsigned, Blank: b.Blank, Cached: b.Cached, Width: int64(b.Width), Height: int64(b.Height),
		}
		switch b.Kind {
		case session.CallBlock, session.ResultBlock:
			nth := int64(b.Nth)
			list[i].Nth = &nth
		case session.UnknownBlock:
			list[i].Type, list[i].Name = b.Name, ""
		}
	}
	return list
}

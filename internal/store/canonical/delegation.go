package canonical

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// delegationMember is the "delegation" of a call: absent, null, which says that
// the call starts no child, or given.
type delegationMember struct {
	null  bool
	given *delegationLine
	err   error // the member is there and has another form
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *delegationMember) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() == 'n' {
		*m = delegationMember{null: true}
		return nil
	}
	var given delegationLine
	if err := json.Unmarshal(v, &given, tolerant); err != nil {
		*m = delegationMember{err: err}
		return nil
	}
	*m = delegationMember{given: &given}
	return nil
}

// MarshalJSONTo implements json.MarshalerTo.
func (m delegationMember) MarshalJSONTo(enc *jsontext.Encoder) error {
	if m.given == nil {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, m.given)
}

// delegation is what a call says about the child it starts: what the member
// gives, completed from the arguments of the tool.
func (c *callLine) delegation() *session.Delegation {
	known := session.DelegationFor(c.Name, string(c.Args))
	given := c.Delegation.given
	switch {
	case c.Delegation.null:
		return nil
	case given == nil:
		return known
	case known == nil:
		known = usualDelegation(string(c.Args))
	}
	known.Child, known.Run, known.Likely = given.Child, given.Run, given.Likely
	known.Apart, known.Tools, known.Correlation = given.Apart, given.Tools, given.Correlation
	known.Timeout = time.Duration(given.TimeoutMS) * time.Millisecond
	if given.Agent != nil {
		known.Agent = *given.Agent
	}
	if given.Blocking != nil {
		known.Blocking = *given.Blocking
	}
	if given.Task != nil {
		known.Task = session.DigestOf(*given.Task)
	}
	return known
}

// usualDelegation reads the arguments of a delegation tool that is not known by
// its name: a blocking one, with the usual names of arguments.
func usualDelegation(args string) *session.Delegation {
	return session.DelegationFor("transfer_task", args)
}

// encodeDelegation is the member that gives d back to a reader of the call.
func encodeDelegation(tool, args string, d *session.Delegation) delegationMember {
	if d == nil {
		return delegationMember{null: session.IsDelegation(tool)}
	}
	given := delegationLine{
		Agent: &d.Agent, Child: d.Child, Blocking: &d.Blocking, Apart: d.Apart, Run: d.Run, Likely: d.Likely,
		Tools: d.Tools, TimeoutMS: d.Timeout.Milliseconds(), Correlation: d.Correlation,
	}
	if d.Task != usualDelegation(args).Task {
		given.Task = stringWithDigest(jsontext.Value(args), d.Task)
	}
	return delegationMember{given: &given}
}

// stringWithDigest finds a string in JSON by its digest, nil if none has it: the
// model keeps the digest of a task only, and the text is in the arguments.
func stringWithDigest(v jsontext.Value, want session.Digest) *string {
	if want == 0 {
		return new(string)
	}
	dec := jsontext.NewDecoder(bytes.NewReader(v), tolerant)
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		if token.Kind() != '"' {
			continue
		}
		if text := token.String(); session.DigestOf(text) == want {
			return &text
		}
	}
}

// The tags that docker agent writes around the task in a child's first message
// (docker agent 3.1).
const (
	taskOpen  = "<task>\n"
	taskClose = "\n</task>"
)

// cutTask splits a text around its task; tagged is false when it has none of
// the tags, and the whole text is the task. A task may quote the closing tag.
func cutTask(text string) (before, task, after string, tagged bool) {
	before, rest, opened := strings.Cut(text, taskOpen)
	end := strings.LastIndex(rest, taskClose)
	if !opened || end < 0 {
		return "", text, "", false
	}
	return before, rest[:end], rest[end+len(taskClose):], true
}

// taskOf is the digest of the task that a session's first item hands to it.
func taskOf(first *session.Item, text string) session.Digest {
	if first.Kind != session.Message || first.Role != session.User && first.Role != session.System {
		return 0
	}
	_, task, _, _ := cutTask(text)
	return session.DigestOf(task)
}

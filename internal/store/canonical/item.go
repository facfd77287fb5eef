package canonical

import (
	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
)

// itemReader makes items of lines. It keeps scratch space, so each goroutine
// needs one of its own.
type itemReader struct {
	meaning session.Meaning
	names   map[string]string // agents, branches and tools occur again and again
	faults  []session.Fault   // of the item read last; Ref and Item are not set
}

func newItemReader() *itemReader { return &itemReader{names: make(map[string]string)} }

// read decodes a line into an item with its body; the row key and the position
// are left to the caller. A line that cannot be decoded becomes an item of kind
// Other.
func (r *itemReader) read(line []byte, number int64) session.Item {
	r.faults = r.faults[:0]
	rec, usable, wrong := decodeItem(line)
	if wrong != nil {
		r.fault(wrong.kind, "line", at(number, explain(wrong.err)))
		r.whole(jsonedit.Whole(line))
	}
	if !usable {
		return r.undecodable(line)
	}
	it := session.Item{
		Kind:       r.kind(rec.Kind, number),
		Flags:      flagsOf(&rec),
		Branch:     r.branch(rec.Branch, number),
		Invocation: r.intern(rec.Invocation),
		Scope:      r.intern(rec.Scope),
		Node:       r.intern(rec.Node),
		Text:       session.DigestOf(rec.Text.string),
		Outputs:    outputs(rec.Outputs),
		Body:       &session.Body{Text: rec.Text.string, Reasoning: rec.Reasoning, Raw: line},
	}
	var ok bool
	if it.Time, ok = parseTime(rec.Time); !ok {
		r.fault(session.BadTime, "time", at(number, notATime(rec.Time)))
	}
	switch it.Kind {
	case session.Message:
		r.readMessage(&it, &rec, number)
	case session.SubSession:
		it.Child = rec.Child
	case session.Summary:
		it.KeptFrom = rec.KeptFrom
	}
	it.Meaning = r.meaningOf(&it, &rec)
	return it
}

// whole notes of the fault that was reported last whether its record is a whole document.
func (r *itemReader) whole(is bool) { r.faults[len(r.faults)-1].Whole = is }

func (r *itemReader) undecodable(line []byte) session.Item {
	r.meaning.Reset(session.NoRole, "")
	r.meaning.Mark(byte(session.Other))
	r.meaning.Add(session.DigestOf(line))
	return session.Item{Kind: session.Other, Meaning: r.meaning.Digest(), Body: &session.Body{Raw: line}}
}

func (r *itemReader) readMessage(it *session.Item, rec *itemLine, number int64) {
	it.Role = session.ParseRole(rec.Role)
	switch it.Role {
	case session.NoRole:
		r.fault(session.UnknownPart, rec.Role,
			at(number, "the role "+quoted(rec.Role)+" is none of user, assistant, tool and system"))
		it.Agent = r.intern(rec.Agent)
	case session.Assistant, session.Tool:
		it.Agent = r.intern(rec.Agent)
	}
	it.Model, it.Size = r.intern(rec.Model), rec.size()
	it.Calls, it.Results = r.calls(rec.Calls, number), r.results(rec.Results)
	it.Blocks = r.blocks(rec, number)
	if it.Role == session.Tool && len(it.Results) == 1 && rec.Text.string == "" {
		it.Text = it.Results[0].Digest
	}
	it.Flags |= contentFlags(rec, it)
}

func (r *itemReader) calls(lines []callLine, number int64) []session.Call {
	if len(lines) == 0 {
		return nil
	}
	calls := make([]session.Call, len(lines))
	for i := range lines {
		line := &lines[i]
		if err := line.Delegation.err; err != nil {
			r.fault(session.Undecodable, "delegation", at(number, "delegation: "+explain(err)))
			r.whole(true)
		}
		d := line.delegation()
		if d != nil {
			d.Agent = r.intern(d.Agent)
		}
		calls[i] = session.Call{
			ID: line.ID, Name: r.intern(line.Name), Args: string(line.Args), Form: session.FormOf(string(line.Args)),
			Server: line.Server || session.IsServerCall(line.ID), Waits: line.Waits, Asked: line.Asked, Delegation: d,
			Question: line.Question.question(),
		}
	}
	return calls
}

func (r *itemReader) results(lines []resultLine) []session.Result {
	if len(lines) == 0 {
		return nil
	}
	results := make([]session.Result, len(lines))
	for i := range lines {
		line := &lines[i]
		results[i] = session.Result{
			CallID: line.Call, Name: r.intern(line.Name), Text: line.Text.string,
			Digest:    session.DigestOf(line.Text.string),
			IsError:   line.Error,
			Synthetic: line.Synthetic || session.IsPlaceholder(line.Text.string),
			Pending:   line.Pending,
			Null:      line.Text.null,
			Server:    line.Server || session.IsServerCall(line.Call),

			Child: line.Child, Correlation: line.Correlation, Question: line.Question.question(),
		}
		if line.Answer != nil {
			results[i].Answer = session.DigestOf(*line.Answer)
		}
	}
	return results
}

func (l *questionLine) question() session.Question {
	return session.Question{Child: l.Child, Run: l.Run}
}

func (r *itemReader) kind(name string, number int64) session.Kind {
	kind, ok := parseKind(name)
	if !ok {
		r.fault(session.UnknownKind, name,
			at(number, "the kind "+quoted(name)+" is none of message, sub_session, summary and other"))
	}
	return kind
}

// parseKind is the inverse of session.Kind.String; unknown names give Other.
func parseKind(name string) (session.Kind, bool) {
	for _, k := range []session.Kind{session.Message, session.SubSession, session.Summary, session.Other} {
		if k.String() == name {
			return k, true
		}
	}
	return session.Other, false
}

func (r *itemReader) branch(b branchLabel, number int64) string {
	if b.wrong {
		r.fault(session.Undecodable, "branch",
			at(number, `branch: neither a string nor {"tokens":[…]} nor {"active_forks":{…}}`))
		r.whole(true)
	}
	return r.intern(b.text)
}

func (r *itemReader) intern(name string) string {
	if known, ok := r.names[name]; ok {
		return known
	}
	r.names[name] = name
	return name
}

func (r *itemReader) fault(kind session.FaultKind, field, detail string) {
	r.faults = append(r.faults, session.Fault{Kind: kind, Field: field, Detail: detail})
}

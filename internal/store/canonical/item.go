package canonical

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// readItem decodes a line into an item with its body; the row key and the position
// are left to the caller. A line that cannot be decoded becomes an item of kind
// Other.
func (r *itemReader) readItem(line []byte, number int64) session.Item {
	r.faults = r.faults[:0]
	rec, usable, wrong := decodeItem(line)
	if wrong != nil {
		r.addFault(wrong.kind, "line", atLine(number, explainError(wrong.err)))
		r.noteWhole(jsonedit.IsWhole(line))
	}
	if !usable {
		return r.makeUndecodable(line)
	}
	it := session.Item{
		Kind:  r.readKind(rec.Kind, number),
		Flags: flagsOf(&rec),
		Shared: &session.Shared{
			Branch: r.readBranch(rec.Branch, number), Invocation: r.internName(rec.Invocation), Scope: r.internName(rec.Scope),
			Node: r.internName(rec.Node), Provider: r.internName(rec.Provider), Outputs: decodeOutputs(rec.Outputs),
			Refusal: session.RefusalOf(rec.Refusal.Status, rec.Refusal.Text),
		},
		Text: session.DigestOf(rec.Text.string),
		Note: rec.Note,
		Body: &session.Body{Text: rec.Text.string, Reasoning: rec.Reasoning, Raw: line},
	}
	var ok bool
	if it.Time, ok = parseTime(rec.Time); !ok {
		r.addFault(session.BadTime, "time", atLine(number, notATime(rec.Time)))
	}
	switch it.Kind {
	case session.Message:
		r.readMessage(&it, &rec, number)
	case session.SubSession:
		it.Shared.Child = rec.Child
	case session.Summary:
		it.Shared.KeptFrom = rec.KeptFrom
	}
	it.Meaning = r.meaningOf(&it, &rec)
	return it
}

// noteWhole notes of the fault that was reported last whether its record is a whole document.
func (r *itemReader) noteWhole(is bool) { r.faults[len(r.faults)-1].Whole = is }

func (r *itemReader) makeUndecodable(line []byte) session.Item {
	r.meaning.Reset(session.NoRole, "")
	r.meaning.AddMark(byte(session.Other))
	r.meaning.AddDigest(session.DigestOf(line))
	return session.Item{Kind: session.Other, Meaning: r.meaning.Digest(), Body: &session.Body{Raw: line}}
}

func (r *itemReader) readMessage(it *session.Item, rec *itemLine, number int64) {
	it.Role = session.ParseRole(rec.Role)
	switch it.Role {
	case session.NoRole:
		r.addFault(session.UnknownPart, rec.Role,
			atLine(number, "the role "+quoteWord(rec.Role)+" is not user, assistant, tool or system"))
		it.Shared.Agent = r.internName(rec.Agent)
	case session.Assistant, session.Tool:
		it.Shared.Agent = r.internName(rec.Agent)
	}
	it.Shared.Model, it.Size = r.internName(rec.Model), rec.requestSize()
	it.Calls, it.Results = r.readCalls(rec.Calls, number), r.readResults(rec.Results)
	it.Blocks = r.readBlocks(rec, number)
	if it.Role == session.Tool && len(it.Results) == 1 && rec.Text.string == "" {
		it.Text = it.Results[0].Digest
	}
	it.Flags |= contentFlags(rec, it)
}

func (r *itemReader) readCalls(lines []callLine, number int64) []session.Call {
	if len(lines) == 0 {
		return nil
	}
	calls := make([]session.Call, len(lines))
	for i := range lines {
		line := &lines[i]
		if err := line.Delegation.err; err != nil {
			r.addFault(session.Undecodable, "delegation", atLine(number, "delegation: "+explainError(err)))
			r.noteWhole(true)
		}
		d := line.readDelegation()
		if d != nil {
			d.Agent = r.internName(d.Agent)
		}
		calls[i] = session.Call{
			ID: line.ID, Name: r.internName(line.Name), Args: string(line.Args), Form: session.FormOf(string(line.Args)),
			Server: line.Server || session.IsServerCall(line.ID), Waits: line.Waits, Asked: line.Asked, Delegation: d,
			Question: line.Question.toQuestion(),
		}
	}
	return calls
}

func (r *itemReader) readResults(lines []resultLine) []session.Result {
	if len(lines) == 0 {
		return nil
	}
	results := make([]session.Result, len(lines))
	for i := range lines {
		line := &lines[i]
		results[i] = session.Result{
			CallID: line.Call, Name: r.internName(line.Name), Text: line.Text.string,
			Digest:    session.DigestOf(line.Text.string),
			IsError:   line.Error,
			Synthetic: line.Synthetic || session.IsPlaceholder(line.Text.string),
			Pending:   line.Pending,
			Null:      line.Text.null,
			Server:    line.Server || session.IsServerCall(line.Call),

			Child: line.Child, Correlation: line.Correlation, Question: line.Question.toQuestion(),
		}
		if line.Answer != nil {
			results[i].Answer = session.DigestOf(*line.Answer)
		}
	}
	return results
}

func (l *questionLine) toQuestion() session.Question {
	return session.Question{Child: l.Child, Run: l.Run}
}

func (r *itemReader) readKind(name string, number int64) session.Kind {
	kind, ok := session.ParseKind(name)
	if !ok {
		r.addFault(session.UnknownKind, name,
			atLine(number, "the kind "+quoteWord(name)+" is not message, sub_session, summary or other"))
	}
	return kind
}

func (r *itemReader) readBranch(b branchLabel, number int64) string {
	if b.wrong {
		r.addFault(session.Undecodable, "branch",
			atLine(number, `branch: neither a string nor {"tokens":[…]} nor {"active_forks":{…}}`))
		r.noteWhole(true)
	}
	return r.internName(b.text)
}

func (r *itemReader) internName(name string) string {
	if known, ok := r.names[name]; ok {
		return known
	}
	r.names[name] = name
	return name
}

func (r *itemReader) addFault(kind session.FaultKind, field, detail string) {
	r.faults = append(r.faults, session.Fault{Kind: kind, Field: field, Detail: detail})
}

// damage is what is wrong with the JSON of a line.
type damage struct {
	kind session.FaultKind // BadUnicode when nothing else is wrong, else Undecodable
	err  error
}

// decodeLine reads a line. A line with doubled names or text that is not Unicode is
// usable, and damage says what is wrong with it; nil means nothing.
func decodeLine[T any](line []byte) (value T, usable bool, wrong *damage) {
	err := json.Unmarshal(line, &value)
	if err == nil {
		return value, true, nil
	}
	var scrubbed T
	if json.Unmarshal(line, &scrubbed, jsontext.AllowInvalidUTF8(true)) == nil {
		return scrubbed, true, &damage{session.BadUnicode, err}
	}
	var again T
	return again, json.Unmarshal(line, &again, tolerant) == nil, &damage{session.Undecodable, err}
}

// decodeItem decodes decode for items. A sub-session item with doubled names is not
// usable: a doubled member could make it another link than the index has seen.
func decodeItem(line []byte) (rec itemLine, usable bool, wrong *damage) {
	rec, usable, wrong = decodeLine[itemLine](line)
	if wrong != nil && wrong.kind == session.Undecodable && rec.Kind == session.SubSession.String() {
		usable = false
	}
	return rec, usable, wrong
}

// readBlocks reads the parts of a message: those that "blocks" lists, completed from
// the other members, and behind them, in the usual order, those that it leaves
// out. nil when the message tells of no more than a text, calls and results.
func (r *itemReader) readBlocks(rec *itemLine, number int64) []session.Block {
	usual, telling := usualBlocks(rec)
	if len(rec.Blocks) == 0 {
		if !telling {
			return nil
		}
		return usual
	}
	list := make([]session.Block, 0, max(len(rec.Blocks), len(usual)))
	for i := range rec.Blocks {
		given := &rec.Blocks[i]
		b := r.readBlock(given, rec, number)
		same := func(u session.Block) bool { return u.Kind == b.Kind && (given.Nth == nil || b.Nth == u.Nth) }
		switch n := slices.IndexFunc(usual, same); {
		case n >= 0:
			b = completeBlock(b, usual[n])
			usual = slices.Delete(usual, n, n+1)
		case b.Kind == session.CallBlock || b.Kind == session.ResultBlock:
			r.addFault(session.UnknownPart, given.Type, atLine(number, fmt.Sprintf(
				"block %d is not one of the item's %ss, or is listed twice", i, given.Type)))
			b = session.Block{Kind: session.UnknownBlock, Name: r.internName(given.Type)}
		}
		list = append(list, b)
	}
	list = append(list, usual...)
	forgetSharedText(list)
	return list
}

// usualBlocks are the blocks of a message without a list of them, in the usual
// order: reasoning, text, media, calls, results. telling is false when that is
// no more than the other fields of an item say.
func usualBlocks(rec *itemLine) (list []session.Block, telling bool) {
	if rec.Reasoning != "" || rec.Signature != nil {
		b := session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf(rec.Reasoning)}
		setSignature(&b, rec.Signature)
		list, telling = append(list, b), true
	}
	if rec.Text.string != "" {
		list = append(list, session.Block{Kind: session.TextBlock, Blank: isSpace(rec.Text.string)})
	}
	if rec.Media && !slices.ContainsFunc(rec.Blocks, isMedia) {
		list, telling = append(list, session.Block{Kind: session.MediaBlock}), true
	}
	for i := range rec.Calls {
		c := &rec.Calls[i]
		b := session.Block{Kind: session.CallBlock, Nth: i, ID: c.ItemID, With: c.With}
		setSignature(&b, c.Signature)
		telling = telling || b != session.Block{Kind: session.CallBlock, Nth: i}
		list = append(list, b)
	}
	for i := range rec.Results {
		list = append(list, session.Block{Kind: session.ResultBlock, Nth: i})
	}
	return list, telling
}

// readBlock reads a block as the list gives it.
func (r *itemReader) readBlock(given *blockLine, rec *itemLine, number int64) session.Block {
	b := session.Block{
		Kind: blockKind(given.Type), ID: given.ID, With: given.With, Unsigned: given.Unsigned, Empty: given.Empty,
		Cached: given.Cached, Width: int(given.Width), Height: int(given.Height),
	}
	setSignature(&b, given.Signature)
	switch b.Kind {
	case session.UnknownBlock:
		b.Name = r.internName(given.Type)
		r.addFault(session.UnknownPart, given.Type,
			atLine(number, "the type of block "+quoteWord(given.Type)+" is not text, reasoning, call, result or media"))
	case session.MediaBlock:
		b.Name, b.Media, b.Is = r.internName(given.Name), r.internName(given.Media), r.internName(given.Is)
		b.Bytes, b.Broken, b.In, b.Unsent = given.Bytes, given.Broken, int(given.In), given.Unsent
	case session.TextBlock:
		b.Blank, b.Unsent = given.Blank || isSpace(rec.Text.string), given.Unsent
	case session.CallBlock, session.ResultBlock:
		b.Blank = given.Blank && b.Kind == session.ResultBlock
		if given.Nth != nil {
			b.Nth = int(*given.Nth)
		}
	}
	return b
}

// completeBlock adds to a block of the list what other members of the item say of it.
func completeBlock(b, usual session.Block) session.Block {
	b.Nth, b.Text = usual.Nth, usual.Text
	b.ID, b.With = cmp.Or(b.ID, usual.ID), cmp.Or(b.With, usual.With)
	if b.Signature == 0 && !b.Unsigned {
		b.Signature, b.Unsigned = usual.Signature, usual.Unsigned
	}
	return b
}

// forgetSharedText takes the digest of the reasoning away from the first of
// several blocks: the item has the text of all of them only.
func forgetSharedText(list []session.Block) {
	first := slices.IndexFunc(list, isReasoning)
	if first >= 0 && slices.ContainsFunc(list[first+1:], isReasoning) {
		list[first].Text = 0
	}
}

func isReasoning(b session.Block) bool { return b.Kind == session.ReasoningBlock }

func isMedia(b blockLine) bool { return blockKind(b.Type) == session.MediaBlock }

func isSpace(text string) bool { return strings.TrimSpace(text) == "" }

// setSignature notes a signature; one that is there and empty says that there is none.
func setSignature(b *session.Block, signature *string) {
	if signature != nil {
		b.Signature = session.DigestOf(*signature)
		b.Unsigned = *signature == ""
	}
}

// blockKind is the inverse of session.BlockKind.String; other names give
// UnknownBlock.
func blockKind(name string) session.BlockKind {
	for kind := range session.UnknownBlock {
		if kind.String() == name {
			return kind
		}
	}
	return session.UnknownBlock
}

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

// readDelegation reads what a call says about the child it starts: what the member
// gives, completed from the arguments of the tool.
func (c *callLine) readDelegation() *session.Delegation {
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

// encodeDelegation encodes the member that gives d back to a reader of the call.
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

// runLine is one request that a session served.
type runLine struct {
	ID         string         `json:"id"`
	State      string         `json:"state,omitzero"`
	Open       bool           `json:"open,omitzero"`
	Invocation string         `json:"invocation,omitzero"`
	Asked      string         `json:"asked,omitzero"`
	Answered   string         `json:"answered,omitzero"`
	Began      looseText      `json:"began,omitzero"`
	Ended      looseText      `json:"ended,omitzero"`
	Rest       jsontext.Value `json:",embed"`
}

// toRun is the run of a line; a time that is none is not known.
func (l *runLine) toRun() session.Run {
	began, _ := parseTime(l.Began)
	ended, _ := parseTime(l.Ended)
	return session.Run{
		ID: l.ID, State: l.State, Open: l.Open, Invocation: l.Invocation,
		Asked: session.DigestOf(l.Asked), Answered: session.DigestOf(l.Answered), Began: began, Ended: ended,
	}
}

// encodeRuns makes the lines of the runs of another store. The model keeps digests
// of what was asked and answered: the texts are those of the session's items, if any
// has them.
func encodeRuns(s *session.Session) []runLine {
	if len(s.Runs) == 0 {
		return nil
	}
	texts := map[session.Digest]string{}
	for i := range s.Items {
		if b := s.Items[i].Body; b != nil {
			texts[session.DigestOf(b.Text)] = b.Text
		}
	}
	list := make([]runLine, len(s.Runs))
	for i, r := range s.Runs {
		list[i] = runLine{
			ID: r.ID, State: r.State, Open: r.Open, Invocation: r.Invocation,
			Asked: texts[r.Asked], Answered: texts[r.Answered], Began: formatTime(r.Began), Ended: formatTime(r.Ended),
		}
	}
	return list
}

// runsOf is the list of a session's runs, each as it is stored in one of a tree.
func runsOf(before *session.Tree, s *session.Session) jsontext.Value {
	stored := map[string]jsontext.Value{}
	for _, from := range before.Sessions {
		line := lineText{text: from.Raw}
		for i := range from.Runs {
			stored[from.Runs[i].ID], _ = line.rawMember("/runs/" + strconv.Itoa(i))
		}
	}
	list := make([]jsontext.Value, len(s.Runs))
	for i := range s.Runs {
		list[i] = stored[s.Runs[i].ID]
	}
	return listOf(list)
}

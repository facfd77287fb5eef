package canonical

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
)

// WriteOptions change what a Writer writes.
type WriteOptions struct {
	// Redact replaces everything that people, models and tools said by filler
	// of the same length. See redactor for what stays.
	Redact bool
}

// Writer writes a canonical stream. Sessions that were read from a canonical
// stream are written as the same bytes, line by line; those of other stores are
// encoded, with their stored record in "raw".
type Writer struct {
	w        *bufio.Writer
	stored   bool // bodies are the lines of a stream
	redact   *redactor
	names    signatureNames
	replaced int
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header, opts WriteOptions) (*Writer, error) {
	out := &Writer{w: bufio.NewWriterSize(w, 1<<16), stored: h.line != nil, names: signatureNames{}}
	if opts.Redact {
		out.redact = &redactor{labels: map[session.Digest]uint64{}, next: map[int]uint64{}}
	}
	if out.stored && out.redact == nil {
		return out, out.writeLine(h.line)
	}
	rec := h.encodeHeader()
	if out.stored {
		rec, _, _ = decodeLine[headerLine](h.line) // parseHeader has read it
		rec.Rest = maskJSON(rec.Rest)
	}
	return out, out.encodeRecord(&rec, nil)
}

// WriteSession writes a session and its items, whose bodies must be loaded.
func (w *Writer) WriteSession(s *session.Session) error {
	if err := w.writeSession(s); err != nil {
		return err
	}
	for i := range s.Items {
		if err := w.writeItem(s, &s.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// WriteFaults writes a line for each fault of the store that tells of what is stored and was
// not read: a reader of the stream finds damage there.
func (w *Writer) WriteFaults(faults []session.Fault) error { return w.writeFaults(faults, nil) }

// WriteUnread is Faults for those of a session, behind its items. Lines of a stream that are
// written as they were tell it themselves.
func (w *Writer) WriteUnread(s *session.Session) error {
	if w.stored && w.redact == nil {
		return nil
	}
	return w.writeFaults(s.Faults, s.Items)
}

func (w *Writer) writeFaults(faults []session.Fault, items []session.Item) error {
	for i := range faults {
		f := &faults[i]
		if !f.IsUnread(items) {
			continue
		}
		rec := faultLine{
			Type: typeFault, Session: f.Ref.Session, Table: f.Ref.Table, Key: f.Ref.Key, Count: int64(f.Count), Detail: f.Loss(),
		}
		if w.redact != nil && f.Kind == session.UnknownKind { // the type can be any text
			rec.Detail = "a line is of an unknown type"
		}
		if w.stored && (f.Ref.Table == session.TableLines || f.Ref.Table == tableItems) { // their numbers are not those of this stream
			rec.Table, rec.Key = tableSource, f.Ref.Row()
		}
		if err := w.encodeRecord(&rec, nil); err != nil {
			return err
		}
	}
	return nil
}

// Replaced counts the lines in which bytes that are not UTF-8 had to be written
// as U+FFFD. What was stored is in their "raw_base64".
func (w *Writer) Replaced() int { return w.replaced }

// Flush ends the stream.
func (w *Writer) Flush() error { return w.w.Flush() }

func (w *Writer) writeSession(s *session.Session) error {
	var rec sessionLine
	switch {
	case !w.stored:
		rec = encodeSession(s)
	case s.Raw == nil:
		return fmt.Errorf("session %s cannot be written: its line was not loaded", s.ID)
	case w.redact == nil:
		return w.writeLine(s.Raw)
	default:
		var usable bool
		if rec, usable, _ = decodeLine[sessionLine](s.Raw); !usable {
			rec = sessionLine{Type: typeSession}
		}
		rec.ID = s.ID // a line can name two
	}
	if w.redact != nil {
		w.redact.redactSession(&rec)
	}
	return w.encodeRecord(&rec, &rec.Stored)
}

func (w *Writer) writeItem(s *session.Session, it *session.Item) error {
	body := it.Body
	switch {
	case body != nil:
	case !w.stored && (it.Kind == session.SubSession || it.Kind == session.Other):
		body = &session.Body{} // these may say nothing
	default:
		return fmt.Errorf("item %s of session %s cannot be written: its body was not loaded", it.Key, s.ID)
	}
	var rec itemLine
	switch {
	case !w.stored:
		rec = encodeItem(s, it, body, w.names)
	case w.redact == nil:
		return w.writeLine(body.Raw)
	default:
		var usable bool
		if rec, usable, _ = decodeItem(body.Raw); !usable {
			rec = itemLine{Type: typeItem, Kind: session.Other.String()}
			rec.Stored.encodeBase64(body.Raw)
		}
		rec.Session = s.ID // a line can name two
	}
	if w.redact != nil {
		w.redact.redactItem(&rec)
	}
	return w.encodeRecord(&rec, &rec.Stored)
}

// encodeRecord writes a record as a line. Two things can be in the way: a raw value
// nested so deep that it does not fit into a line, and text that is not UTF-8.
func (w *Writer) encodeRecord(rec any, stored *storedRecord) error {
	line, err := json.Marshal(rec, exact)
	if err != nil && stored != nil && stored.Raw != nil {
		stored.encodeBase64(stored.Raw)
		line, err = json.Marshal(rec, exact)
	}
	if err != nil {
		w.replaced++
		line, err = json.Marshal(rec, exact, tolerant)
	}
	if err != nil {
		return fmt.Errorf("encoding a line: %w", err)
	}
	return w.writeLine(line)
}

func (w *Writer) writeLine(line []byte) error {
	if _, err := w.w.Write(line); err != nil {
		return err
	}
	return w.w.WriteByte('\n')
}

// encodeSession makes the line of a session of another store.
func encodeSession(s *session.Session) sessionLine {
	rec := sessionLine{
		Type: typeSession, ID: s.ID, Parent: s.Parent, App: s.App, User: s.User,
		Title: s.Title, Agent: s.Agent, Model: s.Model,
		Created: formatTime(s.Created), Updated: formatTime(s.Updated),
		Task: explicitTask(s), Agents: s.Agents, Unstored: s.Unstored,
		Delegated: s.Delegated, Deleted: s.Deleted, Inseparable: s.Inseparable, Workspace: s.Workspace, Version: s.Version, Runs: encodeRuns(s),
	}
	if s.Thinking != session.Unsaid {
		thinking := s.Thinking == session.Yes
		rec.Thinking = &thinking
	}
	if s.Writer != session.WriterUnknown {
		rec.Writer = s.Writer.String()
	}
	if s.Forked {
		rec.ForkOf = jsontext.Value("true")
	}
	rec.Stored.setStored(s.Raw)
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
		Agent: it.Agent(), Model: it.Model(), Provider: it.Provider(), Branch: branchLabel{text: it.Branch()}, Invocation: it.Invocation(),
		Scope: it.Scope(), Node: it.Node(),
		Time: formatTime(it.Time), Text: textMember{body.Text, it.Flags.Has(session.NullText)}, Reasoning: body.Reasoning,
		Outputs: encodeOutputs(it.Outputs()), Refusal: refusalLine{Status: it.Refusal().Status, Text: it.Refusal().Text}, Note: it.Note, Child: it.Child(), KeptFrom: it.KeptFrom(),
	}
	for _, f := range rec.flagMembers() {
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
		if it.Size != rec.requestSize() {
			rec.Size = it.Size
		}
	}
	rec.Stored.setStored(body.Raw)
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
			Type: b.Kind.String(), Name: b.Name, ID: b.ID, With: b.With, Signature: names.signatureText(b.Signature, body.Raw),
			Unsigned: b.Unsigned, Empty: b.Empty, Blank: b.Blank, Unsent: b.Unsent, Cached: b.Cached, Width: int64(b.Width), Height: int64(b.Height),
			Media: b.Media, Is: b.Is, Bytes: b.Bytes, Broken: b.Broken, In: int64(b.In),
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

// flagsOf are the flags that a line states; the others follow from more.
func flagsOf(rec *itemLine) session.Flags {
	var flags session.Flags
	for _, f := range rec.flagMembers() {
		if *f.member {
			flags |= f.flag
		}
	}
	return flags
}

// flagMember is a member that is one flag of the model.
type flagMember struct {
	flag   session.Flags
	member *bool
}

func (rec *itemLine) flagMembers() [11]flagMember {
	return [...]flagMember{
		{session.Implicit, &rec.Implicit},
		{session.Archived, &rec.Archived},
		{session.Synthetic, &rec.Synthetic},
		{session.Unfinished, &rec.Unfinished},
		{session.Skipped, &rec.Skipped},
		{session.EmptyCalls, &rec.EmptyCalls},
		{session.Rewound, &rec.Rewound},
		{session.Compacted, &rec.Compacted},
		{session.Unshown, &rec.Unshown},
		{session.SummaryTurn, &rec.Summary},
		{session.BySegments, &rec.BySegments},
	}
}

// contentFlags are the flags that follow from what a message holds. What an
// unknown block holds may be anything, so that such a message is not blank.
func contentFlags(rec *itemLine, it *session.Item) session.Flags {
	flags := session.TextFlags(rec.Text.string)
	holds := len(it.Calls) > 0 || len(it.Results) > 0 || it.HasBlock(session.MediaBlock) || it.HasBlock(session.UnknownBlock)
	if !holds && isSpace(rec.Text.string) {
		flags |= session.Blank
	}
	if !holds && rec.Text.null && it.Role != session.Assistant && it.Role != session.NoRole {
		flags |= session.NullText
	}
	return flags
}

// requestSize is about what a message adds to a request, in bytes.
func (rec *itemLine) requestSize() int64 {
	if rec.Size > 0 {
		return rec.Size
	}
	n := len(rec.Text.string) + len(rec.Reasoning)
	for i := range rec.Calls {
		n += len(rec.Calls[i].Args)
	}
	for i := range rec.Results {
		n += len(rec.Results[i].Text.string)
	}
	return int64(n)
}

// meaningOf is the digest of what an item says. "raw" counts only where there
// is nothing else, in items of kind Other: elsewhere it holds bookkeeping that
// differs between twins.
func (r *itemReader) meaningOf(it *session.Item, rec *itemLine) session.Digest {
	m := &r.meaning
	m.Reset(it.Role, it.Agent())
	m.AddMark(byte(it.Kind))
	m.AddTexts(rec.Text.string, rec.Reasoning)
	switch it.Kind {
	case session.Message:
		if it.Role == session.NoRole {
			m.AddDigest(session.DigestOf(rec.Role))
		}
		addMessage(m, it)
	case session.SubSession:
		m.AddDigest(session.DigestOf(it.Child()))
	case session.Other:
		m.AddDigest(session.DigestOf([]byte(rec.Stored.Raw)))
		m.AddDigest(session.DigestOf(rec.Stored.RawBase64))
	}
	return m.Digest()
}

func addMessage(m *session.Meaning, it *session.Item) {
	m.AddFlag(it.HasBlock(session.MediaBlock))
	for i := range it.Blocks {
		if b := &it.Blocks[i]; b.Kind == session.UnknownBlock {
			m.AddDigest(session.DigestOf(b.Name))
		}
	}
	m.AddMark('c')
	for i := range it.Calls {
		c := &it.Calls[i]
		m.AddTexts(c.ID, c.Name, c.Args)
	}
	m.AddMark('r')
	for i := range it.Results {
		res := &it.Results[i]
		m.AddTexts(res.CallID, res.Name)
		m.AddDigest(res.Digest)
		m.AddFlag(res.IsError)
	}
}

// lineText is a line while members of it change. Every other byte stays:
// unknown members, forms of numbers and escapes, and the rest of a line that
// breaks off. The first error stays.
type lineText struct {
	text []byte
	err  error
}

// setMember gives a member another text, number or boolean.
func (l *lineText) setMember(pointer string, value any) { l.setJSON(pointer, jsonOf(value)) }

// removeMember takes a member away, if it is there.
func (l *lineText) removeMember(pointer string) {
	if _, there := l.rawMember(pointer); there {
		l.setJSON(pointer, nil)
	}
}

func (l *lineText) setJSON(pointer string, value jsontext.Value) {
	if l.err != nil {
		return
	}
	text, err := jsonedit.SetValue(l.text, pointer, value)
	if err != nil {
		l.err = fmt.Errorf("changing a line: %w", err)
		return
	}
	l.text = text
}

// rawMember is the stored JSON of a member.
func (l *lineText) rawMember(pointer string) (jsontext.Value, bool) {
	return jsonedit.RawValue(l.text, pointer)
}

// jsonOf is the JSON of a text, a number or a boolean.
func jsonOf(value any) jsontext.Value {
	text, _ := json.Marshal(value, tolerant) // tolerant of the one thing that can be wrong
	return text
}

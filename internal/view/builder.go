package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// builder makes the sessions of one view; each is drawn once, so that no loop
// of references can trap it.
type builder struct {
	in       Input
	pass     *rules.Pass
	trace    *replay.Trace
	subjects map[*session.Session]*rules.Subject
	viewers  map[*session.Session]*rules.Subject // whose request is the next one
	byID     map[string]*session.Session
	drawn    map[string]bool
	notes    map[session.Place][]Note
	texts    *texts // nil where the tree has them
}

func newBuilder(in Input) *builder {
	pass := rules.NewPass(in.Store, in.Tree, in.Judge, nil)
	b := &builder{
		in: in, pass: pass, trace: pass.Trace,
		subjects: map[*session.Session]*rules.Subject{},
		viewers:  map[*session.Session]*rules.Subject{},
		byID:     map[string]*session.Session{},
		drawn:    map[string]bool{},
		notes:    map[session.Place][]Note{},
	}
	if in.Load != nil {
		b.texts = &texts{load: in.Load}
	}
	for _, s := range pass.Subjects {
		b.subjects[s.Session], b.viewers[s.Session] = s, pass.NextViewer(s.Session)
		if b.byID[s.ID] == nil {
			b.byID[s.ID] = s.Session
		}
	}
	b.noteFindings()
	return b
}

// buildSession makes a session with everything below it.
func (b *builder) buildSession(s *session.Session) *Session {
	b.drawn[s.ID] = true
	out := &Session{Session: s, Agent: replay.FirstAgent(s), Notes: b.notes[s.ItemPlace(-1)], Rows: make([]Row, 0, len(s.Items))}
	subject := b.subjects[s]
	answers := answersOf(subject)
	started := startedBy(subject.Replay)
	for i := range s.Items {
		row := b.buildRow(subject, answers, i)
		if row.Stored.Kind == session.SubSession {
			b.drawReference(&row)
		}
		if b.texts != nil {
			row.Calls, row.Results = nil, nil
		}
		out.Rows = append(out.Rows, row)
		out.Rows = append(out.Rows, b.drawUnreferenced(started[i])...)
	}
	out.Rows = append(out.Rows, b.drawUnreferenced(s.Children)...)
	if out.finishSession(); b.texts != nil {
		out.whole = func(r *Row) *Row { return b.wholeRow(out, answers, r) }
	}
	return out
}

// finishSession fills in what can be told when all rows are there.
func (s *Session) finishSession() {
	s.folded = make([]bool, len(s.Items))
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Item >= 0 {
			s.folded[r.Item] = r.Folded
		}
		if r.Child != nil {
			s.Below += 1 + r.Child.Below
		}
	}
	for i := range s.Rows {
		s.markFolded(&s.Rows[i])
	}
}

// markFolded marks the answers that are shown with the calls of a row only.
func (s *Session) markFolded(r *Row) {
	for n := range r.Calls {
		a := &r.Calls[n].Answer
		a.Folded = a.Item >= 0 && s.folded[a.Item]
	}
}

// drawReference draws the sub-session that the row refers to, or says why it does
// not.
func (b *builder) drawReference(row *Row) {
	id := row.Stored.Child()
	child := b.byID[id]
	switch {
	case id == "":
		row.Label = "a sub-session that was deleted"
	case child == nil:
		row.Label = "sub-session " + rules.ShortID(id) + ", which does not exist"
	case b.drawn[id]:
		row.Label = "sub-session " + rules.ShortID(id) + ", shown above"
	default:
		row.Child = b.buildSession(child)
	}
}

// startedBy lists, by the item that made the call, the sub-sessions of a session
// that the replay links to a call although no item refers to them.
func startedBy(s *replay.Session) map[int][]*session.Session {
	below := map[*session.Session]bool{}
	for _, c := range s.Session.Children {
		below[c] = true
	}
	list := map[int][]*session.Session{}
	for _, d := range s.Delegations {
		if below[d.Child] && d.Reference < 0 {
			list[d.Item] = append(list[d.Item], d.Child)
		}
	}
	return list
}

// drawUnreferenced draws sub-sessions that no item refers to.
func (b *builder) drawUnreferenced(children []*session.Session) []Row {
	var rows []Row
	for _, c := range children {
		if !b.drawn[c.ID] {
			rows = append(rows, Row{Item: -1, Child: b.buildSession(c), Named: b.isNamed(c)})
		}
	}
	return rows
}

// isNamed reports whether a call or its result names a session.
func (b *builder) isNamed(c *session.Session) bool {
	caller := b.trace.Callers[c]
	return caller != nil && caller.Call().Delegation.Child == c.ID
}

// buildRow says what is to be read of the item at index i.
func (b *builder) buildRow(s *rules.Subject, answers *answers, i int) Row {
	it := &s.Items[i]
	row := Row{Item: i, Stored: it, Depth: s.Replay.Steps[i].Depth, Who: speakerName(it)}
	if it.Body != nil {
		row.Text, row.Thought = it.Body.Text, it.Body.Reasoning
	}
	row.Media = mediaLines(it, 0)
	switch it.Kind {
	case session.Message:
		row.Calls = answers.callsAt(i)
		row.Results, row.Marked = answers.resultsAt(i)
	case session.Summary:
		row.Label = summaryLabel(s.Session, i, len(row.Text))
	case session.Other:
		row.Label, row.Text = otherLabel(s.Session, i)
	}
	row.Notes = b.notes[s.ItemPlace(s.PlaceInSession(i))]
	row.Flags = flagsOf(it)
	row.Folded = len(row.Results) > 0 && len(row.Notes) == 0 && it.Flags&^session.Synthetic == 0 && !it.SaysText() && answers.canFold(i)
	return row
}

// mediaLines are the images and files of an item, or of the result of a number: their types, and
// how large they are. Nothing of them is shown.
func mediaLines(it *session.Item, in int) (list []string) {
	for i := range it.Blocks {
		b := &it.Blocks[i]
		if b.Kind != session.MediaBlock || b.In != in {
			continue
		}
		line := cmp.Or(b.Media, b.Name, "media")
		if b.Bytes > 0 {
			line += ", " + ui.Bytes(b.Bytes/4*3)
		}
		list = append(list, line)
	}
	return list
}

// speakerName is the speaker in words.
func speakerName(it *session.Item) string {
	switch {
	case it.Kind != session.Message:
		return ""
	case it.Role == session.User || it.Role == session.System:
		return it.Role.String()
	case it.Agent() != "":
		return it.Agent()
	case it.Role == session.NoRole:
		return "?"
	}
	return it.Role.String()
}

// summaryLabel says which items a summary stands for.
func summaryLabel(s *session.Session, i, size int) string {
	if size == 0 {
		return "a summary without text"
	}
	return fmt.Sprintf("summary of %s, %s", itemWords(coveredTo(s, i)), ui.Bytes(int64(size)))
}

// itemWords name the first n items.
func itemWords(n int) string {
	switch n {
	case 0:
		return "nothing before it"
	case 1:
		return "item 0"
	}
	return fmt.Sprintf("items 0–%d", n-1)
}

// coveredTo is the index behind the last item that the summary at index i
// stands for: the start of the tail that it keeps, or the summary itself.
func coveredTo(s *session.Session, i int) int {
	upTo := session.Session{Items: s.Items[:i+1]}
	return min(upTo.RequestStart(), i)
}

// flagsOf words the facts about an item that change how it is read.
func flagsOf(it *session.Item) []string {
	var words []string
	for _, f := range []struct {
		flag session.Flags
		word string
	}{
		{session.Implicit, "implicit"},
		{session.Unfinished, "unfinished"},
		{session.Archived, "archived"},
		{session.Rewound, "rewound"},
		{session.Compacted, "covered by a summary"},
		{session.Unshown, "not sent to a model"},
		{session.Synthetic, "added by a repair"},
		{session.Blank, "blank"},
	} {
		if it.Flags.Has(f.flag) {
			words = append(words, f.word)
		}
	}
	return words
}

// roleNames are what an API calls the parts of a request.
type roleNames struct{ system, user, assistant, call, result string }

// wireRoles are the names by the shape of the request. Where calls and results
// are items of their own, the name is the item's type.
var wireRoles = [...]roleNames{
	rules.Grouped:  {system: "system", user: "user", assistant: "assistant", call: "assistant", result: "user"},
	rules.Contents: {system: "systemInstruction", user: "user", assistant: "model", call: "model", result: "user"},
	rules.OneEach:  {system: "system", user: "user", assistant: "assistant", call: "assistant", result: "tool"},
	rules.Flat:     {system: "system", user: "user", assistant: "assistant", call: "function_call", result: "function_call_output"},
}

// roleOf is the role of the first message that an item becomes, "" for a role that
// nobody knows.
func (names *roleNames) roleOf(it *session.Item) string {
	said := it.Text != 0 && !it.Flags.Has(session.BlankText)
	switch it.Role {
	case session.System:
		return names.system
	case session.User:
		if len(it.Results) > 0 {
			return names.result
		}
		return names.user
	case session.Assistant:
		if len(it.Calls) > 0 && !said {
			return names.call
		}
		return names.assistant
	case session.Tool:
		return names.result
	}
	return ""
}

// otherLabel words an item that no model ever sees: what kind it is, and the
// text of its record if that has one. Error and termination items of docker
// agent hold a message or a reason.
func otherLabel(s *session.Session, i int) (label, text string) {
	for _, f := range s.Faults {
		if f.Item != i {
			continue
		}
		switch f.Kind {
		case session.UnknownKind:
			return "an item of unknown kind " + f.Field, ""
		case session.Undecodable:
			return "a record that cannot be decoded: " + f.Detail, ""
		}
	}
	var record struct {
		Message string `json:"message"`
		Code    string `json:"code"`
		Reason  string `json:"reason"`
	}
	if body := s.Items[i].Body; body != nil {
		_ = json.Unmarshal(body.Raw, &record, lenient) // another form has no text to show
	}
	switch {
	case record.Reason != "":
		return "the run was ended: " + strings.ReplaceAll(record.Reason, "_", " "), record.Message
	case record.Code != "":
		return "the run failed: " + strings.ReplaceAll(record.Code, "_", " "), record.Message
	case record.Message != "":
		return "the run failed", record.Message
	case rules.HidesMessages(s):
		return "an encrypted message", ""
	}
	return "a record that is not sent to a model", ""
}

// lenient reads what a runtime's own reader would read too.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// A sub-session with more rows than foldFrom is shown by its first rows and its
// last one, and by those that a finding or a leak marks.
const (
	foldFrom = 10
	foldHead = 4
)

// Piece is a row, or a number of items that are left out.
type Piece struct {
	Row    *Row // nil for what is left out
	Hidden int  // items left out
}

// Pieces are what is shown of the session: all rows but those folded into a
// call, and in a short view of a sub-session only the telling ones.
func (s *Session) Pieces(short bool) []Piece {
	shown := 0
	for i := range s.Rows {
		if !s.Rows[i].Folded {
			shown++
		}
	}
	short = short && shown > foldFrom
	var list []Piece
	n := 0
	for i := range s.Rows {
		row := &s.Rows[i]
		if row.Folded {
			if last := len(list) - 1; last >= 0 && list[last].Row == nil {
				list[last].Hidden++
			}
			continue
		}
		n++
		if !short || n <= foldHead || n == shown || row.isTelling() {
			list = append(list, Piece{Row: row})
			continue
		}
		if list[len(list)-1].Row != nil {
			list = append(list, Piece{})
		}
		list[len(list)-1].Hidden++
	}
	return list
}

// isTelling reports whether something is to be seen at the row or below it.
func (r *Row) isTelling() bool {
	if r.Mark() != "" {
		return true
	}
	if r.Child == nil {
		return false
	}
	if r.Item < 0 || r.Child.Mark() != "" {
		return true
	}
	for i := range r.Child.Rows {
		if r.Child.Rows[i].isTelling() {
			return true
		}
	}
	return false
}

// noteFindings puts a note at every item that a finding names, and at every
// leaked one.
func (b *builder) noteFindings() {
	leaks := map[session.Place]*replay.Delegation{}
	for _, rs := range b.trace.Sessions {
		for _, d := range rs.Delegations {
			for _, l := range d.Leaked {
				at := rs.Session.ItemPlace(l.Item)
				leaks[at] = d
				b.notes[at] = []Note{{Text: leakText(l)}}
			}
		}
	}
	for _, f := range b.in.Findings {
		if f.Session == "" {
			continue
		}
		if len(f.Items) == 0 {
			b.addNote(session.Place{Session: f.Session, Item: -1}, f)
		}
		for _, i := range f.Items {
			at := session.Place{Session: f.Session, Item: i}
			if d := leaks[at]; d != nil && isLeak(f, d) {
				b.notes[at][0].Rule, b.notes[at][0].Severity = f.Rule.ID, f.Severity
				continue
			}
			b.addNote(at, f)
		}
	}
}

// addNote adds a finding's note; a rule that names a place for several calls is
// noted once.
func (b *builder) addNote(at session.Place, f *check.Finding) {
	n := Note{Rule: f.Rule.ID, Severity: f.Severity, Text: f.Rule.Name}
	b.notes[at] = lists.AppendNew(b.notes[at], n)
}

// isLeak reports whether the finding is about the whole leak of a delegation.
func isLeak(f *check.Finding, d *replay.Delegation) bool {
	return f.Call == d.Call().ID && f.Item == d.Leaked[0].Item && len(f.Items) == len(d.Leaked)
}

// leakText says where a leaked item belongs.
func leakText(l replay.Leaked) string {
	switch {
	case l.Twin != nil:
		return fmt.Sprintf("leaked from sub-session %s (item %d), depth %d", rules.ShortID(l.Twin.Session.ID), l.Twin.Item, l.Frame.Depth())
	case l.Undecidable:
		return fmt.Sprintf("leaked or the caller's own (it has the caller's name and no copy), depth %d", l.Frame.Depth())
	}
	return fmt.Sprintf("leaked, only copy, depth %d", l.Frame.Depth())
}

// Mark is the sign at the left of a row: "!" where something is wrong, "i"
// where something is worth knowing, else "".
func (r *Row) Mark() string {
	if r.Marked || r.Depth > 0 {
		return "!"
	}
	return markOf(r.Notes)
}

// Mark is the sign of what findings say about the session itself.
func (s *Session) Mark() string { return markOf(s.Notes) }

func markOf(notes []Note) string {
	mark := ""
	for _, n := range notes {
		switch {
		case n.Rule == "":
		case n.Severity > rules.Info:
			return "!"
		default:
			mark = "i"
		}
	}
	return mark
}

// Rules are the rules that name the row, each once, in the order of the report.
func (r *Row) Rules() []string { return rulesOf(r.Notes) }

func rulesOf(notes []Note) []string {
	var ids []string
	for _, n := range notes {
		if n.Rule != "" {
			ids = lists.AppendNew(ids, n.Rule)
		}
	}
	return ids
}

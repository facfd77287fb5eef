package dockeragent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// columnItem is one entry of the legacy messages column (docs/stores/docker-agent.md#what-is-read): a wrapped
// message, a nested sub-session, a summary, or (before v0.5.0) a bare message.
type columnItem struct {
	Message *struct {
		AgentName  string          `json:"agentName"`
		AgentName2 string          `json:"agent_name"` // later exports
		Message    json.RawMessage `json:"message"`
		Implicit   bool            `json:"implicit"`
	} `json:"message"`
	SubSession  *columnSession  `json:"sub_session"`
	Summary     string          `json:"summary"`
	Error       json.RawMessage `json:"error"` // of an agent, in exports and events since 2026-06-26
	Termination json.RawMessage `json:"termination"`
	Role        string          `json:"role"` // only of a bare message
}

// oldForm are the versions that show the old form as an empty session (docker/docker-agent#1086,
// fixed in v1.18.5 and dropped again by v1.20.0).
const oldForm = "it has the form that docker agent wrote before v0.5.0; v0.5.0 to v1.18.4 and v1.20.0 or later show the session empty"

// parseEntry decodes an entry. old: it is what docker agent wrote before v0.5.0, a message
// without the wrapper, alone or with its agent.
func parseEntry(data []byte) (entry columnItem, old bool, err error) {
	err = json.Unmarshal(data, &entry)
	if err != nil || entry.Message == nil || entry.Message.Message != nil {
		return entry, entry.Role != "", err
	}
	var bare struct {
		AgentName string          `json:"agentName"`
		Message   json.RawMessage `json:"message"`
	}
	var said struct {
		Role string `json:"role"`
	}
	if json.Unmarshal(data, &bare) == nil && json.Unmarshal(bare.Message, &said) == nil && said.Role != "" {
		entry.Message.AgentName, entry.Message.Message, old = bare.AgentName, bare.Message, true
	}
	return entry, old, nil
}

type columnSession struct {
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	CreatedAt time.Time         `json:"created_at"`
	Messages  []json.RawMessage `json:"messages"`
}

// columnField is the field of faults of the column.
const columnField = "the messages column"

// nestedMessages leads from an entry of the column to those of its sub-session.
const nestedMessages = "/sub_session/messages"

// readColumn reads the legacy column of the sessions that have no rows in the
// item table, as the reader does; before migration 014 those are all. With deep
// it also compares the others' counts.
func (st *agentStore) readColumn(ctx context.Context, deep bool) error {
	if !st.schema.hasMessagesColumn() {
		return nil
	}
	p := newPart(tableColumn)
	st.parts = append(st.parts, p)
	for _, s := range slices.Clone(st.sessions) { // nested sub-sessions are appended meanwhile
		number := st.numbers[s.ID]
		items := st.countItems(number)
		if items > 0 && !deep {
			continue
		}
		text, err := st.readMessagesColumn(ctx, s.ID)
		if sqlite.IsCorrupt(err) {
			st.reportDamagedColumn(s)
			continue
		}
		if err != nil {
			return err
		}
		if len(text) == 0 || string(text) == "[]" {
			continue
		}
		if st.lacks != nil {
			st.lookInto(number, 0, text)
		}
		if items > 0 {
			compareColumn(s, text, items)
			continue
		}
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			s.Faults = append(s.Faults, session.Fault{
				Kind: session.Undecodable, Item: -1, Ref: s.Ref(), Field: columnField, Detail: err.Error(), Lost: true,
			})
			continue
		}
		st.addColumn(p, number, s.ID, "", list)
	}
	return nil
}

// compareColumn reports a column with more entries than the item table has rows.
// One that does not parse is no copy of anything.
func compareColumn(s *session.Session, text []byte, items int) {
	if entries, ok := countEntries(text); ok && entries > items {
		s.Faults = append(s.Faults, session.Fault{
			Kind: session.LegacyFuller, Item: -1, Ref: s.Ref(), Field: "messages", Count: entries - items,
			Detail: fmt.Sprintf("the messages column holds %d items, the item table only %d: the next upgrade would delete the fuller copy",
				entries, items),
		})
	}
}

// countEntries counts how many elements an array has, whatever comes behind it.
func countEntries(text []byte) (n int, ok bool) {
	scanner := jsonscan.NewScanner(text)
	each := func() bool {
		n++
		_, ok := scanner.ReadValue()
		return ok
	}
	if scanner.VisitElements(each) {
		return n, true
	}
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil || d.StackDepth() != 1 {
		return 0, false
	}
	for n = 0; d.PeekKind() != ']'; n++ {
		if d.SkipValue() != nil {
			return 0, false
		}
	}
	return n, true
}

// reportDamagedColumn reports that the column of a session cannot be read, unless the
// whole row is reported already.
func (st *agentStore) reportDamagedColumn(s *session.Session) {
	if !slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.StoreDamaged }) {
		s.Faults = append(s.Faults, session.Fault{
			Kind: session.StoreDamaged, Item: -1, Ref: s.Ref(),
			Detail: "the messages column of the session cannot be read: it is on a damaged page of the file",
		})
	}
}

// countItems counts the number of rows that the item table has for a session.
func (st *agentStore) countItems(number uint32) int {
	n := 0
	for _, p := range st.parts {
		n += p.log.Count(number)
	}
	return n
}

// readMessagesColumn reads the messages column of a session. It is sought by row: an index
// can be damaged, and an id can be NULL or a blob, which no text is equal to.
func (st *agentStore) readMessagesColumn(ctx context.Context, id string) (text []byte, err error) {
	err = st.db.QueryRow(ctx, "select messages from sessions where "+st.schema.rowid[tableSessions]+" = ?", st.rowids[id]).Scan(&text)
	return text, err
}

// addColumn adds the entries of a list in the column of the session owner;
// pointer leads to the list. Keys are "OWNER#/POINTER", so that the bytes can
// be found again.
func (st *agentStore) addColumn(p *part, number uint32, owner, pointer string, list []json.RawMessage) {
	passed := 0 // entries of the old form
	for i, data := range list {
		at := fmt.Sprintf("%s/%d", pointer, i)
		it := p.startItem(owner+"#"+at, int64(i))
		fault := func(kind session.FaultKind, field, detail string, fallback *string) {
			ref := session.Ref{Table: p.table, Key: owner + "#" + at}
			p.faults[number] = append(p.faults[number], session.Fault{Kind: kind, Ref: ref, Field: field, Detail: detail, Default: fallback})
		}
		entry, old, err := parseEntry(data)
		if old {
			passed++
		}
		switch {
		case err != nil && !strings.Contains(string(data), `"role"`):
			it.Kind = session.Other
			fault(session.Undecodable, columnField, err.Error(), nil)
		case entry.Message != nil:
			agent := entry.Message.AgentName
			if agent == "" {
				agent = entry.Message.AgentName2
			}
			p.decodeMessageItem(number, p.internName([]byte(agent)), entry.Message.Implicit, entry.Message.Message, fault)
		case entry.SubSession != nil:
			it.Kind, it.Shared.Child = session.SubSession, entry.SubSession.ID
			p.references[number] = append(p.references[number], reference{int64(i), int64(i), it.Child()})
			st.addNested(p, number, owner, at, entry.SubSession)
			it = p.startItem(owner+"#"+at, int64(i)) // the nested items used it
			it.Kind, it.Shared.Child = session.SubSession, entry.SubSession.ID
		case entry.Summary != "":
			it.Kind, it.Text = session.Summary, session.DigestOf(entry.Summary)
		case len(entry.Error)+len(entry.Termination) > 0:
			it.Kind = session.Other
		case entry.Role != "":
			p.decodeMessageItem(number, "", false, data, fault)
		default:
			it.Kind, it.Flags = session.Other, session.Skipped
			fault(session.UnknownKind, "entry without message, sub_session and summary", "", nil)
		}
		p.log.AddItem(number, it)
	}
	if passed > 0 {
		s := st.stored[number]
		s.Faults = append(s.Faults, session.Fault{
			Kind: session.Undecodable, Item: -1, Ref: s.Ref(), Field: columnField, Count: passed, Detail: oldForm, Passed: true,
		})
	}
}

// addNested adds a nested sub-session; one that is also stored as a row of its
// own (v1.13.0 to v1.19.1, 4.1) is that row, and only a reference here.
func (st *agentStore) addNested(p *part, parent uint32, owner, at string, nested *columnSession) {
	if nested.ID == "" {
		nested.ID = owner + "#" + at
	}
	if st.findSession(nested.ID) != nil {
		return
	}
	st.addSession(&session.Session{
		ID: nested.ID, Parent: st.stored[parent].ID, Title: nested.Title, Created: nested.CreatedAt,
	}, 0)
	st.addColumn(p, st.numbers[nested.ID], owner, at+nestedMessages, nested.Messages)
}

// DecodeNested reads the JSON of a sub-session as docker agent writes it into an event
// (docs/stores/docker-agent.md#what-is-read): in the form of the old column (docs/stores/docker-agent.md#what-is-read), with the sub-sessions below it. The
// tree has bodies, and its items say what rows with the same messages would.
// Their table is "sub_session", their keys lead into the JSON. The root has no
// Parent: the JSON does not name it. Nothing of data is kept.
func DecodeNested(data []byte) (*session.Tree, error) {
	var root columnSession
	if err := json.Unmarshal(data, &root); err != nil {
		return nil, explainUnfit(err)
	}
	if root.ID == "" {
		return nil, errors.New("it has no id")
	}
	p := newPart(tableNested)
	st := &agentStore{numbers: map[string]uint32{}, costs: map[string]float64{}, parts: []*part{p}}
	st.addSession(&session.Session{ID: root.ID, Title: root.Title, Created: root.CreatedAt}, 0)
	st.addColumn(p, st.numbers[root.ID], root.ID, "", root.Messages)
	st.groupTrees()
	tree := st.copyWithItems(st.trees[0])
	for _, s := range tree.Sessions {
		s.Created = s.Created.Truncate(time.Second) // as the sessions table keeps it
	}
	f := filler{st: st, lists: map[string][]json.RawMessage{root.ID + "#": root.Messages}}
	for _, s := range tree.Sessions {
		if err := f.fillItem(s); err != nil {
			return nil, explainUnfit(err)
		}
	}
	return tree, nil
}

// explainUnfit says without names of Go types which value does not fit.
func explainUnfit(err error) error {
	var unfit *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &unfit):
		return err
	case unfit.Field == "":
		return fmt.Errorf("it is a JSON %s instead of a session", unfit.Value)
	}
	return fmt.Errorf("its %s is a JSON %s, which docker agent cannot read", unfit.Field, unfit.Value)
}

// marker is the value of the key "sessctl" in the messages that a repair
// writes. docker agent passes over keys that it does not know.
const marker = `{"synthetic":true}`

// newMessage is a message that a repair writes. The order of the fields is that
// of docker agent's keys (docs/stores/docker-agent.md#what-is-read), and encoding/json encodes as it does.
type newMessage struct {
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
	IsError    bool            `json:"is_error,omitempty"`
	CreatedAt  string          `json:"created_at,omitempty"`
	Marker     json.RawMessage `json:"sessctl"`
}

// composeMessage composes the record of a new message or result, whose body is complete.
func composeMessage(it *session.Item) ([]byte, error) {
	m := newMessage{Role: it.Role.String(), CreatedAt: formatTime(it.Time), Marker: json.RawMessage(marker)}
	switch {
	case it.Kind != session.Message || it.Role == session.Assistant || it.Role == session.NoRole || len(it.Calls) > 0:
		return nil, problem.New(problem.RolledBack, "", "sessctl cannot add an item of kind %s and role %q to a docker agent store", it.Kind, it.Role)
	case it.Role == session.Tool && len(it.Results) != 1:
		return nil, problem.New(problem.RolledBack, "", "a tool message of docker agent holds one result, not %d", len(it.Results))
	case it.Role == session.Tool:
		r := &it.Results[0]
		m.Content, m.ToolCallID, m.IsError = r.Text, r.CallID, r.IsError
	case it.Body != nil:
		m.Content = it.Body.Text
	}
	return json.Marshal(m)
}

// formatTime formats a time as docker agent writes it, "" for none.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

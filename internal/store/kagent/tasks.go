package kagent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// task is a row of the table of tasks: the record of one request (docs/stores/kagent.md#what-is-read).
type task struct {
	session string
	owner   string // the user by its column, "" without such a column
	named   string // the user by the metadata
	version string // of A2A, "" before 1.0
	deleted bool
	wrong   string // why it does not decode, "" when it does
	run     session.Run
	at      table.Place
	sum     [sha256.Size]byte
}

// a2aTask is the document of a task, in both shapes.
type a2aTask struct {
	Status struct {
		State   string     `json:"state"`
		Message a2aMessage `json:"message"`
	} `json:"status"`
	History   []a2aMessage  `json:"history"`
	Artifacts []a2aArtifact `json:"artifacts"`
	Metadata  a2aDetails    `json:"metadata"`
}

type a2aArtifact struct {
	Parts    []a2aPart  `json:"parts"`
	Metadata a2aDetails `json:"metadata"`
}

// readTasks reads the tasks of some sessions, of all for nil, of which it keeps little, and
// the children that calls in them are stamped with.
func (r *reader) readTasks(ctx context.Context, db table.Reader, of [][]table.Value) error {
	names := r.Columns(tableTasks)
	if !r.HasColumns(tableTasks, "id", "session_id", "data") {
		return nil
	}
	rows, read := table.Selection{Table: tableTasks, Columns: names}, map[string][]task{}
	for _, key := range of {
		id := column.Text(key[1])
		delete(r.tasks, id)
		delete(r.stamps, id)
		rows.Key, rows.Keys = []string{"session_id"}, append(rows.Keys, key[1:])
	}
	var row []byte
	lost, err := db.Scan(ctx, rows, func(at table.Place, values []table.Value) error {
		t := r.decodeTask(func(column string) any {
			if i := slices.Index(names, column); i >= 0 {
				return values[i]
			}
			return nil
		})
		row = row[:0]
		for _, v := range values {
			row = table.AppendExactly(row, v)
		}
		t.at, t.sum = at, sha256.Sum256(row)
		read[t.session] = append(read[t.session], t)
		return nil
	})
	if of == nil {
		r.lost = lost
	}
	for id, list := range read { // in the order in which they came
		slices.SortFunc(list, func(a, b task) int { return cmp.Or(a.run.Began.Compare(b.run.Began), cmp.Compare(a.at, b.at)) })
		r.tasks[id] = list
	}
	return err
}

// decodeTask reads a row.
func (r *reader) decodeTask(row columns) task {
	t := task{
		session: column.Text(row("session_id")), owner: column.Text(row("user_id")), version: column.Text(row("protocol_version")), deleted: row("deleted_at") != nil,
		run: session.Run{ID: column.Text(row("id")), Open: true},
	}
	t.run.Began = times.Read(row("created_at")).Time
	t.run.Ended = times.Read(row("updated_at")).Time
	var doc a2aTask
	data, _ := unwrapDocument(column.Bytes(row("data")))
	if err := jsonscan.Go.Unmarshal(data, &doc); err != nil {
		t.wrong = explainError(err)
		return t
	}
	t.run.State, t.run.Open = doc.Status.State, isOpen(doc.Status.State)
	t.run.Invocation, t.named = doc.findDetail("invocation_id"), doc.findDetail("user_id")
	if len(doc.History) > 0 {
		t.run.Asked = session.DigestOf(doc.History[0].messageText())
	}
	t.run.Answered = session.DigestOf(doc.answerText())
	t.run.Ends = givenUp(doc.Status.State)
	delete(r.questions, t.run.ID)
	if !t.deleted {
		r.readStamps(t.session, &doc)
		if t.run.Ends != "" {
			r.noteQuestions(t.run.ID, &doc.Status.Message)
		}
	}
	return t
}

// findDetail finds a detail of the messages, the artifacts or the task. That of the request
// comes first: the task itself has that of the run that came last, which after an
// approval can be another one (b2, c2).
func (t *a2aTask) findDetail(name string) string {
	for i := range t.History {
		if value := t.History[i].Metadata.detailNamed(name); value != "" {
			return value
		}
	}
	for i := range t.Artifacts {
		if value := t.Artifacts[i].Metadata.detailNamed(name); value != "" {
			return value
		}
	}
	return cmp.Or(t.Status.Message.Metadata.detailNamed(name), t.Metadata.detailNamed(name))
}

// answerText is what a caller gets of the task: the texts of its artifacts, or else that of
// its last message (_remote_a2a_tool.py of kagent-adk since v0.8).
func (t *a2aTask) answerText() string {
	var parts []a2aPart
	for i := range t.Artifacts {
		parts = append(parts, t.Artifacts[i].Parts...)
	}
	return cmp.Or(joinTexts(parts), t.Status.Message.messageText())
}

// digestTasks digests what the tasks of a session are: see eventlog.Layout.OtherTables. A task that
// names no user counts for all who have a session with its id.
func (r *reader) digestTasks(key []table.Value) []byte {
	user, id := column.Text(key[0]), column.Text(key[1])
	var sums []byte
	for _, t := range r.tasks[id] {
		if t.owner == "" || t.owner == user {
			sums = append(sums, t.sum[:]...)
		}
	}
	return sums
}

// ended are the states in which a task stays, in the words of A2A before 1.0.
var ended = []string{"completed", "canceled", "cancelled", "failed", "rejected"}

// isOpen reports whether a task is not at its end, as far as its state says.
func isOpen(state string) bool {
	state = strings.TrimPrefix(strings.ToLower(state), "task_state_")
	return !slices.Contains(ended, state)
}

// worksOn reports whether a state says that somebody is at work, and waits for nobody.
func worksOn(state string) bool {
	state = strings.TrimPrefix(strings.ToLower(state), "task_state_")
	return state == "working" || state == "submitted"
}

// givenUp is the state of a task that waits for a person whom nobody asks any more, "" of a
// task that does not wait. Tasks of A2A 1.0 spell it in another way (b2).
func givenUp(state string) string {
	short, newer := strings.CutPrefix(strings.ToLower(state), "task_state_")
	switch strings.ReplaceAll(short, "_", "-") {
	case "input-required", "auth-required":
		if newer {
			return "TASK_STATE_CANCELED"
		}
		return "canceled"
	}
	return ""
}

// noteQuestions notes the calls that the message of a waiting task asks a person about: an
// executor that stops before it stores the event with the question leaves it only there
// (kagent-dev/kagent#2731).
func (r *reader) noteQuestions(task string, m *a2aMessage) {
	var n note
	for i := range m.Parts {
		if kind, call := m.Parts[i].decodeTool(); kind == "function_call" && call.Name == confirmation {
			n.readConfirmation(call.ID, call.Args)
		}
	}
	if n.about != nil {
		r.questions[task] = slices.Collect(maps.Values(n.about))
	}
}

// readStamps reads the children that the parts of a task are stamped with. Whoever
// wrote them knew the tool only, so that they are evidence and no more (b3, link 2).
func (r *reader) readStamps(in string, t *a2aTask) {
	read := func(parts []a2aPart) {
		for i := range parts {
			child := parts[i].Metadata.detailNamed("subagent_session_id")
			if kind, call := parts[i].decodeTool(); child != "" && kind == "function_call" && call.ID != "" {
				if r.stamps[in] == nil {
					r.stamps[in] = map[string]string{}
				}
				r.stamps[in][call.ID] = child
			}
		}
	}
	for i := range t.History {
		read(t.History[i].Parts)
	}
	for i := range t.Artifacts {
		read(t.Artifacts[i].Parts)
	}
	read(t.Status.Message.Parts)
}

// runsOf are the tasks of a session, those of which nobody knows whose they are left
// out: before 0.10 tasks name no user (K7).
func (r *reader) runsOf(key sessionKey) []session.Run {
	var runs []session.Run
	for i := range r.tasks[key.id] {
		if t := &r.tasks[key.id][i]; !t.deleted && r.ownerOf(t, key) == key.user {
			runs = append(runs, t.run)
		}
	}
	return runs
}

// ownerOf is the user whose task it is: the one that it names, or the only one who has
// a session with its id. "" when several have, and it does not say; key is one of
// these sessions.
func (r *reader) ownerOf(t *task, key sessionKey) string {
	switch {
	case t.owner != "":
		return t.owner
	case len(r.otherUsers(key)) == 0:
		return key.user
	}
	return t.named
}

// claimTasks gives a session the tasks without an owner whose invocations are in it.
func (r *reader) claimTasks(s *session.Session, key sessionKey) {
	if len(r.otherUsers(key)) == 0 {
		return
	}
	here := map[string]bool{}
	for i := range s.Items {
		here[s.Items[i].Invocation()] = true
	}
	s.Runs = slices.Clone(s.Runs)
	for i := range r.tasks[key.id] {
		t := &r.tasks[key.id][i]
		if !t.deleted && r.ownerOf(t, key) == "" && t.run.Invocation != "" && here[t.run.Invocation] {
			s.Runs = append(s.Runs, t.run)
		}
	}
	slices.SortStableFunc(s.Runs, func(a, b session.Run) int { return a.Began.Compare(b.Began) })
}

// wrapper is a row of the package for the OpenAI Agents SDK: what the SDK gave its
// session to keep at once, as input items of the Responses API (docs/stores/kagent.md#what-is-read).
type wrapper struct {
	Items []inputItem `json:"items"`
}

type inputItem struct {
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	ID        string         `json:"id"`
	Content   jsontext.Value `json:"content"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments string         `json:"arguments"`
	Output    jsontext.Value `json:"output"`
	Summary   jsontext.Value `json:"summary"`
}

// decodeResponses makes one item of a row, although the row can hold several turns:
// calls with their results, and the answer behind them. It speaks for the model where
// the model said anything, so that results stand within a message of it, which is
// what their row is.
func decodeResponses(doc []byte, it *session.Item) []session.Fault {
	var w wrapper
	if err := jsonscan.Go.Unmarshal(doc, &w); err != nil {
		makeOther(it, doc)
		return []session.Fault{{Kind: session.Undecodable, Field: "data", Detail: explainError(err), Whole: jsonedit.IsWhole(doc)}}
	}
	var faults []session.Fault
	s := speech{it: it}
	asks, answers := false, false
	for i := range w.Items {
		in := &w.Items[i]
		switch {
		case in.Type == "function_call":
			s.addCall(session.Call{ID: in.CallID, Name: in.Name, Args: in.Arguments}, in.ID)
			answers = true
		case in.Type == "function_call_output":
			s.addResult(session.Result{CallID: in.CallID, Text: textIn(in.Output)})
			s.addFiles(in.Output, len(it.Results))
		case in.Type == "reasoning":
			s.addReasoning(textIn(in.Summary), in.ID)
			answers = true
		case in.Role != "":
			s.addText(textIn(in.Content), in.ID)
			s.addFiles(in.Content, 0)
			asks, answers = asks || in.Role != "assistant", answers || in.Role == "assistant"
		default:
			s.addBlock(session.Block{Kind: session.UnknownBlock, Name: in.Type, ID: in.ID}, in.Output)
			answers = true
		}
	}
	role := session.Tool
	switch {
	case len(w.Items) == 0:
		makeOther(it, doc)
		return faults
	case answers:
		role = session.Assistant
	case asks:
		role = session.ParseRole(w.Items[0].Role)
	}
	s.finishMessage(role)
	return faults
}

// textIn is the text of a content: a string, or a list of parts with texts.
func textIn(v jsontext.Value) string {
	if v.Kind() != jsontext.KindBeginArray {
		return stringOf(v)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if jsonscan.Go.Unmarshal(v, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

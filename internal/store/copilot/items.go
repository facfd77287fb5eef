package copilot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

const tableLines = session.TableLines

// reader makes items of lines.
type reader struct {
	*log
	source *filelog.Log
	name   string // of the file
	text   *filelog.Window
	body   bool
	title  string
	writer session.Writer
	kept   []keptLine
	used   map[string]int // how many items a key has
}

// beginSession begins the session of an agent, without items.
func (r *reader) beginSession(a int32) *session.Session {
	s := &session.Session{ID: r.sessionID(a), Title: r.title, Writer: r.writer, CallOrder: true}
	if a > 0 {
		of := &r.agents[a]
		s.Parent, s.Delegated, s.Title, s.Agent = r.sessionID(r.parentOf(a)), true, of.title, of.name
	}
	return s
}

// placeStep is how far apart the positions of lines are: what is sent elsewhere stands between.
const placeStep = 1 << 20

// readItems reads those of a session, and its faults.
func (r *reader) readItems(p *part, a int32) error {
	list := r.arrangeLines(a)
	p.Items = make([]session.Item, len(list))
	last, least := int64(0), make([]int, len(list)+1) // least are the first lines that come later
	least[len(list)] = len(r.nodes)
	for at := range slices.Backward(list) {
		least[at] = min(least[at+1], list[at])
	}
	for at, i := range list {
		text, err := r.text.Line(r.nodes[i].Span)
		if err != nil {
			return err
		}
		it := &p.Items[at]
		r.readItem(it, i, text)
		if it.Position = last + 1; least[at+1] > i { // else it is sent before its place
			it.Position = max(it.Position, int64(r.nodes[i].number)*placeStep)
		}
		last = it.Position
		p.lines[it.Key] = i
		if home := r.nodes[i].home; home != a && r.nodes[i].kind.isSent() {
			it.Home = r.sessionID(home)
		}
		r.tellLine(p.Session, at, i, text)
		spreadTimes(p.Session, it.Time)
		if p.Delegated && p.Task == 0 && it.Role == session.User {
			p.Task = it.Text
		}
	}
	r.tellLines(p.Session, a)
	return nil
}

// spreadTimes lets the times of a session reach to another one.
func spreadTimes(s *session.Session, at time.Time) {
	if !at.IsZero() && (s.Created.IsZero() || at.Before(s.Created)) {
		s.Created = at
	}
	if at.After(s.Updated) {
		s.Updated = at
	}
}

// readItem makes an item of a line.
func (r *reader) readItem(it *session.Item, i int, raw []byte) {
	n, text := &r.nodes[i], mended(raw, r.mends[i])
	it.Table, it.Key, it.Passed = tableLines, r.itemKey(n, text), n.passed || n.hidden
	if r.body {
		it.Body = &session.Body{Raw: bytes.Clone(raw)}
	}
	if n.kind == unread {
		it.Kind = session.Other
		return
	}
	e, _ := parseEvent(text)
	it.Time, _ = time.Parse(time.RFC3339Nano, textOf(e.Time))
	said, thought := e.text("content"), ""
	switch n.kind {
	case prompt, notice:
		it.Role, it.Note = session.User, n.kind == notice
	case answer:
		it.Role, it.Model, thought = session.Assistant, e.text("model"), e.text("reasoningText")
		for _, c := range e.requests() {
			it.Calls = append(it.Calls, r.readCall(&c))
			it.Size += int64(len(c.Args))
		}
	case summary:
		it.Kind, it.Role, said = session.Summary, session.User, e.text("summaryContent")
	case result:
		it.Role = session.Tool
		answer, failed := e.answerText()
		if said = ""; n.stale {
			it.Flags |= session.Unshown
		}
		it.Results = []session.Result{{
			CallID: e.text("toolCallId"), Text: answer, Digest: session.DigestOf(answer), IsError: failed, Synthetic: session.IsPlaceholder(answer),
		}}
		if it.Size = int64(len(answer)); strings.HasPrefix(answer, session.SyntheticPrefix) {
			it.Flags |= session.Synthetic
		}
	}
	r.finishItem(it, said, thought)
}

// finishItem sets what follows from what an item says.
func (r *reader) finishItem(it *session.Item, said, thought string) {
	var meaning session.Meaning
	meaning.Reset(it.Role, "")
	for _, text := range []string{said, thought} {
		meaning.AddDigest(session.DigestOf(text))
	}
	for _, c := range it.Calls {
		for _, text := range []string{c.ID, c.Name, c.Args} {
			meaning.AddDigest(session.DigestOf(text))
		}
	}
	it.Text = session.DigestOf(said)
	for _, res := range it.Results {
		meaning.AddDigest(session.DigestOf(res.CallID))
		meaning.AddDigest(res.Digest)
		it.Text = res.Digest
	}
	it.Meaning, it.Size = meaning.Digest(), it.Size+int64(len(said)+len(thought))
	if it.Role != session.Tool {
		it.Flags |= session.TextFlags(said)
		if strings.TrimSpace(said) == "" && len(it.Calls) == 0 {
			it.Flags |= session.Blank
		}
	}
	if !r.body {
		it.DropTexts()
		return
	}
	it.Body.Text, it.Body.Reasoning = said, thought
}

// readCall reads a call. Those that start a sub-agent say whose session that is.
func (r *reader) readCall(of *request) session.Call {
	c := session.Call{ID: of.ID, Name: of.Name, Args: string(of.Args), Form: session.FormOf(string(of.Args))}
	if of.Name == "task" {
		c.Delegation = session.DelegationFor(c.Name, c.Args)
		c.Delegation.Agent, c.Delegation.Blocking, c.Delegation.Apart = textOf(membersOf(of.Args)["agent_type"]), r.tasks[r.Name(of.ID)].ends, true
		if a, started := r.starts[r.Name(of.ID)]; started {
			c.Delegation.Child = r.sessionID(a)
		}
	}
	return c
}

// itemKey names an item by the identifier of its line; one that has none by what it says.
func (r *reader) itemKey(n *node, text []byte) string {
	key := r.session + ":" + r.Text(n.id)
	if n.id == 0 || n.kind == unread {
		key = fmt.Sprintf("%s:%.6x", r.session, sha256.Sum256(text))
	}
	if r.used[key]++; r.used[key] > 1 {
		key += fmt.Sprintf("-%d", r.used[key])
	}
	return key
}

// nameLine names a line in a fault, and what of it is meant. Several can stand on one.
func (l *log) nameLine(i int, pointer string) string {
	name := fmt.Sprintf("line %d", l.nodes[i].number)
	if i > 0 && l.nodes[i-1].number == l.nodes[i].number {
		name += fmt.Sprintf(" at byte %d", l.nodes[i].Offset)
	}
	return strings.TrimSpace(name + " " + pointer)
}

// tellLine tells of what is wrong with the line of an item.
func (r *reader) tellLine(s *session.Session, at, i int, text []byte) {
	n, add := &r.nodes[i], func(f session.Fault) {
		f.Item, f.Ref = at, s.ItemRef(at)
		s.Faults = append(s.Faults, f)
	}
	nothing := len(bytes.Trim(text, "\x00 ")) == 0
	switch {
	case n.kind == unread && n.open && !r.gone[i] && !nothing:
		add(session.Fault{Kind: session.TornLine, Harmless: true, Field: r.nameLine(i, ""), Detail: fmt.Sprintf("line %d, the last one, was cut off while it was written. Copilot CLI drops it when it resumes the session.", n.number)})
	case n.kind == unread && !r.gone[i]:
		add(session.Fault{Kind: session.Undecodable, Passed: true, Harmless: nothing, Field: r.nameLine(i, ""), Detail: r.wrong[i] + "; Copilot CLI drops the line when it resumes the session"})
	default:
		for _, f := range r.misfits(i) {
			add(f)
		}
	}
	if n.hidden && n.kind.isSent() {
		off := "false"
		add(session.Fault{
			Kind: session.HiddenRecord, Field: r.nameLine(i, "/ephemeral"), Default: &off, Harmless: n.in > 0,
			Detail: fmt.Sprintf("line %d is marked as ephemeral, so Copilot CLI does not send it to the model", n.number),
		})
	}
}

// misfits are the faults of a line that the runtime cannot load.
func (r *reader) misfits(i int) (list []session.Fault) {
	n := &r.nodes[i]
	tell := func(m *mend) session.Fault {
		return session.Fault{
			Kind: session.OutOfSchema, Unloads: true, Field: r.nameLine(i, m.pointer),
			Detail: fmt.Sprintf("line %d cannot be read (%s), so Copilot CLI does not load the session: Session file is corrupted (line %d: %s)", n.number, m.pointer, n.number, m.says),
		}
	}
	if r.gone[i] {
		return []session.Fault{tell(&mend{flaw: r.flaws[i][0]})}
	}
	for _, m := range r.mends[i] {
		f := tell(&m)
		if f.Default, f.Guess = m.value, m.guess; m.value == nil {
			f.Default = new("")
		}
		list = append(list, f)
	}
	return list
}

// tellLines tells of what is wrong with other lines of an agent, and with the file.
func (r *reader) tellLines(s *session.Session, a int32) {
	add := func(f session.Fault) {
		f.Item, f.Ref = -1, s.Ref()
		s.Faults = append(s.Faults, f)
	}
	lost, first := 0, 0
	ids := map[filelog.Name]bool{}
	for i := range r.nodes {
		ids[r.nodes[i].id] = true
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		if n.in == a && !n.kind.isSent() && n.kind != unread {
			for _, f := range r.misfits(i) {
				add(f)
			}
		}
		if n.kind != inner && n.parent != 0 && !ids[n.parent] {
			if lost++; lost == 1 {
				first = int(n.number)
			}
		}
	}
	if a > 0 {
		return
	}
	if lost > 0 {
		add(session.Fault{Kind: session.BrokenChain, Field: "parentId", Harmless: true, Detail: fmt.Sprintf("%d lines name one before them that does not exist, the first of them line %d: lines may have been lost there. Copilot CLI does not mind.", lost, first)})
	}
	if !r.began {
		add(session.Fault{Kind: session.OutOfSchema, Unloads: true, Field: "line 0", Default: new("session.start"), Detail: "the first line, session.start, is missing, so Copilot CLI does not load the session: Session file is corrupted or incompatible"})
	}
	r.tellRuns(add)
	r.tellKept(add)
}

// nameRun says which lines a run is.
func nameRun(r *filelog.Run) string {
	if r.Last == r.Number {
		return fmt.Sprintf("line %d", r.Number)
	}
	return fmt.Sprintf("lines %d to %d", r.Number, r.Last)
}

// tellRuns tells of lines that the runtime drops, although there are records in them. The session is
// read as a repair leaves it.
func (r *reader) tellRuns(add func(session.Fault)) {
	for _, run := range r.runs {
		name := nameRun(run)
		f := session.Fault{Kind: session.Undecodable, Field: name, Passed: true, Default: new("each record on its own line")}
		switch {
		case run.Joined:
			f.Detail, f.Remedy = "line ends stand within a record", "join what is one record in "+name
		case run.Records > 1:
			f.Detail, f.Remedy = fmt.Sprintf("%d records are within", run.Records), fmt.Sprintf("put the %d records of %s on lines of their own", run.Records, name)
		case len(run.Pieces) > 1:
			f.Detail, f.Remedy = "a whole record is beside what was cut off", "part the record on "+name+" from what was cut off"
		default:
			f.Detail, f.Remedy = "NUL bytes are beside a record, or in it", "take the NUL bytes out of "+name
		}
		for i := range r.nodes {
			if n := &r.nodes[i]; n.kind == result && n.Offset >= run.Offset && n.Offset < run.Offset+int64(run.Length) {
				f.Calls = append(f.Calls, r.Text(n.call))
			}
		}
		if len(f.Calls) > 0 {
			f.Detail += "; the results of these calls are there, and the model does not see them: " + strings.Join(f.Calls, ", ")
		}
		f.Detail += ". Copilot CLI drops them when it resumes the session, so repair it before"
		add(f)
	}
}

// keptLine is a line of a backup that the runtime made before it dropped lines of the file.
type keptLine struct {
	file   string
	number int64
	call   string // whose result it is
	text   string
	answer string
	failed bool
}

// readKept reads the lines of backups that a file has not.
func (c *copilot) readKept(ctx context.Context, name string, l *log) (list []keptLine) {
	backups, _ := fs.Glob(c.root.FS(), path.Join(path.Dir(name), path.Base(name)+".backup-before-recovery-*")) // its one error is a bad pattern
	for _, backup := range backups {
		file, err := filelog.Open(c.root, backup)
		if err != nil {
			continue
		}
		is := func(text []byte) bool { e, ok := parseEvent(text); return ok && len(e.ID)*len(e.Data) > 0 }
		for at, err := range file.Records(ctx, is) {
			e, ok := parseEvent(at.Text)
			if err != nil || !ok || at.Err != nil || l.Known(textOf(e.ID)) && l.hasLine(l.Name(textOf(e.ID))) {
				continue
			}
			k := keptLine{file: path.Base(backup), number: at.Number, text: string(at.Text)}
			if kinds[e.Type] == result && len(e.checkEvent()) == 0 {
				k.call = e.text("toolCallId")
				k.answer, k.failed = e.answerText()
			}
			list = append(list, k)
		}
		_ = file.Close()
	}
	return list
}

// tellKept tells of them, and gives the results to their calls.
func (r *reader) tellKept(add func(session.Fault)) {
	for _, k := range r.kept {
		f := session.Fault{Kind: session.KeptBeside, Field: fmt.Sprintf("%s line %d", k.file, k.number), Detail: fmt.Sprintf("line %d of %s is not in events.jsonl: Copilot CLI dropped it when it resumed the session", k.number, k.file)}
		if k.call != "" {
			f.Calls, f.Default, f.Failed = []string{k.call}, &k.answer, k.failed
			f.Detail += ". It holds the result of call " + k.call
		}
		add(f)
	}
}

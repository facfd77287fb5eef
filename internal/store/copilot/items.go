package copilot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/logstore"
)

// reader makes items of lines.
type reader struct {
	*log
	file   *logstore.File
	kept   []keptLine
	at     map[string]int // the lines of items, by their keys
	places map[string]int // the lines of faults, by their fields
}

// readFile reads a file, nil where nothing is in it.
func readFile(ctx context.Context, f *logstore.File) (logstore.Reading, error) {
	l, err := readLog(ctx, f.Log, f.ID)
	if err != nil || len(l.nodes) == 0 {
		return nil, err
	}
	l.settleOwners()
	r := &reader{log: l, file: f, at: map[string]int{}, places: map[string]int{}}
	if f.Root != nil {
		r.readKept(ctx)
	}
	return r, nil
}

// Parts implements logstore.Reading.
func (r *reader) Parts() (parts []*logstore.Part, err error) {
	for a := range r.agents {
		of := &r.agents[a]
		s := &session.Session{ID: r.sessionID(int32(a)), Writer: r.file.Writer, CallOrder: true}
		if a > 0 {
			s.Parent, s.Delegated, s.Title, s.Agent = r.sessionID(r.parentOf(int32(a))), true, of.title, of.name
		} else {
			s.Title = titleOf(r.file)
		}
		p := &logstore.Part{Session: s, Lines: map[string]filelog.Span{}}
		if err := r.readItems(p, int32(a)); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// placeStep is how far apart the positions of lines are: results stand behind their calls.
const placeStep = 1 << 20

func (r *reader) readItems(p *logstore.Part, a int32) error {
	list := r.arrangeLines(a)
	p.Items = make([]session.Item, len(list))
	last := int64(0)
	var sharing session.Sharing
	for at, i := range list {
		n, it := &r.nodes[i], &p.Items[at]
		text, err := r.text.Line(n.Span)
		if err != nil {
			return err
		}
		sharing.Begin(it, session.TableLines)
		r.readItem(it, i, text)
		if it.Position = last + 1; !n.placed {
			it.Position = max(it.Position, int64(n.number)*placeStep)
		}
		last, p.Lines[it.Key], r.at[it.Key] = it.Position, n.Span, i
		if n.home != a && n.kind.isSent() {
			it.Shared.Home = r.sessionID(n.home)
		}
		sharing.Share(it)
		for _, f := range r.faultsOf(i, text) {
			f.Item, f.Ref = at, p.ItemRef(at)
			p.Faults = append(p.Faults, f)
		}
		p.SpreadTimes(it.Time)
		if p.Delegated && p.Task == 0 && it.Role == session.User {
			p.Task = it.Text
		}
	}
	for _, i := range r.lines[a] {
		if n := &r.nodes[i]; !n.kind.isSent() && n.kind != unread {
			p.Faults = append(p.Faults, r.misfits(i)...)
		}
	}
	if a == 0 {
		p.Faults = append(p.Faults, r.fileFaults()...)
	}
	for i := range p.Faults {
		if f := &p.Faults[i]; f.Ref == (session.Ref{}) {
			f.Item, f.Ref = -1, p.Ref()
		}
	}
	return nil
}

func (r *reader) readItem(it *session.Item, i int, raw []byte) {
	n, text := &r.nodes[i], mended(raw, r.mendsOf(i)...)
	it.Key, it.Passed = r.itemKey(n, text), n.passed || n.hidden
	if it.Body = nil; r.file.Body {
		it.Body = &session.Body{Raw: bytes.Clone(raw)}
	}
	if n.kind == unread {
		it.Kind = session.Other
		return
	}
	e := parseEvent(text)
	it.Time, _ = time.Parse(time.RFC3339Nano, textOf(e.Time))
	said, thought := e.text("content"), ""
	switch n.kind {
	case prompt, notice:
		it.Role, it.Note = session.User, n.kind == notice
	case answer:
		it.Role, it.Shared.Model, thought = session.Assistant, e.text("model"), e.text("reasoningText")
		for _, c := range e.requests() {
			it.Calls = append(it.Calls, r.readCall(&c))
		}
	case summary:
		it.Kind, it.Role, said = session.Summary, session.User, e.text("summaryContent")
	case result:
		text, failed := e.answerText()
		it.Role, said = session.Tool, ""
		it.Results = []session.Result{{CallID: e.text("toolCallId"), Text: text, Digest: session.DigestOf(text), IsError: failed, Synthetic: session.IsPlaceholder(text)}}
		if n.stale {
			it.Flags |= session.Unshown
		}
		if strings.HasPrefix(text, session.SyntheticPrefix) {
			it.Flags |= session.Synthetic
		}
	}
	if it.Text = session.DigestOf(said); it.Role == session.Tool {
		it.Text = it.Results[0].Digest
	} else if it.Flags |= session.TextFlags(said); strings.TrimSpace(said) == "" && len(it.Calls) == 0 {
		it.Flags |= session.Blank
	}
	var meaning session.Meaning
	meaning.Reset(it.Role, "")
	for _, name := range []string{"content", "reasoningText", "summaryContent", "toolRequests", "toolCallId", "result", "error"} {
		meaning.AddDigest(session.DigestOf([]byte(e.members[name])))
		it.Size += int64(len(e.members[name]))
	}
	if it.Meaning = meaning.Digest(); r.file.Body {
		it.Body.Text, it.Body.Reasoning = said, thought
	} else {
		it.DropTexts()
	}
}

// readCall reads a call. Those that start a sub-agent say whose session that is.
func (r *reader) readCall(of *request) session.Call {
	c := session.Call{ID: textOf(of.ID), Name: textOf(of.Name), Args: string(of.Args), Form: session.FormOf(string(of.Args))}
	if c.Name == "task" {
		c.Delegation = session.DelegationFor(c.Name, c.Args)
		c.Delegation.Agent, c.Delegation.Blocking, c.Delegation.Apart = textOf(membersOf(of.Args)["agent_type"]), r.tasks[r.Name(c.ID)].ends, true
		if a, started := r.starts[r.Name(c.ID)]; started {
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
	for n, first := 2, key; ; n++ {
		if _, used := r.at[key]; !used {
			return key
		}
		key = fmt.Sprintf("%s-%d", first, n)
	}
}

// nameLine names a line in a fault, and what of it is meant. Several can stand on one.
func (r *reader) nameLine(i int, pointer string) string {
	name := fmt.Sprintf("line %d", r.nodes[i].number)
	if i > 0 && r.nodes[i-1].number == r.nodes[i].number {
		name += fmt.Sprintf(" at byte %d", r.nodes[i].Offset)
	}
	name = strings.TrimSpace(name + " " + pointer)
	r.places[name] = i
	return name
}

// firstLine is what a repair sets where the first line is lost.
const firstLine = "line 0"

func (r *reader) faultsOf(i int, text []byte) []session.Fault {
	n, list := &r.nodes[i], r.misfits(i)
	if n.kind == unread && !r.trouble[i].gone {
		nothing, name := len(bytes.Trim(text, "\x00 ")) == 0, r.nameLine(i, "")
		f := session.Fault{Kind: session.Undecodable, Passed: true, Harmless: nothing, Field: name, Detail: r.trouble[i].why}
		if n.open && !nothing {
			f = session.Fault{Kind: session.TornLine, Harmless: true, Field: name, Detail: name + ", the last one, was cut off while it was written. Copilot CLI drops it when it resumes the session."}
		}
		list = append(list, f)
	}
	if n.hidden && n.kind.isSent() {
		list = append(list, session.Fault{
			Kind: session.HiddenRecord, Field: r.nameLine(i, "/ephemeral"), Default: new("false"), Harmless: n.in > 0,
			Detail: r.nameLine(i, "") + " is marked as ephemeral, so Copilot CLI does not send it to the model",
		})
	}
	return list
}

// said are the values that are texts of people and models, of which a plan has none.
var said = []string{"/data/content", "/data/agentDescription"}

// misfits are the faults of a line that the runtime cannot load.
func (r *reader) misfits(i int) (list []session.Fault) {
	t := r.trouble[i]
	if t == nil {
		return nil
	}
	for _, m := range t.mends {
		value := m.value
		if slices.Contains(said, m.pointer) && len(value) > len(`""`) {
			value = "what the session says of it elsewhere"
		}
		f := session.Fault{
			Kind: session.OutOfSchema, Unloads: true, Field: r.nameLine(i, m.pointer), Default: &value, Guess: m.guess,
			Detail: fmt.Sprintf("%s does not fit at %s, so Copilot CLI does not load the session: Session file is corrupted (line %d: %s)", r.nameLine(i, ""), m.pointer, r.nodes[i].number, m.says),
		}
		if list = append(list, f); t.gone { // the first one is enough to take it out
			list[0].Default, list[0].Guess = nil, false
			break
		}
	}
	return list
}

// fileFaults are those of the file. Records within broken lines are read as a repair leaves them.
func (r *reader) fileFaults() (list []session.Fault) {
	lost, first := 0, 0
	for i := range r.nodes {
		if n := &r.nodes[i]; n.kind != inner && n.parent != 0 && r.ids[n.parent] == 0 {
			if lost++; lost == 1 {
				first = i
			}
		}
	}
	if lost > 0 {
		list = append(list, session.Fault{Kind: session.BrokenChain, Field: "parentId", Harmless: true, Detail: fmt.Sprintf("%d lines name one before them that does not exist, the first of them %s: lines may have been lost there. Copilot CLI does not mind.", lost, r.nameLine(first, ""))})
	}
	if !slices.ContainsFunc(r.nodes, func(n node) bool { return n.kind == start }) {
		list = append(list, session.Fault{Kind: session.OutOfSchema, Unloads: true, Field: firstLine, Default: new("session.start"), Detail: "the first line, session.start, is missing, so Copilot CLI does not load the session: Session file is corrupted or incompatible"})
	}
	answered := map[*filelog.Run][]string{}
	for i := range r.nodes {
		if n := &r.nodes[i]; n.kind == result && n.passed {
			run := filelog.RunAt(r.runs, n.Offset)
			answered[run] = append(answered[run], r.Text(n.call))
		}
	}
	for _, run := range r.runs {
		f := session.Fault{Kind: session.Undecodable, Field: run.Name(), Passed: true, Default: new("each record on its own line"), Calls: answered[run]}
		f.Detail, f.Remedy = run.Describe(f.Calls)
		f.Detail += ". Copilot CLI drops such lines when it resumes the session, so repair it before"
		list = append(list, f)
	}
	for _, k := range r.kept {
		list = append(list, k.fault)
	}
	return list
}

// keptLine is a line of a backup that the runtime made before it dropped lines of the file, and which the file has not.
type keptLine struct {
	text  []byte
	fault session.Fault
}

func (r *reader) readKept(ctx context.Context) {
	for _, backup := range listFolder(r.file.Root, path.Dir(r.file.Name), path.Base(r.file.Name)+".backup-before-recovery-") {
		file, err := filelog.Open(r.file.Root, backup)
		if err != nil {
			continue
		}
		for at, err := range file.Records(ctx, func(text []byte) bool { return parseEvent(text) != nil }) {
			if err != nil || at.Err != nil {
				break
			}
			e := parseEvent(at.Text)
			if e == nil || len(e.checkEvent()) > 0 || r.ids[r.Name(textOf(e.ID))] > 0 {
				continue
			}
			f := session.Fault{Kind: session.KeptBeside, Field: fmt.Sprintf("%s line %d", path.Base(backup), at.Number)}
			f.Detail = f.Field + " is not in " + path.Base(r.file.Name) + ": Copilot CLI dropped it when it resumed the session"
			if kinds[e.Type] == result {
				text, failed := e.answerText()
				f.Calls, f.Default, f.Failed = []string{e.text("toolCallId")}, &text, failed
				f.Detail += ". It holds the result of call " + f.Calls[0]
			}
			r.kept = append(r.kept, keptLine{bytes.Clone(at.Text), f})
		}
		_ = file.Close() // nothing was written to it
	}
}

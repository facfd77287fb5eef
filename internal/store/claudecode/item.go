package claudecode

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/media"
)

const tableLines = "lines"

// groupLines are the lines of the items of a session, the blocks of an answer or one line, in the
// order of the file, but for those that the next request is made of, which take their places
// in the order of the request.
func (c *chain) groupLines(of func(*node) bool) [][]int {
	type message struct {
		id     filelog.Name
		sent   bool
		home   int32
		copied bool
	}
	var sent, all [][]int
	known := map[message]int{} // in all
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.kind == unsaid && !n.copied || !of(n) { // a text of the vendor goes where the sub-agent's messages go
			continue
		}
		m := message{n.message, n.active, n.home, n.copied}
		if at, again := known[m]; again && n.message != 0 {
			all[at] = append(all[at], i)
			continue
		}
		known[m] = len(all)
		all = append(all, []int{i})
	}
	byRank := func(a, b int) int { return cmp.Compare(c.nodes[a].rank, c.nodes[b].rank) }
	for _, g := range all {
		if c.nodes[g[0]].active {
			slices.SortStableFunc(g, byRank)
			sent = append(sent, g)
		}
	}
	slices.SortStableFunc(sent, func(a, b []int) int { return byRank(a[0], b[0]) })
	for i := range all {
		if c.nodes[all[i][0]].active {
			all[i], sent = sent[0], sent[1:]
		}
	}
	return all
}

// reader makes items of lines.
type reader struct {
	*chain
	log        *filelog.Log
	id, source string            // of the session whose file it is, and its name
	agents     []agent           // whose strays a file may have
	children   map[string]string // the sub-agent's session, by the id of the call that started it
	background map[string]bool   // the calls whose sub-agent goes on
	body       bool
	texts      bool           // see store.Options
	used       map[string]int // how many items a key has that is made of what a line says
	each       func(*part)    // is handed the lines of items, which are not read then; may be nil
}

// readItems reads those of a session, and their faults.
func (r *reader) readItems(s *session.Session, of func(*node) bool) error {
	groups, lines := r.groupLines(of), r.log.Window()
	if r.each != nil {
		return r.placeItems(&part{Session: s, in: r, lines: map[string][]int{}}, groups, lines)
	}
	s.Items = make([]session.Item, len(groups))
	var blocks []session.Block // most items keep none of theirs
	var sharing session.Sharing
	for at, g := range groups {
		it := &s.Items[at]
		sharing.Begin(it, tableLines)
		it.Position = int64(at)
		m := entry{Item: it, reader: r, blocks: blocks[:0], plain: true, ordered: true}
		first := r.namingLine(g)
		var err error
		if it.Key, err = r.itemKey(first, lines); err != nil {
			return err
		}
		if n := &r.nodes[first]; n.home != 0 {
			it.Shared.Home, it.Copied = r.agents[n.home-1].id, n.copied
		}
		if err := m.readLines(g, lines); err != nil {
			return err
		}
		sharing.Share(it)
		if !slices.ContainsFunc(g, func(i int) bool { return !r.nodes[i].cut }) {
			m.Flags |= session.Unshown
		}
		blocks = m.blocks
		for _, i := range g {
			if n := &r.nodes[i]; n.replaced && n.home == 0 {
				if err := m.tellReplaced(n); err != nil {
					return err
				}
			}
		}
		for _, f := range m.faults {
			f.Harmless = f.Harmless || f.Kind == session.TornLine && s.Writer == session.WriterLive
			f.Item, f.Ref = at, session.Ref{Session: s.ID, Table: it.Table(), Key: it.Key}
			s.Faults = append(s.Faults, f)
		}
	}
	finishSession(s)
	return nil
}

// placeItems finds the lines of items.
func (r *reader) placeItems(p *part, groups [][]int, lines *filelog.Window) error {
	for _, g := range groups {
		key, err := r.itemKey(r.namingLine(g), lines)
		if err != nil {
			return err
		}
		p.lines[key] = g
	}
	r.each(p)
	return nil
}

// itemKey names an item by the identifier of its first line, whatever is put before it; a line
// that has none of its own by what it says.
func (r *reader) itemKey(i int, lines *filelog.Window) (string, error) {
	n := &r.nodes[i]
	if n.uuid != 0 && !n.replaced && n.home != 0 && r.agents[n.home-1].chain.away[n.uuid] {
		return r.agents[n.home-1].id + ":" + r.Text(n.uuid), nil // as where it belongs
	}
	if n.uuid != 0 && !n.replaced {
		return r.id + ":" + r.Text(n.uuid), nil
	}
	text, err := lines.Line(n.lineSpan())
	key := fmt.Sprintf("%s:%.6x", r.id, sha256.Sum256(text))
	if r.used[key]++; r.used[key] > 1 {
		key += fmt.Sprintf("-%d", r.used[key])
	}
	return key, err
}

// entry is an item while it is being read.
type entry struct {
	*session.Item
	reader          *reader
	text, reasoning []string
	raw             []byte // the lines, each behind a line end
	said            session.Meaning
	begun           bool
	plain           bool // its blocks tell nothing more
	ordered         bool // they are at most one text, and then calls
	blocks          []session.Block
	faults          []session.Fault
}

// readLines makes the item of its lines.
func (m *entry) readLines(of []int, lines *filelog.Window) error {
	for _, i := range of {
		text, err := lines.Line(m.reader.nodes[i].lineSpan())
		if err != nil {
			return err
		}
		m.addLine(i, text)
	}
	m.finishItem(&m.reader.nodes[of[0]])
	return nil
}

// addLine adds what a line says.
func (m *entry) addLine(i int, text []byte) {
	if m.reader.body {
		m.raw = append(append(m.raw, '\n'), text...)
	}
	n := &m.reader.nodes[i]
	if n.kind == unreadable {
		m.Kind = session.Other
		m.addBroken(i, text)
		return
	}
	l, said, _ := parseLine(text)
	switch n.kind {
	case user:
		m.Role = session.User
	case assistant:
		if m.Role = session.Assistant; said.Model != "<synthetic>" {
			m.Shared.Model = said.Model
		}
	default: // its time is the clock's, and not of the conversation
		m.Kind = session.Other
		return
	}
	if !m.begun {
		m.Time, _ = time.Parse(time.RFC3339Nano, l.Time)
	}
	if l.Meta {
		m.Flags |= session.Implicit
	}
	if l.Summary {
		m.Kind = session.Summary
	}
	parts, ok := parseBlocks(said.Content)
	if l.APIError {
		text, _, _ := textOf(said.Content)
		m.Flags, m.Shared.Refusal = m.Flags|session.Skipped, session.RefusalOf(l.Status, text)
	}
	if !ok {
		m.faults = append(m.faults, session.Fault{Kind: session.UnknownPart, Field: l.Type, Detail: "its content is neither a text nor a list of blocks"})
	}
	if said.Role == "" && len(parts) == 0 { // anthropics/claude-code#24663
		m.Flags |= session.Skipped
		m.faults = append(m.faults, session.Fault{Kind: session.UnknownPart, Field: l.Type, Detail: "the message has neither a role nor content, so Claude Code leaves it out of every request"})
	}
	if hasLoneSurrogate(text) {
		m.faults = append(m.faults, session.Fault{Kind: session.BadUnicode, Field: "message", Detail: "it has half of a character, which Claude Code sends as U+FFFD"})
	}
	for i := range parts {
		if hasNUL(&parts[i]) && !slices.ContainsFunc(m.faults, func(f session.Fault) bool { return f.Kind == session.NulCharacter }) {
			m.faults = append(m.faults, session.Fault{Kind: session.NulCharacter, Field: "message"})
		}
		if !n.again || parts[i].Type != "tool_use" {
			m.addBlock(&parts[i])
		}
	}
	m.begun = true
	if m.Role == session.User && len(m.Results) > 0 && len(m.text) == 0 {
		m.Role = session.Tool
	}
}

// hasNUL reports whether a part is sent with U+0000. Thinking is signed as it is.
func hasNUL(p *block) bool {
	raw := func(value jsontext.Value) bool { return !bytes.Equal(jsonedit.ShowNUL(value), value) }
	return strings.Contains(p.Text, "\x00") || bytes.Contains(p.Input, []byte(`\u0000`)) && raw(p.Input) || bytes.Contains(p.Content, []byte(`\u0000`)) && raw(p.Content)
}

// addBroken adds the fault of a line that cannot be read, with the calls that wait for what
// it was to say.
func (m *entry) addBroken(i int, text []byte) {
	c, n := m.reader.chain, &m.reader.nodes[i]
	f := session.Fault{Kind: session.Undecodable, Field: fmt.Sprintf("line %d", n.number), Detail: c.wrong[i], Passed: true, Whole: jsonedit.IsWhole(text)}
	if n.open {
		f = session.Fault{Kind: session.TornLine, Field: f.Field, Detail: fmt.Sprintf("line %d, the last one, was cut off while it was written; Claude Code passes over it", n.number)}
	} else if c.runOf(i) != nil { // that it is damage and no other form shows in the records beside it
		f.Remedy = "remove what was cut off; the receipt keeps its bytes"
	}
	for _, name := range namesOfWaiting().FindAllSubmatch(text[:min(len(text), 1<<16)], -1) {
		calls := []string{string(name[1])}
		if above, ok := c.at[c.Name(string(name[2]))]; ok {
			calls = nil
			for _, call := range c.toolsOf(&c.nodes[above], assistant) {
				calls = append(calls, c.Text(call))
			}
		}
		for _, call := range calls {
			if call != "" && !slices.Contains(f.Calls, call) {
				f.Calls = append(f.Calls, call)
			}
		}
	}
	if len(f.Calls) > 0 {
		f.Detail += "; what is left of it follows the call " + strings.Join(f.Calls, ", ")
	}
	m.faults = append(m.faults, f)
}

// namesOfWaiting finds in a line what names the call that a result answers: the call itself,
// or the record above.
var namesOfWaiting = pattern.Lazy(`"tool_use_id": ?"([^"]+)"|"parentUuid": ?"([^"]+)"`)

// addBlock adds a block of a message's content.
func (m *entry) addBlock(p *block) {
	b := session.Block{Cached: len(p.Cached) > 0}
	m.said.AddTexts(p.Type, p.Text, p.Thinking, p.ID, p.Name, string(p.Input), p.CallID, string(p.Content), p.Source.Data, p.Source.URL)
	switch {
	case p.isBlank():
		b.Blank, b.Unsent = true, !m.reader.sendsBlank(m.Role, p.Text)
	case p.Type == "text":
		m.text = append(m.text, p.Text)
	case p.isReasoning():
		b.Kind, b.Text, b.Signature = session.ReasoningBlock, session.DigestOf(p.Thinking), session.DigestOf(p.Signature+p.Data)
		b.Unsigned, b.Empty = b.Signature == 0, p.Type == "thinking" && p.Thinking == ""
		m.reasoning = append(m.reasoning, p.Thinking)
	case p.Type == "tool_use", p.Type == "server_tool_use", p.Type == "mcp_tool_use":
		b.Kind, b.Nth = session.CallBlock, len(m.Calls)
		m.Calls = append(m.Calls, m.readCall(p))
		m.Size += int64(len(p.Input))
	case strings.HasSuffix(p.Type, "tool_result"):
		b.Kind, b.Nth = session.ResultBlock, len(m.Results)
		b.Blank = m.addResult(p)
	case p.isMedia():
		b = p.mediaBlock(0)
		b.Cached = len(p.Cached) > 0
		m.Size += int64(len(p.Source.Data))
	default:
		b.Kind, b.Name = session.UnknownBlock, p.Type
	}
	m.ordered = m.ordered && (b.Kind == session.TextBlock && len(m.blocks) == 0 || b.Kind == session.CallBlock && len(m.Results) == 0)
	m.blocks = append(m.blocks, b)
	m.plain = m.plain && (!m.begun || m.ordered) && b.Kind != session.ReasoningBlock && b.Kind != session.MediaBlock && b.Kind != session.UnknownBlock && !b.Cached && !b.Blank
}

// readCall reads a call. Those that start a sub-agent say whose session that is.
func (m *entry) readCall(p *block) session.Call {
	c := session.Call{ID: p.ID, Name: p.Name, Args: string(p.Input), Form: session.FormOf(string(p.Input)), Server: p.Type != "tool_use"}
	if p.Name != "Task" && p.Name != "Agent" { // the name up to 2.0, and since
		return c
	}
	var asked struct {
		Background bool `json:"run_in_background"`
	}
	c.Delegation = session.DelegationFor(c.Name, c.Args)
	c.Delegation.Blocking = (jsonscan.Exact.Unmarshal(p.Input, &asked) != nil || !asked.Background) && !m.reader.background[p.ID]
	c.Delegation.Child = m.reader.children[p.ID]
	return c
}

// addResult reads a result, and reports whether a text in its list is blank.
func (m *entry) addResult(p *block) (blank bool) {
	text, media, blank := textOf(p.Content)
	m.Results = append(m.Results, session.Result{
		CallID: p.CallID, Text: text, Digest: session.DigestOf(text), IsError: p.IsError,
		Synthetic: session.IsPlaceholder(text), Server: m.Role == session.Assistant,
	})
	if m.Size += int64(len(text)); strings.HasPrefix(text, session.SyntheticPrefix) {
		m.Flags |= session.Synthetic
	}
	for i := range media {
		if media[i].isMedia() {
			m.blocks = append(m.blocks, media[i].mediaBlock(len(m.Results)))
			m.Size, m.plain = m.Size+int64(len(media[i].Source.Data)), false
		}
	}
	return blank
}

// mediaBlock is the block of an image or a document, which the result of a number has.
func (p *block) mediaBlock(in int) session.Block {
	b := session.Block{Kind: session.MediaBlock}
	if p.Source.Type == "base64" {
		b = media.NewBlock(p.Source.Media, p.Source.Data)
	}
	b.Name, b.In = p.Type, in
	return b
}

// finishItem sets what all lines of the item make of it.
func (m *entry) finishItem(n *node) {
	text, reasoning := strings.Join(m.text, "\n"), strings.Join(m.reasoning, "\n")
	if !m.plain {
		m.Blocks = slices.Clone(m.blocks)
	}
	if !n.active {
		m.Flags |= session.Archived
	}
	if m.Kind == session.Message || m.Kind == session.Summary {
		var said session.Meaning
		said.Reset(m.Role, "")
		said.AddDigest(m.said.Digest())
		m.Meaning, m.Text = said.Digest(), session.DigestOf(text)
		m.Size += int64(len(text) + len(reasoning))
		if m.Role != session.Tool {
			m.Flags, m.Note = m.Flags|session.TextFlags(text), m.Role == session.User && asksNothing().MatchString(text)
		} else if len(m.Results) == 1 {
			m.Text = m.Results[0].Digest
		}
		if strings.TrimSpace(text) == "" && len(m.Calls)+len(m.Results) == 0 && !m.HasBlock(session.MediaBlock) {
			m.Flags |= session.Blank
			for i := range m.Blocks { // an answer that is nothing else is left out for longer
				b := &m.Blocks[i]
				b.Unsent = b.Blank && (n.unsent || m.Role == session.Assistant && compareVersions(m.reader.version, "2.1.123") >= 0)
			}
		}
	}
	if !m.reader.body {
		m.DropTexts()
		return
	}
	if m.Body = (&session.Body{Text: text, Reasoning: reasoning}); !m.reader.texts || m.Kind != session.Message {
		m.Body.Raw = m.raw[1:]
	}
}

// asksNothing finds texts that Claude Code writes as the user's: commands and what they printed,
// notifications, that a person interrupted it.
var asksNothing = pattern.Lazy(`^(?:<(?:command-|local-command-|bash-|task-notification)|\[Request interrupted by user)`)

// tellReplaced tells of a line whose identifier a later line has: the later one is sent, and this
// one never, which matters where it says something else.
func (m *entry) tellReplaced(n *node) error {
	texts, lines := [2]string{}, m.reader.log.Window()
	for k, of := range []*node{n, &m.reader.nodes[m.reader.at[n.uuid]]} {
		text, err := lines.Line(of.lineSpan())
		if err != nil {
			return err
		}
		l, _, _ := parseLine(text)
		texts[k] = string(l.Message)
	}
	f := session.Fault{Kind: session.SharedKey, Field: "uuid", Detail: fmt.Sprintf("a later line has the same identifier %s and says something else; Claude Code sends that one, and never this one", m.reader.Text(n.uuid))}
	if texts[0] == texts[1] {
		f.Harmless, f.Detail = true, fmt.Sprintf("the line %s is in the file twice; Claude Code sends it once", m.reader.Text(n.uuid))
	}
	m.faults = append(m.faults, f)
	return nil
}

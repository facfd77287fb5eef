package claudecode

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

const tableLines = "lines"

// group are the lines of one item: the blocks of an answer, or one line.
type group struct {
	nodes  []int
	active bool
}

// groups are the items of a session in their order: that of the file, but for those that
// the next request is made of, which take their places in the order of the request.
func (c *chain) groups(of func(*node) bool) []group {
	var sent, all []group
	known := map[string]int{} // of the messages, in all
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.unsaid() || !of(n) {
			continue
		}
		key := n.message
		if n.active {
			key += " sent"
		}
		if at, again := known[key]; again && n.message != "" {
			all[at].nodes = append(all[at].nodes, i)
			continue
		}
		known[key] = len(all)
		all = append(all, group{[]int{i}, n.active})
	}
	rank := func(i int) int { return c.nodes[i].rank }
	for _, g := range all {
		if g.active {
			slices.SortStableFunc(g.nodes, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
			sent = append(sent, g)
		}
	}
	slices.SortStableFunc(sent, func(a, b group) int { return cmp.Compare(rank(a.nodes[0]), rank(b.nodes[0])) })
	for i := range all {
		if all[i].active {
			all[i], sent = sent[0], sent[1:]
		}
	}
	return all
}

// unsaid reports whether a line is no record of what was said: attachments are texts of the
// vendor, and files that the user named.
func (n *node) unsaid() bool {
	return n.wrong == "" && n.kind != typeUser && n.kind != typeAssistant && n.kind != typeSystem
}

// reader makes items of lines.
type reader struct {
	*chain
	log        *filelog.Log
	id         string            // of the session whose file it is
	children   map[string]string // the sub-agent's session, by the id of the call that started it
	background map[string]bool   // the calls whose sub-agent goes on
	body       bool
	used       map[string]int // how many items a key has that is made of what a line says
	each       func(*part)
}

// items are those of a session, and their faults.
func (r *reader) items(s *session.Session, of func(*node) bool) error {
	p := &part{id: s.ID, in: r, lines: map[string][]int{}, sums: map[string]string{}}
	for _, g := range r.groups(of) {
		first := &r.nodes[g.nodes[0]]
		it := session.Item{Table: tableLines, Time: first.time, Position: int64(len(s.Items))}
		m := entry{Item: &it, reader: r}
		texts := make([][]byte, len(g.nodes))
		for n, i := range g.nodes {
			text, err := r.log.Read(r.nodes[i].Span)
			if err != nil {
				return err
			}
			m.line(&r.nodes[i], text)
			texts[n] = text
		}
		it.Key = r.key(g, texts)
		if r.each != nil {
			p.add(it.Key, g.nodes, texts)
		}
		m.finish(g.active)
		for _, f := range m.faults {
			f.Item, f.Ref = len(s.Items), session.Ref{Session: s.ID, Table: it.Table, Key: it.Key}
			s.Faults = append(s.Faults, f)
		}
		s.Items = append(s.Items, it)
	}
	if r.each != nil {
		r.each(p)
	}
	return nil
}

// key names an item by the identifier of its first line, whatever is put before it; a line
// that has none of its own by what it says.
func (r *reader) key(g group, texts [][]byte) string {
	first := slices.Min(g.nodes)
	if n := &r.nodes[first]; n.uuid != "" && !n.replaced {
		return r.id + ":" + n.uuid
	}
	key := fmt.Sprintf("%s:%.6x", r.id, sha256.Sum256(texts[slices.Index(g.nodes, first)]))
	if r.used[key]++; r.used[key] > 1 {
		key += fmt.Sprintf("-%d", r.used[key])
	}
	return key
}

// entry is an item while it is being read.
type entry struct {
	*session.Item
	reader          *reader
	text, reasoning []string
	raw             [][]byte
	said            session.Meaning
	begun           bool
	plain           bool
	faults          []session.Fault
}

// line adds what a line says.
func (m *entry) line(n *node, text []byte) {
	if m.reader.body {
		m.raw = append(m.raw, text)
	}
	if n.wrong != "" {
		m.Kind = session.Other
		m.broken(n)
		return
	}
	l, said, _ := parse(text)
	switch l.Type {
	case typeUser:
		m.Role = session.User
	case typeAssistant:
		if m.Role = session.Assistant; said.Model != "<synthetic>" {
			m.Model = said.Model
		}
	default: // its time is the clock's, and not of the conversation
		m.Kind, m.Time = session.Other, time.Time{}
		return
	}
	m.flag(&l)
	parts, ok := blocks(said.Content)
	if !ok {
		m.faults = append(m.faults, session.Fault{Kind: session.UnknownPart, Field: l.Type, Detail: "its content is neither a text nor a list of blocks"})
	}
	if lone(text) {
		m.faults = append(m.faults, session.Fault{Kind: session.BadUnicode, Field: "message", Detail: "it has half of a character, which Claude Code sends as U+FFFD"})
	}
	m.plain = !m.begun
	for i := range parts {
		m.add(&parts[i], l.Type)
	}
	m.begun = true
	if m.Role == session.User && len(m.Results) > 0 && len(m.text) == 0 {
		m.Role = session.Tool
	}
}

// broken says what is wrong with a line that cannot be read.
func (m *entry) broken(n *node) {
	f := session.Fault{Kind: session.Undecodable, Field: fmt.Sprintf("line %d", n.number), Detail: n.wrong, Passed: true}
	if n.open {
		f = session.Fault{Kind: session.TornLine, Field: f.Field, Detail: fmt.Sprintf("line %d, the last one, was cut off while it was written; Claude Code passes over it", n.number)}
	}
	m.faults = append(m.faults, f)
}

// flag sets what the line says of the message besides its content.
func (m *entry) flag(l *line) {
	if l.Meta {
		m.Flags |= session.Implicit
	}
	if l.APIError {
		m.Flags |= session.Skipped
	}
	if l.Summary {
		m.Kind = session.Summary
	}
}

// add adds a block of a message's content.
func (m *entry) add(p *block, kind string) {
	b := session.Block{Cached: len(p.Cached) > 0}
	for _, text := range []string{p.Type, p.Text, p.Thinking, p.ID, p.Name, string(p.Input), p.CallID, string(p.Content), p.Source.Data, p.Source.URL} {
		m.said.Add(session.DigestOf(text))
	}
	switch {
	case p.Type == "text":
		m.text = append(m.text, p.Text)
		b.Blank = strings.TrimSpace(p.Text) == ""
	case p.Type == "thinking", p.Type == "redacted_thinking":
		b.Kind, b.Text, b.Signature = session.ReasoningBlock, session.DigestOf(p.Thinking), session.DigestOf(p.Signature+p.Data)
		b.Unsigned = b.Signature == 0
		m.reasoning = append(m.reasoning, p.Thinking)
	case p.Type == "tool_use", p.Type == "server_tool_use", p.Type == "mcp_tool_use":
		b.Kind, b.Nth = session.CallBlock, len(m.Calls)
		m.Calls = append(m.Calls, m.call(p))
		m.Size += int64(len(p.Input))
	case strings.HasSuffix(p.Type, "tool_result"):
		b.Kind, b.Nth = session.ResultBlock, len(m.Results)
		m.result(p, kind)
	case p.Type == "image", p.Type == "document":
		b.Kind, b.Name = session.MediaBlock, p.Type
		m.Size += int64(len(p.Source.Data))
	default:
		b.Kind, b.Name = session.UnknownBlock, p.Type
	}
	m.Blocks = append(m.Blocks, b)
	m.plain = m.plain && b.Kind != session.ReasoningBlock && b.Kind != session.MediaBlock && b.Kind != session.UnknownBlock && !b.Cached
}

// call reads a call. Those that start a sub-agent say whose session that is.
func (m *entry) call(p *block) session.Call {
	c := session.Call{ID: p.ID, Name: p.Name, Args: string(p.Input), Form: session.FormOf(string(p.Input)), Server: p.Type != "tool_use"}
	if !delegates(c.Name) {
		return c
	}
	c.Delegation = session.DelegationFor(c.Name, c.Args)
	var asked struct {
		Background bool `json:"run_in_background"`
	}
	c.Delegation.Blocking = exact.Unmarshal(p.Input, &asked) != nil || !asked.Background
	if m.reader.background[p.ID] {
		c.Delegation.Blocking = false
	}
	c.Delegation.Child = m.reader.children[p.ID]
	return c
}

func (m *entry) result(p *block, kind string) {
	text, media := textOf(p.Content)
	m.Results = append(m.Results, session.Result{
		CallID: p.CallID, Text: text, Digest: session.DigestOf(text), IsError: p.IsError,
		Synthetic: session.IsPlaceholder(text), Server: kind == typeAssistant,
	})
	if m.Size += int64(len(text)); strings.HasPrefix(text, session.SyntheticPrefix) {
		m.Flags |= session.Synthetic
	}
	for i := range media {
		if media[i].Type == "image" || media[i].Type == "document" {
			m.Blocks = append(m.Blocks, session.Block{Kind: session.MediaBlock, Name: media[i].Type})
			m.Size, m.plain = m.Size+int64(len(media[i].Source.Data)), false
		}
	}
}

// finish sets what all lines of the item make of it.
func (m *entry) finish(active bool) {
	text, reasoning := strings.Join(m.text, "\n"), strings.Join(m.reasoning, "\n")
	if !active {
		m.Flags |= session.Archived
	}
	if m.Kind == session.Message || m.Kind == session.Summary {
		var said session.Meaning
		said.Reset(m.Role, "")
		said.Add(m.said.Digest())
		m.Meaning, m.Text = said.Digest(), session.DigestOf(text)
		m.Size += int64(len(text) + len(reasoning))
		if m.Role != session.Tool {
			m.Flags |= session.TextFlags(text)
		} else if len(m.Results) == 1 {
			m.Text = m.Results[0].Digest
		}
		if strings.TrimSpace(text) == "" && len(m.Calls)+len(m.Results) == 0 && !m.Has(session.MediaBlock) {
			m.Flags |= session.Blank
		}
	}
	if m.plain {
		m.Blocks = nil
	}
	if !m.reader.body {
		m.DropTexts()
		return
	}
	m.Body = &session.Body{Text: text, Reasoning: reasoning, Raw: bytes.Join(m.raw, []byte("\n"))}
}

package kagent

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// speech collects what a record of kagent's own dialects says.
type speech struct {
	it              *session.Item
	text, reasoning strings.Builder
	size            int64 // of all but these
	rest            session.Meaning
	told            bool // there are blocks that tell more than their order
}

// block is a part that says nothing in words. What is stored of it counts.
func (s *speech) block(b session.Block, stored jsontext.Value) {
	s.it.Blocks = append(s.it.Blocks, b)
	s.rest.Add(session.DigestOf([]byte(stored)))
	s.size += int64(len(stored))
	s.told = true
}

func (s *speech) say(text, id string) {
	if s.text.Len() > 0 {
		s.text.WriteByte('\n')
		s.told = true
	}
	s.text.WriteString(text)
	s.it.Blocks = append(s.it.Blocks, session.Block{Kind: session.TextBlock, ID: id, Blank: strings.TrimSpace(text) == ""})
}

func (s *speech) think(text, id string) {
	s.reasoning.WriteString(text)
	s.it.Blocks = append(s.it.Blocks, session.Block{Kind: session.ReasoningBlock, ID: id, Text: session.DigestOf(text)})
	s.told = true
}

func (s *speech) call(c session.Call, id string) {
	c.Form = session.FormOf(c.Args)
	s.it.Blocks = append(s.it.Blocks, session.Block{Kind: session.CallBlock, Nth: len(s.it.Calls), ID: id})
	s.it.Calls = append(s.it.Calls, c)
	s.size += int64(len(c.Args))
}

func (s *speech) result(r session.Result) {
	r.Digest, r.Synthetic = session.DigestOf(r.Text), session.IsPlaceholder(r.Text)
	if strings.HasPrefix(r.Text, session.SyntheticPrefix) { // a repair wrote it, for want of a result
		s.it.Flags |= session.Synthetic
		r.IsError = true
	}
	s.it.Blocks = append(s.it.Blocks, session.Block{Kind: session.ResultBlock, Nth: len(s.it.Results)})
	s.it.Results = append(s.it.Results, r)
	s.size += int64(len(r.Text))
}

// end makes the item a message of a role.
func (s *speech) end(role session.Role) {
	it, text, reasoning := s.it, s.text.String(), s.reasoning.String()
	it.Kind, it.Role = session.Message, role
	it.Text, it.Flags = session.DigestOf(text), it.Flags|session.TextFlags(text)
	if len(it.Calls)+len(it.Results) == 0 && strings.TrimSpace(text) == "" && !it.Has(session.MediaBlock) && !it.Has(session.UnknownBlock) {
		it.Flags |= session.Blank
	}
	it.Size = int64(len(text)+len(reasoning)) + s.size
	it.Meaning = s.meaning(reasoning)
	if role == session.Tool && len(it.Results) == 1 {
		it.Text = it.Results[0].Digest
	}
	it.Body = &session.Body{Text: text, Reasoning: reasoning}
	if !s.told {
		it.Blocks = nil
	}
}

func (s *speech) meaning(reasoning string) session.Digest {
	it, rest := s.it, s.rest.Digest()
	m := &s.rest
	m.Reset(it.Role, it.Agent)
	m.Mark(byte(it.Kind))
	m.Add(it.Text)
	m.Add(session.DigestOf(reasoning))
	m.Add(rest)
	for i := range it.Calls {
		m.Mark('c')
		m.Add(session.DigestOf(it.Calls[i].ID))
		m.Add(session.DigestOf(it.Calls[i].Name))
		m.Add(session.DigestOf(it.Calls[i].Args))
	}
	for i := range it.Results {
		m.Mark('r')
		m.Add(session.DigestOf(it.Results[i].CallID))
		m.Add(it.Results[i].Digest)
	}
	return m.Digest()
}

// other makes the item a record that no model sees.
func other(it *session.Item, doc []byte) {
	*it = session.Item{Table: it.Table, Key: it.Key, Position: it.Position, Time: it.Time, Kind: session.Other, Body: &session.Body{}}
	var m session.Meaning
	m.Reset(it.Role, "")
	m.Mark(byte(it.Kind))
	m.Add(session.DigestOf(doc))
	it.Meaning = m.Digest()
}

package adk

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// say gives the item what a content says. The texts of several parts are one text,
// as ADK joins them where it asks for the text of an event.
func (g generation) say(c *content, s *stored, it *session.Item, list *faults) {
	w := writer{it: it, waiting: &s.Actions}
	w.meaning.Reset(session.NoRole, "")
	for i := range c.Parts {
		p := &c.Parts[i]
		if !g.golang() || g.shows(p) { // adk-go leaves empty parts out (contents_processor.go)
			w.part(p)
		}
	}
	for _, b := range it.Blocks {
		if b.Kind == session.UnknownBlock {
			list.add(session.UnknownPart, b.Name, "ADK knows no part of a message that is called "+quoted(b.Name))
		}
	}
	text, reasoning := w.text.String(), w.reasoning.String()
	it.Text = session.DigestOf(text)
	it.Role = roleOf(c.Role, it, strings.TrimSpace(text) == "")
	it.Flags |= session.TextFlags(text)
	thinks := g == j1 && reasoning != "" // which is sent alone, too
	if len(it.Calls)+len(it.Results) == 0 && strings.TrimSpace(text) == "" && !it.Has(session.MediaBlock) && !it.Has(session.UnknownBlock) && !thinks {
		it.Flags |= session.Blank
	}
	it.Size = int64(len(text)+len(reasoning)) + w.size
	it.Meaning = w.digest(c.Role, it, reasoning)
	if it.Role == session.Tool && len(it.Results) == 1 {
		it.Text = it.Results[0].Digest
	}
	if it.Body != nil {
		it.Body.Text, it.Body.Reasoning = text, reasoning
	}
	w.sign(s.ModelVersion)
	if plain(it.Blocks) {
		it.Blocks = nil
	}
}

// writer collects what the parts of a content say.
type writer struct {
	it              *session.Item
	waiting         *actions
	text, reasoning strings.Builder
	size            int64 // of all but these
	meaning         session.Meaning
}

func (w *writer) part(p *messagePart) {
	block := session.Block{Signature: session.DigestOf(p.ThoughtSignature)}
	switch {
	case p.FunctionCall != nil:
		block.Kind, block.Nth = session.CallBlock, len(w.it.Calls)
		w.call(session.Call{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Args: rawText(p.FunctionCall.Args)})
	case p.FunctionResponse != nil:
		block.Kind, block.Nth = session.ResultBlock, len(w.it.Results)
		w.result(p.FunctionResponse)
	case p.ToolCall != nil:
		block.Kind, block.Nth = session.CallBlock, len(w.it.Calls)
		w.call(session.Call{ID: p.ToolCall.ID, Name: p.ToolCall.ToolType, Args: rawText(p.ToolCall.Args), Server: true})
	case p.ToolResponse != nil:
		block.Kind, block.Nth = session.ResultBlock, len(w.it.Results)
		text := rawText(p.ToolResponse.Response)
		w.addResult(session.Result{CallID: p.ToolResponse.ID, Name: p.ToolResponse.ToolType, Text: text, Server: true})
	case p.InlineData != nil || p.FileData != nil:
		m := cmp.Or(p.InlineData, p.FileData)
		block.Kind, block.Name = session.MediaBlock, mediaName(m.MimeType)
		w.size += int64(len(m.Data) + len(m.FileURI))
		w.meaning.Add(session.DigestOf(m.MimeType))
		w.meaning.Add(session.DigestOf(m.Data))
		w.meaning.Add(session.DigestOf(m.FileURI))
	case p.Thought:
		block.Kind, block.Text = session.ReasoningBlock, session.DigestOf(p.said())
		w.reasoning.WriteString(p.said())
	case p.said() == "" && p.ThoughtSignature != "": // it signs what was thought before (2)
		block.Kind = session.ReasoningBlock
	case p.Text == nil && p.unknown() != "":
		block.Kind, block.Name = session.UnknownBlock, p.unknown()
		w.meaning.Add(session.DigestOf(block.Name))
		w.meaning.Add(session.DigestOf([]byte(p.Rest[block.Name])))
	default:
		block.Kind, block.Blank = session.TextBlock, strings.TrimSpace(p.said()) == ""
		w.text.WriteString(p.said())
	}
	w.it.Blocks = append(w.it.Blocks, block)
}

// said is the text of a part: code that the model wrote, and what came of it, are
// texts, too.
func (p *messagePart) said() string {
	switch {
	case p.Text != nil:
		return *p.Text
	case p.ExecutableCode != nil:
		return p.ExecutableCode.Code
	case p.CodeExecutionResult != nil:
		return p.CodeExecutionResult.Output
	}
	return ""
}

// unknown is the name of what a part holds that nothing here knows, "" for nothing.
func (p *messagePart) unknown() string {
	first := ""
	for name := range p.Rest {
		if first == "" || name < first {
			first = name
		}
	}
	return first
}

func (w *writer) call(c session.Call) {
	c.Form = session.FormOf(c.Args)
	w.size += int64(len(c.Args))
	w.it.Calls = append(w.it.Calls, c)
}

// digest is the meaning of all that was written.
func (w *writer) digest(role string, it *session.Item, reasoning string) session.Digest {
	media := w.meaning.Digest()
	m := &w.meaning
	m.Reset(it.Role, it.Agent)
	m.Mark(byte(it.Kind))
	if it.Role == session.NoRole {
		m.Add(session.DigestOf(role))
	}
	m.Add(it.Text)
	m.Add(session.DigestOf(reasoning))
	m.Add(media)
	for i := range it.Calls {
		c := &it.Calls[i]
		m.Mark('c')
		m.Add(session.DigestOf(c.ID))
		m.Add(session.DigestOf(c.Name))
		m.Add(session.DigestOf(c.Args))
	}
	for i := range it.Results {
		r := &it.Results[i]
		m.Mark('r')
		m.Add(session.DigestOf(r.CallID))
		m.Add(session.DigestOf(r.Name))
		m.Add(r.Digest)
	}
	return m.Digest()
}

// rawText is a value as it is stored, "" for none.
func rawText(v jsontext.Value) string {
	if v.Kind() == jsontext.KindNull {
		return ""
	}
	return string(v)
}

// quoted is a name from the store in a sentence.
func quoted(name string) string { return strconv.QuoteToASCII(name) }

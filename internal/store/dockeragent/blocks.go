package dockeragent

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/media"
)

func (p *partRecord) isText() bool { return string(p.kind) == `"text"` }

// The media by the type of their part. That of a file and of a document is told
// by the mime type.
const (
	image    = "image"
	document = "document"
)

// mediaKind is what a part holds, "" for a text and for a type outside the table.
func (p *partRecord) mediaKind() string {
	switch string(p.kind) {
	case `"image_url"`:
		return image
	case `"file"`, `"document"`:
		for _, kind := range [...]string{image, "audio", "video"} {
			if strings.HasPrefix(viewString(p.mimeType.innerBytes()), kind+"/") {
				return kind
			}
		}
		return document
	}
	return ""
}

// listBlocks lists the parts of the message in the order in which docker agent sends
// them: the reasoning, the text or the parts, the calls. It lists none where the
// outline says all there is. That is so for reasoning alone, too: a signature is
// missing only where the model gives one.
//
// A message has one signature for its reasoning, which Anthropic's models give,
// and one for its calls or its text, which Gemini's do: docker agent sends that
// one with each of them, and Gemini looks at the first call's (v1.13.0).
func (d *decoder) listBlocks(role session.Role, list []session.Block) []session.Block {
	r := &d.record
	unsigned := len(r.thought) == 0 && len(r.calls) > 0 && isGemini(viewString(r.model))
	if r.reasoning.isEmpty() && r.signature.isEmpty() && len(r.thought) == 0 && len(r.parts) == 0 && !r.cached && !unsigned {
		return list
	}
	if !r.reasoning.isEmpty() || !r.signature.isEmpty() {
		list = append(list, session.Block{
			Kind: session.ReasoningBlock, Text: r.reasoning.digest(), Signature: r.signature.digest(),
			Unsigned: r.signature.isEmpty() && isClaude(viewString(r.model)),
		})
	}
	spoken := len(list)
	switch {
	case role == session.Tool:
		list = append(list, session.Block{Kind: session.ResultBlock})
	case len(r.parts) == 0 && !r.content.isEmpty():
		list = append(list, session.Block{Kind: session.TextBlock, Blank: r.content.isBlank()})
	}
	for i := range r.parts {
		if p := &r.parts[i]; role != session.Tool || !p.isText() { // a result's text is its content
			b := d.partBlock(p)
			if role == session.Tool && b.Kind == session.MediaBlock {
				b.In = 1
			}
			list = append(list, b)
		}
	}
	called := len(list)
	for i := range r.calls {
		list = append(list, session.Block{Kind: session.CallBlock, Nth: i})
	}
	if called < len(list) {
		list[called].Signature, list[called].Unsigned = session.DigestOf(r.thought), unsigned
	} else if spoken < len(list) {
		list[spoken].Signature = session.DigestOf(r.thought)
	}
	if len(list) > 0 {
		list[len(list)-1].Cached = r.cached
	}
	return list
}

// partBlock is the block of a part of multi_content.
func (d *decoder) partBlock(p *partRecord) session.Block {
	if p.isText() {
		return session.Block{Kind: session.TextBlock, Blank: p.text.isBlank()}
	}
	name := p.mediaKind()
	if name == "" {
		return session.Block{Kind: session.UnknownBlock, Name: string(d.unquoteLiteral(p.kind))}
	}
	b := session.Block{Kind: session.MediaBlock}
	if label, data := media.SplitDataURL(viewString(p.url.innerBytes())); data != "" { // base64 has no character that JSON escapes
		if b = media.NewBlock(label, data); b.Is == jpeg && !slices.Contains(sent, label) {
			b.Media = jpeg
		}
	} else if p.data != "" {
		b = media.NewBlock(viewString(p.mimeType.innerBytes()), p.data)
		b.Unsent = !slices.Contains(sent, b.Media)
	}
	b.Name = name
	return b
}

const jpeg = "image/jpeg"

// sent are the types that docker agent sends as they are. An image of a data URL whose type is
// another one it calls image/jpeg (extractMediaType in pkg/model/provider/anthropic/client.go), and
// a document it leaves out of the request (attachment.Decide and each provider's capabilityTable).
var sent = []string{jpeg, "image/png", "image/gif", "image/webp", "application/pdf"}

// isClaude reports whether a model is Anthropic's, whoever runs it. docker agent
// records models as "anthropic/claude-sonnet-4-5".
func isClaude(model string) bool { return strings.Contains(model, "claude") }

func isGemini(model string) bool { return strings.Contains(model, "gemini") }

// textFlags are the flags of the text that is sent. Where there are parts, the
// content is not, but for a result's.
func (r *record) textFlags(role session.Role) (flags session.Flags) {
	last := r.content
	if n := len(r.parts); n > 0 {
		last = r.parts[n-1].text
	} else if !last.isEmpty() && last.isBlank() {
		flags = session.BlankText
	}
	if role == session.Tool || last.isEmpty() {
		return 0
	}
	if last.endsInSpace() {
		flags |= session.TrailingSpace
	}
	return flags
}

// requestSize is about what the message adds to a request, in bytes.
func (r *record) requestSize(role session.Role) int64 {
	n := len(r.reasoning.innerBytes()) + len(r.signature.innerBytes()) + len(r.thought)
	if role == session.Tool || len(r.parts) == 0 {
		n += len(r.content.innerBytes())
	}
	for i := range r.parts {
		if p := &r.parts[i]; role != session.Tool || !p.isText() {
			n += len(p.text.innerBytes()) + len(p.url.innerBytes()) + len(p.document)
		}
	}
	for i := range r.calls {
		n += len(r.calls[i].arguments.innerBytes())
	}
	return int64(n)
}

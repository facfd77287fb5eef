package session

import (
	"cmp"
	"fmt"
	"strings"
)

// BlockKind says what a part of a message is.
type BlockKind uint8

func (k BlockKind) String() string {
	return [...]string{"text", "reasoning", "call", "result", "media", "unknown"}[k]
}

// Block is one part of a message, for what only the parts can tell: their order,
// the signatures and ids of a provider, and what an image measures.
type Block struct {
	Kind BlockKind
	Nth  int    // CallBlock and ResultBlock: the index among the item's calls or results
	Name string // MediaBlock: "image", "document", "audio" or "video"; UnknownBlock: the stored type

	// ID is what the provider's own server calls the part: "rs_…", "fc_…",
	// "msg_…" of the Responses API. "" when it has none.
	ID string
	// With is, of a CallBlock, the ID of the reasoning that the provider made
	// it with, where the store records that.
	With string

	Text      Digest // ReasoningBlock: of its text
	Signature Digest // of the provider's signature, 0 when there is none
	Unsigned  bool   // the store has a place for the signature, and it is empty
	Empty     bool   // ReasoningBlock: so is the place of its text. Redacted reasoning has none

	Blank  bool // TextBlock: nothing, or nothing but white space; ResultBlock: so is a text in its list
	Unsent bool // Blank, or a medium, and the version that wrote the session's newest record leaves it out of requests
	Cached bool // it carries a mark for the prompt cache

	Width, Height int // of an image, in pixels; 0 when not known

	// What a MediaBlock holds that is stored in the message itself, and no link.
	Media  string // the type that its label says: "image/png"
	Is     string // the type that its first bytes tell, "" where they tell none that is known
	Bytes  int64  // how long it is in base64
	Broken bool   // it is not base64 of the standard alphabet, with padding
	In     int    // the number of the result that it is a part of, from 1; 0 for none
}

// OmissionNote stands in the place of a block that a repair left out of a request, "" where nothing does.
func (b *Block) OmissionNote() string {
	if b.Kind != MediaBlock {
		return ""
	}
	return fmt.Sprintf("[sessctl left out %s: %s, %d bytes in base64]", cmp.Or(b.Name, "media"), cmp.Or(b.Media, "no type"), b.Bytes)
}

// MediaName is the Name of a MediaBlock of a MIME type; an image where the type is not
// known.
func MediaName(mime string) string {
	switch name, _, _ := strings.Cut(mime, "/"); name {
	case "image", "audio", "video":
		return name
	case "":
		return "image"
	}
	return "document"
}

// SignedThinking reports whether the block is reasoning under a provider's
// signature.
func (b *Block) SignedThinking() bool { return b.Kind == ReasoningBlock && b.Signature != 0 }

// The kinds of blocks. UnknownBlock is a type outside the table of its store.
const (
	TextBlock BlockKind = iota
	ReasoningBlock
	CallBlock
	ResultBlock
	MediaBlock
	UnknownBlock
)

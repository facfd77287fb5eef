package session

// BlockKind says what a part of a message is.
type BlockKind uint8

// The kinds of blocks. UnknownBlock is a type outside the table of its store.
const (
	TextBlock BlockKind = iota
	ReasoningBlock
	CallBlock
	ResultBlock
	MediaBlock
	UnknownBlock
)

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

	Blank  bool // TextBlock: nothing, or nothing but white space
	Cached bool // it carries a mark for the prompt cache

	Width, Height int // of an image, in pixels; 0 when not known
}

// SignedThinking reports whether the block is reasoning under a provider's
// signature.
func (b *Block) SignedThinking() bool { return b.Kind == ReasoningBlock && b.Signature != 0 }

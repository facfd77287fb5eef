package canonical

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// blocks are the parts of a message: those that "blocks" lists, completed from
// the other members, and behind them, in the usual order, those that it leaves
// out. nil when the message tells of no more than a text, calls and results.
func (r *itemReader) blocks(rec *itemLine, number int64) []session.Block {
	usual, telling := usualBlocks(rec)
	if len(rec.Blocks) == 0 {
		if !telling {
			return nil
		}
		return usual
	}
	list := make([]session.Block, 0, max(len(rec.Blocks), len(usual)))
	for i := range rec.Blocks {
		given := &rec.Blocks[i]
		b := r.block(given, rec, number)
		same := func(u session.Block) bool { return u.Kind == b.Kind && (given.Nth == nil || b.Nth == u.Nth) }
		switch n := slices.IndexFunc(usual, same); {
		case n >= 0:
			b = completed(b, usual[n])
			usual = slices.Delete(usual, n, n+1)
		case b.Kind == session.CallBlock || b.Kind == session.ResultBlock:
			r.fault(session.UnknownPart, given.Type, at(number, fmt.Sprintf(
				"block %d is none of the item's %ss, or is listed twice", i, given.Type)))
			b = session.Block{Kind: session.UnknownBlock, Name: r.intern(given.Type)}
		}
		list = append(list, b)
	}
	list = append(list, usual...)
	forgetSharedText(list)
	return list
}

// usualBlocks are the blocks of a message without a list of them, in the usual
// order: reasoning, text, media, calls, results. telling is false when that is
// no more than the other fields of an item say.
func usualBlocks(rec *itemLine) (list []session.Block, telling bool) {
	if rec.Reasoning != "" || rec.Signature != nil {
		b := session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf(rec.Reasoning)}
		sign(&b, rec.Signature)
		list, telling = append(list, b), true
	}
	if rec.Text.string != "" {
		list = append(list, session.Block{Kind: session.TextBlock, Blank: isSpace(rec.Text.string)})
	}
	if rec.Media && !slices.ContainsFunc(rec.Blocks, isMedia) {
		list, telling = append(list, session.Block{Kind: session.MediaBlock}), true
	}
	for i := range rec.Calls {
		c := &rec.Calls[i]
		b := session.Block{Kind: session.CallBlock, Nth: i, ID: c.ItemID, With: c.With}
		sign(&b, c.Signature)
		telling = telling || b != session.Block{Kind: session.CallBlock, Nth: i}
		list = append(list, b)
	}
	for i := range rec.Results {
		list = append(list, session.Block{Kind: session.ResultBlock, Nth: i})
	}
	return list, telling
}

// block is a block as the list gives it.
func (r *itemReader) block(given *blockLine, rec *itemLine, number int64) session.Block {
	b := session.Block{
		Kind: blockKind(given.Type), ID: given.ID, With: given.With, Unsigned: given.Unsigned,
		Cached: given.Cached, Width: int(given.Width), Height: int(given.Height),
	}
	sign(&b, given.Signature)
	switch b.Kind {
	case session.UnknownBlock:
		b.Name = r.intern(given.Type)
		r.fault(session.UnknownPart, given.Type,
			at(number, "the type of block "+quoted(given.Type)+" is none of text, reasoning, call, result and media"))
	case session.MediaBlock:
		b.Name = r.intern(given.Name)
	case session.TextBlock:
		b.Blank = given.Blank || isSpace(rec.Text.string)
	case session.CallBlock, session.ResultBlock:
		if given.Nth != nil {
			b.Nth = int(*given.Nth)
		}
	}
	return b
}

// completed adds to a block of the list what other members of the item say of it.
func completed(b, usual session.Block) session.Block {
	b.Nth, b.Text = usual.Nth, usual.Text
	b.ID, b.With = cmp.Or(b.ID, usual.ID), cmp.Or(b.With, usual.With)
	if b.Signature == 0 && !b.Unsigned {
		b.Signature, b.Unsigned = usual.Signature, usual.Unsigned
	}
	return b
}

// forgetSharedText takes the digest of the reasoning away from the first of
// several blocks: the item has the text of all of them only.
func forgetSharedText(list []session.Block) {
	first := slices.IndexFunc(list, isReasoning)
	if first >= 0 && slices.ContainsFunc(list[first+1:], isReasoning) {
		list[first].Text = 0
	}
}

func isReasoning(b session.Block) bool { return b.Kind == session.ReasoningBlock }

func isMedia(b blockLine) bool { return blockKind(b.Type) == session.MediaBlock }

func isSpace(text string) bool { return strings.TrimSpace(text) == "" }

// sign notes a signature; one that is there and empty says that there is none.
func sign(b *session.Block, signature *string) {
	if signature != nil {
		b.Signature = session.DigestOf(*signature)
		b.Unsigned = *signature == ""
	}
}

// blockKind is the inverse of session.BlockKind.String; other names give
// UnknownBlock.
func blockKind(name string) session.BlockKind {
	for kind := range session.UnknownBlock {
		if kind.String() == name {
			return kind
		}
	}
	return session.UnknownBlock
}

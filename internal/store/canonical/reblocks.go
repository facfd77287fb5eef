package canonical

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// blocks writes the ids of blocks that lost them, and the stored list without
// the blocks of results that went elsewhere and of a text that is empty now.
func (l *lineText) blocks(it, was *session.Item, kept []int) {
	var list [][]byte
	next := 0 // of it.Blocks
	for k := range was.Blocks {
		old := &was.Blocks[k]
		at := "/blocks/" + strconv.Itoa(k)
		value, listed := l.raw(at)
		if !stays(old, it, kept) {
			continue
		}
		if next == len(it.Blocks) {
			break
		}
		b := &it.Blocks[next]
		next++
		if listed {
			list = append(list, l.block(value, b, old))
		}
		if b.ID != old.ID && b.Kind == session.CallBlock {
			l.id("/calls/"+strconv.Itoa(b.Nth)+"/item_id", b.ID)
		}
	}
	if _, there := l.raw("/blocks"); there && !slices.Equal(it.Blocks, was.Blocks) {
		l.setJSON("/blocks", listOf(list))
	}
}

// stays reports whether the item still has a block that it had.
func stays(old *session.Block, it *session.Item, kept []int) bool {
	switch old.Kind {
	case session.ResultBlock:
		return slices.Contains(kept, old.Nth)
	case session.TextBlock:
		return it.Has(session.TextBlock)
	}
	return true
}

// block is a block of the stored list with the number and the id that it has now.
func (l *lineText) block(stored jsontext.Value, b, old *session.Block) []byte {
	line := lineText{text: stored}
	if _, there := line.raw("/nth"); there && b.Nth != old.Nth {
		line.set("/nth", b.Nth)
	}
	if b.ID != old.ID {
		line.id("/id", b.ID)
	}
	if line.err != nil {
		l.err = line.err
	}
	return line.text
}

// id gives a stored id another value, or takes it away.
func (l *lineText) id(pointer, id string) {
	if id == "" {
		l.remove(pointer)
	} else if _, there := l.raw(pointer); there {
		l.set(pointer, id)
	}
}

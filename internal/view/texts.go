package view

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// A window of texts that are held at a time has at most so many items, and bytes, or one item.
const (
	windowItems = 1000
	windowBytes = 2 << 20
	mostWindows = 4
)

// texts loads what the rows of a view say when they are printed, some of a session at a time: all
// texts of a long session do not fit into memory.
type texts struct {
	load func(part *session.Tree) error
	held []*window // of each session that is being printed: one within the other
	err  error     // the first
}

// window is the items of a session whose texts are held.
type window struct {
	of       *session.Session
	from, to int
}

// loadItem loads the texts of the item at index i, and of those behind it that there is room for.
func (t *texts) loadItem(s *session.Session, i int) {
	w := t.windowOf(s)
	if w.from <= i && i < w.to {
		return
	}
	w.dropTexts()
	w.from, w.to = i, i
	for size := int64(0); w.to < len(s.Items) && w.to-i < windowItems && (w.to == i || size+s.Items[w.to].Size <= windowBytes); w.to++ {
		size += s.Items[w.to].Size
	}
	t.loadWindow(w)
}

// windowOf is the window of a session. Those of sessions within it are printed, and dropped.
func (t *texts) windowOf(s *session.Session) *window {
	for n, w := range t.held {
		if w.of == s {
			for _, within := range t.held[n+1:] {
				within.dropTexts()
			}
			t.held = t.held[:n+1]
			return w
		}
	}
	w := &window{of: s}
	if last := len(t.held) - 1; last+1 == mostWindows { // one beside it, or of many levels
		t.held[last].dropTexts()
		t.held = t.held[:last]
	}
	t.held = append(t.held, w)
	return w
}

func (t *texts) loadWindow(w *window) {
	if t.err == nil {
		part := *w.of
		part.Items = part.Items[w.from:w.to]
		t.err = t.load(&session.Tree{Sessions: []*session.Session{&part}})
	}
}

func (w *window) dropTexts() {
	for i := w.from; i < w.to; i++ {
		w.of.Items[i].DropTexts()
	}
}

// wholeRow makes the row of an item anew, with its texts and those of the results of its calls,
// which may be far away.
func (b *builder) wholeRow(s *Session, a *answers, outline *Row) *Row {
	b.texts.loadItem(s.Session, outline.Item)
	held := *b.texts.windowOf(s.Session)
	for n := range outline.Stored.Calls {
		at, answered := a.byCall[pairing.Occurrence{Item: outline.Item, Nth: n}]
		if answered && (at.Item < held.from || at.Item >= held.to) {
			far := &window{s.Session, at.Item, at.Item + 1}
			b.texts.loadWindow(far)
			defer far.dropTexts()
		}
	}
	row := b.buildRow(a.s, a, outline.Item)
	if row.Folded = outline.Folded; row.Stored.Kind == session.SubSession {
		row.Label = outline.Label
	}
	s.markFolded(&row)
	return &row
}

package ui

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress is a counter of bytes on one line of a terminal. It appears when the
// work takes longer than 300 ms and vanishes at the end. Its methods may be
// called from several goroutines, and do nothing off a terminal.
type Progress struct {
	w     io.Writer // nil off a terminal
	width int
	what  string
	total int64
	now   func() time.Time

	mu     sync.Mutex
	next   time.Time // not painted before
	shown  bool
	closed bool
}

const (
	patience = 300 * time.Millisecond // before the first line
	pace     = 100 * time.Millisecond // between two

	clearLine = "\r\x1b[K"
)

// Progress starts a counter on this screen: what is "reading session.db", total
// its size in bytes, 0 when unknown.
func (s *Screen) Progress(what string, total int64) *Progress {
	p := &Progress{width: s.Width, what: what, total: total, now: time.Now}
	if s.Terminal && !s.Dumb {
		p.w = s.plain
	}
	p.next = p.now().Add(patience)
	return p
}

// Set says how many bytes are done.
func (p *Progress) Set(n int64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.closed || now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(pace), true
	_, _ = io.WriteString(p.w, clearLine+Truncate(p.what+": "+p.amount(n), p.width-1))
}

func (p *Progress) amount(n int64) string {
	if p.total <= 0 {
		return Bytes(n)
	}
	n = min(n, p.total)
	return fmt.Sprintf("%s of %s (%d %%)", Bytes(n), Bytes(p.total), n*100/p.total)
}

// Clear removes the line.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.shown {
		_, _ = io.WriteString(p.w, clearLine)
	}
}

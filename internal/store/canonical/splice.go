package canonical

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
)

// Flush implements store.Rewriter: it copies the stream and makes the edits.
func (r *rewriter) Flush() error {
	p := splicer{from: r.s.r, to: bufio.NewWriterSize(r.to, 1<<16)}
	edits := slices.SortedFunc(maps.Values(r.edits), func(a, b *lineEdit) int { return cmp.Compare(a.offset, b.offset) })
	for _, e := range edits {
		p.edit(e)
	}
	p.copy(math.MaxInt64)
	if p.err == nil {
		p.err = p.to.Flush()
	}
	return p.err
}

// splicer copies a stream and makes edits on the way. The first error stays.
type splicer struct {
	from io.ReaderAt
	to   *bufio.Writer
	done int64 // bytes of the stream that are copied or passed over
	err  error
}

func (p *splicer) edit(e *lineEdit) {
	p.copy(e.offset)
	p.lines(e.before)
	switch {
	case e.gone:
		p.done, _ = p.lineEnd(e.offset + e.length)
	case e.text != nil:
		p.write(e.text)
		p.done = e.offset + e.length
	}
	if len(e.after) == 0 {
		return
	}
	if !e.gone {
		end, ended := p.lineEnd(e.offset + e.length)
		if p.copy(end); !ended {
			p.write([]byte("\n"))
		}
	}
	p.lines(e.after)
}

func (p *splicer) lines(lines [][]byte) {
	for _, line := range lines {
		p.write(line)
		p.write([]byte("\n"))
	}
}

func (p *splicer) write(text []byte) {
	if p.err == nil {
		_, p.err = p.to.Write(text)
	}
}

// copy copies up to an offset, or to the end of the stream.
func (p *splicer) copy(end int64) {
	if p.err != nil || end <= p.done {
		return
	}
	_, p.err = io.Copy(p.to, io.NewSectionReader(p.from, p.done, end-p.done))
	p.done = end
}

// lineEnd is the offset behind the line end that comes next, or the end of the
// stream, which has none there.
func (p *splicer) lineEnd(offset int64) (end int64, ended bool) {
	buf := make([]byte, 64)
	for p.err == nil {
		n, err := p.from.ReadAt(buf, offset)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return offset + int64(i) + 1, true
		}
		if offset += int64(n); err == io.EOF {
			break
		}
		p.err = err
	}
	return offset, false
}

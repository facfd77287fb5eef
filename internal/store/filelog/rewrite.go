package filelog

import (
	"bytes"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
)

// Rewrite is what becomes of lines of a file, by their offsets. No other byte changes.
type Rewrite struct {
	Lines map[int64]*Rewritten
	Runs  []*Run
	Apart map[*Run]bool // those that are taken apart
}

// Rewritten is what becomes of a line: nothing, itself or another text, and what comes behind it.
type Rewritten struct {
	Span
	Texts [][]byte
}

// Splices are the changes of the file, in their order.
func (w *Rewrite) Splices(file *Log) (list []Splice, err error) {
	add := func(at Span, is func(was []byte) []byte) {
		was := make([]byte, at.Length)
		if _, failed := file.Bytes().ReadAt(was, at.Offset); failed != nil && err == nil {
			err = failed
		}
		if s := Change(int(at.Offset), was, is(was)); len(s.Was)+len(s.Is) > 0 {
			list = append(list, s)
		}
	}
	for _, run := range w.Runs {
		if w.Apart[run] {
			add(run.Span, func(was []byte) []byte { return w.takeApart(run, was) })
		}
	}
	for _, at := range slices.Sorted(maps.Keys(w.Lines)) {
		l := w.Lines[at]
		if run := RunAt(w.Runs, at); run != nil {
			if !w.Apart[run] {
				return nil, problem.New(problem.RolledBack, "", "the record is on %s, whose records have to be parted first (SC010)", run.Name())
			}
			continue
		}
		whole := l.Span
		whole.Length += int(l.Rest)
		add(whole, func(was []byte) []byte {
			end := was[l.Length:]
			switch {
			case len(l.Texts) == 0:
				return nil
			case len(l.Texts) > 1 && !bytes.HasSuffix(end, []byte("\n")):
				end = []byte("\n")
			}
			return slices.Concat(bytes.Join(l.Texts, []byte("\n")), end)
		})
	}
	slices.SortStableFunc(list, func(a, b Splice) int { return a.At - b.At })
	return list, err
}

// takeApart puts the records of a run on lines of their own.
func (w *Rewrite) takeApart(run *Run, was []byte) []byte {
	var all [][]byte
	for _, piece := range run.Pieces {
		if l := w.Lines[piece.Offset]; l != nil {
			all = append(all, l.Texts...)
			continue
		}
		piece.Offset -= run.Offset
		all = append(all, bytes.Clone(piece.In(was)))
	}
	return bytes.Join(all, []byte("\n"))
}

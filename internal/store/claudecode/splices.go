package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// collectSplices collects the changes of the file, in their order.
func (f *rewrite) collectSplices(ctx context.Context) (list []filelog.Splice, err error) {
	newline := []byte("\n")
	if at := f.file.EndOfLine(0); at > 1 && string(f.file.Between(at-2, 2)) == "\r\n" {
		newline = []byte("\r\n")
	}
	if more := f.behind[start]; len(more) > 0 {
		list = append(list, f.spliceLines(0, more, newline))
	}
	for _, r := range f.runs {
		if f.apart[r] {
			list = append(list, f.takeApart(r, newline))
		}
	}
	for i := range f.nodes {
		_, relinked := f.parents[i]
		_, says := f.texts[i]
		r := f.runOf(i)
		switch touched := f.gone[i] || relinked || says || len(f.behind[i]) > 0; {
		case r != nil && touched && !f.apart[r]:
			return nil, problem.New(problem.RolledBack, "", "the record is on %s, whose records have to be parted first (SC010)", r.Name())
		case r != nil || !touched:
			continue
		}
		from, to := int(f.nodes[i].offset), f.endOfLine(i)
		if f.gone[i] {
			list = append(list, filelog.Splice{At: from, Was: f.file.Between(from, to-from)})
		} else if s := filelog.Change(from, f.storedLine(i), f.relinkedLine(i)); len(s.Was)+len(s.Is) > 0 {
			list = append(list, s)
		}
		if more := f.behind[i]; len(more) > 0 {
			list = append(list, f.spliceLines(to, more, newline))
		}
	}
	if more := f.behind[-1]; len(more) > 0 {
		list = append(list, f.spliceLines(int(f.file.Size), more, newline))
	}
	for at, err := range f.file.Log().Lines(ctx) {
		if err != nil || len(f.renamed) == 0 {
			break
		}
		if i, known := f.nodeAt(at.Offset); known && f.gone[i] {
			continue
		}
		if text := f.relinkLeaf(at.Text); !bytes.Equal(text, at.Text) {
			list = append(list, filelog.Change(int(at.Offset), bytes.Clone(at.Text), text))
		}
	}
	slices.SortStableFunc(list, func(a, b filelog.Splice) int { // what comes behind a line is before what the next one becomes
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(min(len(a.Was), 1), min(len(b.Was), 1)))
	})
	return list, cmp.Or(ctx.Err(), f.file.Err)
}

// relinkLeaf is a line of the type last-prompt that names a line which is there.
func (f *rewrite) relinkLeaf(text []byte) []byte {
	l, _, wrong := parseLine(text)
	to := f.renamed[f.Name(l.Leaf)]
	for range f.renamed { // which may lead in a circle
		to = cmp.Or(f.renamed[to], to)
	}
	if wrong != "" || l.Type != lastPrompt || to == 0 {
		return text
	}
	if named, err := jsonedit.SetValue(text, "/leafUuid", docedit.QuoteText(f.Text(to))); err == nil { // it was read before
		return named
	}
	return text
}

// takeApart puts the records of a run on lines of their own.
func (f *rewrite) takeApart(r *filelog.Run, newline []byte) filelog.Splice {
	var kept [][]byte
	for _, p := range r.Pieces {
		i, chained := f.nodeAt(p.Offset)
		switch {
		case !chained:
			kept = append(kept, f.relinkLeaf(p.Of(f.file)))
			continue
		case !f.gone[i]:
			kept = append(kept, f.relinkedLine(i))
		}
		kept = append(kept, f.behind[i]...)
	}
	return filelog.Change(int(r.Offset), f.file.Between(int(r.Offset), r.Length), bytes.Join(kept, newline))
}

// spliceLines are new lines at a place.
func (f *rewrite) spliceLines(at int, lines [][]byte, newline []byte) filelog.Splice {
	s := filelog.Splice{At: at}
	if at > 0 && f.file.Between(at-1, 1)[0] != '\n' && !f.cutsLastLine() {
		s.Is = bytes.Clone(newline)
	}
	for _, line := range lines {
		s.Is = append(append(s.Is, line...), newline...)
	}
	return s
}

// cutsLastLine reports whether the last line of the file leaves.
func (f *rewrite) cutsLastLine() bool {
	last := len(f.nodes) - 1
	return last >= 0 && f.gone[last] && f.runOf(last) == nil && f.endOfLine(last) == int(f.file.Size)
}

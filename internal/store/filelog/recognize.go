package filelog

import (
	"context"
	"io"
	"iter"
	"os"

	"github.com/sessctl/sessctl/internal/jsonscan"
)

// Recognize reports whether one of the first lines of a stream, or of the first files of a folder, is one that only a
// runtime writes.
func Recognize(ctx context.Context, stream io.ReadSeeker, root *os.Root, names iter.Seq[string], is func(text []byte) bool) bool {
	if stream != nil && Over(stream).recognize(ctx, is) {
		return true
	}
	if root == nil {
		return false
	}
	const enough = 50
	n := 0
	for name := range names {
		if log, err := OpenPacked(root, name); err == nil {
			right := log.recognize(ctx, is)
			if _ = log.Close(); right { // nothing was written to it
				return true
			}
		}
		if n++; n >= enough {
			break
		}
	}
	return false
}

func (l *Log) recognize(ctx context.Context, is func(text []byte) bool) bool {
	const enough = 50
	n := 0
	for at, err := range l.Records(ctx, jsonscan.IsUsualJSON) {
		if n++; err != nil || n > enough {
			break
		}
		if at.Err == nil && is(at.Text) {
			return true
		}
	}
	return false
}

package filelog

import (
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/store"
)

// HomeFolder is that of a store.Kind whose runtime keeps everything in one folder: in that which a variable of the
// environment names, or else in one of the person's.
func HomeFolder(variable, name string) func(home string) []string {
	return func(home string) []string {
		switch folder := os.Getenv(variable); {
		case folder != "":
			return []string{folder}
		case home == "":
			return nil
		}
		return []string{filepath.Join(home, name)}
	}
}

// Recognize detects a store by one of the first lines of a stream, or of the first files of a folder, that only a
// runtime writes.
func Recognize(ctx context.Context, stream io.ReadSeeker, root *os.Root, names iter.Seq[string], why string, is func(text []byte) bool) store.Detection {
	sure := store.Detection{Sure: store.Certain, Why: why}
	if stream != nil && Over(stream).recognize(ctx, is) {
		return sure
	}
	if root == nil {
		return store.Detection{}
	}
	const enough = 50
	n := 0
	for name := range names {
		if log, err := OpenPacked(root, name); err == nil {
			right := log.recognize(ctx, is)
			if _ = log.Close(); right { // nothing was written to it
				return sure
			}
		}
		if n++; n >= enough {
			break
		}
	}
	return store.Detection{}
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

package filelog

import (
	"context"
	"io"
	"math"
)

// pieceBytes and overlap are how long the pieces of a file are, and what two have in common.
const (
	pieceBytes = 1 << 18
	overlap    = 1 << 8
)

// LackWords reports whether some files together lack a word: see store.Options.Lacks. One that
// cannot be read lacks none: who reads it says why.
func LackWords(ctx context.Context, lacks func([]byte) uint64, open func(name string) (*Log, error), names ...string) bool {
	lacking, buf := uint64(math.MaxUint64), make([]byte, pieceBytes)
	for _, name := range names {
		log, err := open(name)
		if err != nil {
			return false
		}
		for at := int64(0); err == nil && lacking != 0; at += pieceBytes - overlap {
			var n int
			n, err = At(log.file).ReadAt(buf, at)
			lacking &= lacks(buf[:n])
		}
		_ = log.Close() // it was only read
		if lacking == 0 || err != io.EOF || ctx.Err() != nil {
			return false
		}
	}
	return true
}

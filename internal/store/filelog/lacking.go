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
	lacking, buf := uint64(math.MaxUint64), make([]byte, overlap+pieceBytes)
	for _, name := range names {
		log, err := open(name)
		if err != nil {
			return false
		}
		kept, from := 0, At(log.file)
		for at := int64(0); err == nil && lacking != 0; at += pieceBytes { // forwards only, which a compressed file asks for
			var n int
			n, err = from.ReadAt(buf[kept:kept+pieceBytes], at)
			text := buf[:kept+n]
			lacking &= lacks(text)
			kept = copy(buf, text[max(len(text)-overlap, 0):])
		}
		_ = log.Close() // it was only read
		if lacking == 0 || err != io.EOF || ctx.Err() != nil {
			return false
		}
	}
	return true
}

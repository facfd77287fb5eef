package repair

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkReceipt writes the receipts of repairs in several batches, each of which
// changes 2 MiB: the time that the store is locked for it follows what was changed.
func BenchmarkReceipt(b *testing.B) {
	row := []byte(`{"table":"session_items","row":1,"before":{"message_json":"` + string(bytes.Repeat([]byte("a text "), 140)) + `"},"after":null}`)
	journal := append(append([]byte{'['}, bytes.Repeat(append(row, ','), 2<<20/len(row))...), row...)
	journal = append(journal, ']')
	for _, batches := range []int{1, 4, 16} {
		b.Run(fmt.Sprint(batches), func(b *testing.B) {
			for n := range b.N {
				r := newReceipt(&Plan{}, Apply{Receipt: filepath.Join(b.TempDir(), fmt.Sprint(n))})
				for range batches {
					batch := &Batch{Sessions: []Touched{{ID: "s"}}, Journal: journal}
					if err := r.appendBatch(batch); err != nil {
						b.Fatal(err)
					}
					r.countCommitted(batch)
				}
				if err := r.appendEnd(Done); err != nil {
					b.Fatal(err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package canonical_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

// BenchmarkMillion reads the outlines of a million items and reports the
// largest heap behind a tree, per item: live bytes, and with what the collector
// had not freed yet.
func BenchmarkMillion(b *testing.B) {
	const items = 1_000_000
	for _, perSession := range []int{100, 10_000, items} {
		b.Run(fmt.Sprintf("%d in a session", perSession), func(b *testing.B) {
			f := millionItems(b, items/perSession, perSession)
			info, err := f.Stat()
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			var live, heap uint64
			for b.Loop() {
				live, heap = peak(b, f)
			}
			b.ReportMetric(float64(live)/items, "live-B/item")
			b.ReportMetric(float64(heap)/items, "heap-B/item")
		})
	}
}

// peak reads everything once, with little garbage allowed, as the program does.
func peak(b *testing.B, f *os.File) (live, heap uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	runtime.GC()
	st, err := canonical.Kind.Open(context.Background(), &store.Source{Path: f.Name(), Stream: f}, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var m runtime.MemStats
	n := 0
	for tree, err := range st.Trees(context.Background()) {
		if err != nil {
			b.Fatal(err)
		}
		if n++; n%1000 == 1 {
			runtime.ReadMemStats(&m)
			heap = max(heap, m.HeapInuse)
			runtime.GC()
			runtime.ReadMemStats(&m)
			live = max(live, m.HeapAlloc)
		}
		runtime.KeepAlive(tree)
	}
	return live, heap
}

func millionItems(b *testing.B, sessions, items int) *os.File {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "million.ndjson"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	w := bufio.NewWriter(f)
	_, _ = w.WriteString(header)
	for s := range sessions {
		_, _ = fmt.Fprintf(w, `{"type":"session","id":"session-%d","agent":"root"}`+"\n", s)
		for i := range items / 2 {
			_, _ = fmt.Fprintf(w, `{"type":"item","session":"session-%d","kind":"message","role":"assistant","agent":"root","time":"2026-03-02T09:00:00Z","text":"I look at file %d.","calls":[{"id":"call-%d","name":"read_file","args":"{\"path\":\"file-%d\"}"}]}`+"\n", s, i, i, i)
			_, _ = fmt.Fprintf(w, `{"type":"item","session":"session-%d","kind":"message","role":"tool","agent":"root","time":"2026-03-02T09:00:01Z","results":[{"call":"call-%d","text":"what file %d says"}]}`+"\n", s, i, i)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return f
}

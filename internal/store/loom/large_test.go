package loom_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// What a workspace says is never in memory all at once: 40 MB of texts are read with
// a few of them.
func TestLargeTextsAreNotKept(t *testing.T) {
	const steps, size = 400, 100_000
	w := loomtest.Create(filepath.Join(t.TempDir(), "workspace"))
	text := strings.Repeat("x", size)
	for i := range steps {
		w.Step(fmt.Sprint("agent-", i%4), loomtest.Step{Observation: fmt.Sprint(i, text)})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	o, err := registry.Open(t.Context(), w.Folder, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	items := 0
	for tree, err := range o.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		items += tree.Items()
		if now := heap(); now > before+steps*size/10 {
			t.Fatalf("%d bytes are kept", now-before)
		}
		runtime.KeepAlive(tree)
	}
	if err := o.Close(); err != nil || items != 2*steps {
		t.Errorf("%d items, %v", items, err)
	}
	runtime.KeepAlive(text)
}

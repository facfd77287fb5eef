package repair_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// BenchmarkRefusedFixes plans the repair of a session with 1,000 calls without a result, where
// the times leave room for none: the store refuses each of the fixes.
func BenchmarkRefusedFixes(b *testing.B) {
	path := filepath.Join(b.TempDir(), "store.db")
	db, err := springtest.Create(path, springtest.Form{ByTime: true})
	if err != nil {
		b.Fatal(err)
	}
	db.Session("s")
	for n := range 1000 {
		db.Append("s", springtest.User("go on"), springtest.Calling(strconv.Itoa(n)))
	}
	db.Exec(`UPDATE ai_session_event SET "timestamp" = (SELECT min("timestamp") FROM ai_session_event)`)
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	opened, err := registry.Open(b.Context(), path, "", nil, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = opened.Close() })
	refused := 0
	for b.Loop() {
		plan, _, err := repair.MakePlan(b.Context(), opened.Store, repair.Options{Prologue: opened.Kind.Prologue})
		if err != nil {
			b.Fatal(err)
		}
		refused = 0
		for _, r := range plan.Refused {
			refused += r.Count
		}
	}
	b.ReportMetric(float64(refused), "refused")
}

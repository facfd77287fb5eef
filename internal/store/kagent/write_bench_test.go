package kagent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// BenchmarkSplit plans and makes the split of a session that calls of one turn share.
func BenchmarkSplit(b *testing.B) {
	for _, calls := range []int{100, 1000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			var batch []kagenttest.Call
			for i := range calls {
				batch = append(batch, kagenttest.Call{Agent: kagenttest.Worker, Ask: fmt.Sprint("Check cluster ", i), Answer: fmt.Sprint("Cluster ", i, " is fine")})
			}
			program := kagenttest.Program{Conversations: []kagenttest.Conversation{{Turns: []kagenttest.Turn{{Ask: "Check all", Work: [][]kagenttest.Call{batch}, Answer: "Fine"}}}}}
			built := filepath.Join(b.TempDir(), "kagent.db")
			if _, err := program.Build(built, kagenttest.Forms["python"]); err != nil {
				b.Fatal(err)
			}
			stored, err := os.ReadFile(built)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				path := filepath.Join(b.TempDir(), fmt.Sprint(n, ".db"))
				if err := os.WriteFile(path, stored, 0o600); err != nil {
					b.Fatal(err)
				}
				if _, receipt, err := repairtest.Repair(path, "split"); err != nil || receipt == nil {
					b.Fatal(err, receipt)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*calls), "µs/call")
		})
	}
}

package repair_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// damagedStores build stores of which a repair changes several tables and columns,
// the old one of docker agent too.
var damagedStores = map[string]func(t *testing.T, path string){
	"docker agent": func(t *testing.T, path string) { leakyStore(t, path) },
	"adk":          func(t *testing.T, path string) { lossyADK(t, path) },
	"kagent": func(t *testing.T, path string) {
		if _, err := kagenttest.Script("collapsed-11").Build(path, kagenttest.Forms["python"]); err != nil {
			t.Fatal(err)
		}
	},
}

func lossyADK(t *testing.T, path string) {
	t.Helper()
	var sessions []adktest.Session
	for seed := range uint64(4) {
		s := adktest.Random(seed, 8)
		s.ID = fmt.Sprint(s.ID, "-", seed)
		rng := rand.New(rand.NewPCG(seed, 4))
		adktest.Damages["an answer is lost"](rng, &s)
		adktest.Damages["an answer to nothing"](rng, &s)
		for i := range s.Events {
			s.Events[i].ID = fmt.Sprint(seed, "-", i)
		}
		sessions = append(sessions, s)
	}
	if err := adktest.Create(path, adktest.P1, sessions...); err != nil {
		t.Fatal(err)
	}
}

// mutations are what happens to a file that nobody watches.
var mutations = []func(rng *rand.Rand, data []byte) []byte{
	func(rng *rand.Rand, data []byte) []byte { // bits
		for range 1 + rng.IntN(3) {
			data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
		}
		return data
	},
	func(rng *rand.Rand, data []byte) []byte { // bytes
		for range 1 + rng.IntN(3) {
			data[rng.IntN(len(data))] = byte(rng.IntN(256))
		}
		return data
	},
	func(rng *rand.Rand, data []byte) []byte { // digits, which leave it JSON
		for range 1 + rng.IntN(3) {
			for {
				if at := rng.IntN(len(data)); data[at] >= '0' && data[at] <= '9' {
					data[at] = '0' + (data[at]-'0'+1)%10
					break
				}
			}
		}
		return data
	},
	func(rng *rand.Rand, data []byte) []byte { // a line is lost
		lines := bytes.SplitAfter(data, []byte("\n"))
		at := rng.IntN(len(lines) - 1)
		return bytes.Join(append(lines[:at:at], lines[at+1:]...), nil)
	},
	func(rng *rand.Rand, data []byte) []byte { // two lines change places
		lines := bytes.SplitAfter(data, []byte("\n"))
		a, b := rng.IntN(len(lines)-1), rng.IntN(len(lines)-1)
		lines[a], lines[b] = lines[b], lines[a]
		return bytes.Join(lines, nil)
	},
	func(rng *rand.Rand, data []byte) []byte { return data[:rng.IntN(len(data))] }, // it is cut off
	func(rng *rand.Rand, data []byte) []byte { // whole lines are
		lines := bytes.SplitAfter(data, []byte("\n"))
		return bytes.Join(lines[:rng.IntN(len(lines))], nil)
	},
}

// TestDamagedReceipts undoes repairs by receipts that something happened to: each is
// refused, or the store is exactly what it was before the repair. In between there
// is nothing.
func TestDamagedReceipts(t *testing.T) {
	defer repair.SmallBatches()()
	rounds := campaign.Rounds(60, 400)
	for name, build := range damagedStores {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			build(t, path)
			before := strings.Join(storetest.Dump(t, path), "\n")
			_, receipt, err := repairtest.Repair(path, "split")
			if err != nil || receipt == nil {
				t.Fatalf("receipt %v, error %v", receipt, err)
			}
			after := strings.Join(storetest.Dump(t, path), "\n")
			repaired, err1 := os.ReadFile(path)
			whole, err2 := os.ReadFile(receipt.Path())
			if err1 != nil || err2 != nil || after == before {
				t.Fatal(err1, err2)
			}
			rng := rand.New(rand.NewPCG(7, 11))
			outcomes := map[string]int{}
			for round := range rounds {
				damaged := mutations[round%len(mutations)](rng, bytes.Clone(whole))
				if err := os.WriteFile(path, repaired, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(receipt.Path(), damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				n, err := repairtest.Undo(path, receipt.Path())
				now := strings.Join(storetest.Dump(t, path), "\n")
				switch {
				case err == nil && (n == 0 || now != before):
					t.Fatalf("round %d: the undo of %d sessions went well, and the store is not what it was", round, n)
				case err != nil && now != after:
					t.Fatalf("round %d: the undo failed (%v), and changed the store", round, err)
				case errors.Is(err, repair.ErrNoReceipt): // the damage took the mark of one
				case err != nil && problem.ClassOf(err) != problem.Busy && problem.ClassOf(err) != problem.RolledBack:
					t.Errorf("round %d: %v", round, err)
				}
				outcomes[fmt.Sprintf("code %d", problem.ClassOf(err))]++
			}
			t.Logf("%d receipts of %d batches: %v", rounds, len(receipt.Batches), outcomes)
			if outcomes["code 5"] == 0 {
				t.Error("none is refused")
			}
		})
	}
}

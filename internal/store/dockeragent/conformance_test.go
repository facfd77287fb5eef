package dockeragent_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	const withItems = 14 // older generations have no rows that could leak
	var samples []storetest.Sample
	for generation := range agenttest.Latest + 1 {
		samples = append(samples, storetest.Sample{
			Name: fmt.Sprintf("generation %03d", generation),
			Make: func(t *testing.T, folder string) string {
				path := filepath.Join(folder, "session.db")
				db, err := agenttest.Create(path, generation)
				if err != nil {
					t.Fatal(err)
				}
				write := agenttest.WriteFixed
				if generation >= withItems {
					write = agenttest.WriteLeaky
				}
				for seed := range uint64(4) {
					if _, err := write(db, agenttest.Random(seed, 12)); err != nil {
						t.Fatal(err)
					}
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				return path
			},
		})
	}
	storetest.Run(t, dockeragent.Kind, samples...)
}

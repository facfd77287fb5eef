package adk_test

import (
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	var samples []storetest.Sample
	for _, g := range adktest.Generations {
		samples = append(samples, storetest.Sample{Name: string(g), Make: func(t *testing.T, folder string) string {
			var sessions []adktest.Session
			for _, s := range adktest.Scripts() {
				if g.Lacks(s) == "" {
					sessions = append(sessions, s)
				}
			}
			for seed := range uint64(4) {
				if s := g.Random(seed, 12); g.Lacks(s) == "" {
					sessions = append(sessions, s)
				}
			}
			path := filepath.Join(folder, "adk.db")
			if err := adktest.Create(path, g, sessions...); err != nil {
				t.Fatal(err)
			}
			return path
		}})
	}
	storetest.Run(t, adk.Kind, samples...)
}

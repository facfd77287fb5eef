package springai_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/store/springai"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	var samples []storetest.Sample
	for name, form := range springtest.Forms {
		samples = append(samples, storetest.Sample{
			Name: name,
			Make: func(t *testing.T, folder string) string {
				path := filepath.Join(folder, "sessions.db")
				db, err := springtest.Create(path, form)
				if err != nil {
					t.Fatal(err)
				}
				for seed := range uint64(4) {
					springtest.Random(db, fmt.Sprint("random ", seed), seed, 8)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				return path
			},
		})
	}
	storetest.Run(t, springai.Kind, samples...)
}

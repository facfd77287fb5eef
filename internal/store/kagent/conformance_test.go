package kagent_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/store/kagent"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestConformance reads every script in one form each, so that all forms come, and
// random programs.
func TestConformance(t *testing.T) {
	forms := sortedForms()
	programs := kagenttest.Scripts()
	for seed := range uint64(4) {
		programs = append(programs, kagenttest.Random(seed))
	}
	var samples []storetest.Sample
	for i, program := range programs {
		form := forms[i%len(forms)]
		samples = append(samples, storetest.Sample{
			Name: fmt.Sprint(i, " ", program.Name, ", ", form),
			Make: func(t *testing.T, folder string) string {
				path := filepath.Join(folder, "kagent.db")
				if _, err := program.Build(path, kagenttest.Forms[form]); err != nil {
					t.Fatal(err)
				}
				return path
			},
		})
	}
	storetest.Run(t, kagent.Kind, samples...)
}

func sortedForms() []string {
	var names []string
	for name := range kagenttest.Forms {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

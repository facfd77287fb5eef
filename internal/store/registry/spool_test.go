//go:build unix

package registry_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// The copy of standard input has no name while it is read, so that it goes away
// with the process, however that ends.
func TestNothingIsLeftOfStandardInput(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	stdin := strings.NewReader(`{"type":"header","format":"sessctl.canonical/1"}` + "\n" + `{"type":"session","id":"S"}` + "\n")
	o, err := registry.Open(t.Context(), "-", "", stdin, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is there while the stream is read (%v)", left, err)
	}
	sessions := 0
	for tree, err := range o.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		sessions += len(tree.Sessions)
	}
	if err := o.Close(); err != nil || sessions != 1 {
		t.Errorf("%d sessions, %v", sessions, err)
	}
}

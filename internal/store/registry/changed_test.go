//go:build unix

package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

const aStream = `{"type":"header","format":"sessctl.canonical/1"}` + "\n" + `{"type":"session","id":"S"}` + "\n"

// A stream or a folder that is replaced while it is read is told, as a database is.
func TestChangedSaysWhatBecameOfStreamsAndFolders(t *testing.T) {
	const step = "{"
	workspace := filepath.Join("main", "history", "step_001.json")
	move := func(t *testing.T, from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	changes := []struct {
		name   string
		stream bool // of streams only
		happen func(t *testing.T, path, other string)
		says   string
	}{
		{"nothing", false, func(*testing.T, string, string) {}, ""},
		{"replaced", false, func(t *testing.T, path, other string) { move(t, path, path+".old"); move(t, other, path) }, "was replaced while sessctl read it"},
		{"moved away", false, func(t *testing.T, path, _ string) { move(t, path, path+".old") }, "was moved or deleted while sessctl read it"},
		{"renamed over", true, func(t *testing.T, path, other string) { move(t, other, path) }, "was replaced while sessctl read it"},
		{"written to", true, func(t *testing.T, path, _ string) { writeTo(t, path, aStream+aStream) }, "was written to while sessctl read it"},
	}
	for _, kind := range []string{"stream", "folder"} {
		for _, change := range changes {
			if change.stream && kind != "stream" {
				continue
			}
			t.Run(kind+" "+change.name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "store")
				for _, at := range []string{path, path + ".other"} {
					if kind == "stream" {
						writeTo(t, at, aStream)
					} else {
						writeTo(t, filepath.Join(at, workspace), step)
					}
				}
				wanted := "canonical"
				if kind == "folder" {
					wanted = "loom"
				}
				o, err := registry.Open(t.Context(), path, wanted, nil, store.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = o.Close() }()
				change.happen(t, path, path+".other")
				if got := o.Changed(); !strings.Contains(got, change.says) || (got == "") != (change.says == "") {
					t.Errorf("%q, want %q", got, change.says)
				}
			})
		}
	}
}

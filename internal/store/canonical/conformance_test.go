package canonical_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	sample := func(name, text string) storetest.Sample {
		return storetest.Sample{Name: name, Make: func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "stream")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}}
	}
	storetest.Run(t, canonical.Kind,
		sample("no sessions", header),
		sample("interleaved sessions", many(3, 4, 10)),
		sample("damage", private),
		sample("odd lines", odd),
		sample("blocks", header+`{"type":"session","id":"P","thinking":true}`+"\n"+
			`{"type":"item","session":"P","kind":"message","role":"assistant","model":"m","reasoning":"r","signature":"s","calls":[{"id":"A","name":"a","args":"[","item_id":"fc_1"}],"blocks":[{"type":"call"},{"type":"widget"}]}`),
		sample("parents in a loop", header+`{"type":"session","id":"P","parent":"C"}`+"\n"+`{"type":"session","id":"C","parent":"P"}`),
	)
}

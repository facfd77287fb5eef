package adk

import (
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// TestPickledActions holds that compaction, rewind and confirmations are read from
// pickles as they are from documents.
func TestPickledActions(t *testing.T) {
	for _, script := range []adktest.Session{adktest.Script("compacted"), adktest.Script("rewound"), adktest.Script("confirmed")} {
		var want string
		for _, g := range []adktest.Generation{adktest.P1, adktest.PS, adktest.P0} {
			path := filepath.Join(t.TempDir(), "adk.db")
			if err := adktest.Create(path, g, script); err != nil {
				t.Fatal(err)
			}
			_, sessions := read(t, path)
			got := ""
			for _, s := range sessions {
				for i := range s.Items {
					got += fate(&s.Items[i])
					for _, r := range s.Items[i].Results {
						got += map[bool]string{true: "p", false: "f"}[r.Pending]
					}
				}
			}
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s in %s: got %s, want %s", script.ID, g, got, want)
			}
		}
		t.Log(script.ID, want)
	}
}

// TestOpaqueActions holds that a pickle which is more than data leaves the event as
// it is.
func TestOpaqueActions(t *testing.T) {
	it, list := decoded(p0, row{
		"author": "a", "content": `{"role":"model","parts":[{"text":"x"}]}`,
		"actions": []byte("\x80\x05cbuiltins\neval\n(Vprint(1)\nR."), // protocol 0's text, which Python writes nowhere
	})
	if it.Kind != session.Message || it.Body.Text != "x" || len(list) > 0 {
		t.Errorf("got %s", outline(it, list))
	}
}

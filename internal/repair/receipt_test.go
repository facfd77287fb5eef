package repair

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What an item said can look like anything in a receipt, and the journals still
// come back as they were.
func TestAReceiptIsReadAsItWasWritten(t *testing.T) {
	r := &Receipt{Schema: ReceiptSchema, State: Pending, path: filepath.Join(t.TempDir(), "r.json")}
	for _, text := range []string{"-8646911284551352321", `"journal": null`, `]}`, ""} {
		r.Batches = append(r.Batches, &Batch{
			State: Done, Kept: []Kept{{Row: "items/1", Text: text}}, Journal: json.RawMessage(`[{"row":1,"after":null}]`),
		})
	}
	r.Batches = append(r.Batches, &Batch{State: Pending, Journal: json.RawMessage("null")}) // as a stream has it
	for range 2 {                                                                           // written anew when it is done
		if err := r.write(); err != nil {
			t.Fatal(err)
		}
		got, err := ReadReceipt(r.path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Batches, got.Batches); diff != "" {
			t.Errorf("written (-), read (+):\n%s", diff)
		}
		r.State = Done
	}
}

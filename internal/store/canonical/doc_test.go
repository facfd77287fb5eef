package canonical_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

// The example of docs/canonical.md is what the page says it is.
func TestDocumentedExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "canonical.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```ndjson\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no ndjson block")
	}
	st := openStream(t, example)
	trees := filled(t, st)
	if len(trees) != 1 || len(trees[0].Sessions) != 2 {
		t.Fatalf("%d trees", len(trees))
	}
	parent, child := trees[0].Root(), trees[0].Sessions[1]
	if f := showFaults(append(append(st.Facts().Faults, parent.Faults...), child.Faults...)); f != "" {
		t.Errorf("faults: %s", f)
	}
	if parent.ID != "P" || child.ID != "C" || len(parent.Children) != 1 || parent.Children[0] != child {
		t.Errorf("tree of %s and %s", parent.ID, child.ID)
	}
	call, reference, result := parent.Items[1].Calls[0], parent.Items[2], parent.Items[3].Results[0]
	if call.Delegation == nil || call.Delegation.Child != "C" || call.Delegation.Task != child.Task || child.Task == 0 {
		t.Errorf("the call %+v does not hand over the child's task", call)
	}
	if reference.Kind != session.SubSession || reference.Child() != "C" || reference.Flags.Has(session.Dangling) {
		t.Errorf("the reference is %+v", reference)
	}
	last := child.Items[len(child.Items)-1]
	if result.CallID != call.ID || result.Digest != last.Text {
		t.Errorf("the result %+v is not the child's answer", result)
	}
	if got := export(t, st, canonical.WriteOptions{}); got != example {
		t.Errorf("exported again:\n%s", got)
	}
}

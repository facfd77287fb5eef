package replays

import (
	"testing"

	"github.com/sessctl/sessctl/internal/replay"
)

func TestEveryReasonOfAnEventHasItsWords(t *testing.T) {
	reasons := []replay.Reason{replay.OwnRecord}
	for r := replay.NothingStored; r.String() != ""; r++ {
		reasons = append(reasons, r)
	}
	if len(reasons) != len(reasonForms) {
		t.Errorf("there are %d reasons of events and words for %d", len(reasons), len(reasonForms))
	}
	for _, r := range reasons {
		if reasonForms[r] == "" {
			t.Errorf("%q has no words", r)
		}
	}
}

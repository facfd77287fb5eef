package replays

import (
	"testing"

	"github.com/sessctl/sessctl/internal/replay"
)

func TestEveryReasonOfAnEventHasItsWords(t *testing.T) {
	for r := replay.NothingStored; r <= replay.RunBegins; r++ {
		if reasonForms[r] == "" {
			t.Errorf("%q has no words", r)
		}
	}
}

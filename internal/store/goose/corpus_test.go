package goose_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/goose"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = storetest.Corpus("../../../../shared/corpus/goose")

// verdicts are what is right about each recorded database, as its README has it: those
// that are not here are clean.
var verdicts = map[string][]string{
	"killed-child":         {"info SC705 "},
	"killed-child-resumed": {"warning SC705 "},
	"duplicate-result":     {"warning SC106 call_t1_0_0"},
	"half-hidden-pair":     {"warning SC725 call_big_0_0"},
}

func TestVerdicts(t *testing.T) { corpus.Verdicts(t, verdicts) }

func TestRecordedConform(t *testing.T) {
	corpus.Run(t, goose.Kind, "delegate-two", "delegate-async", "compaction", "killed-child", "fork", "tools")
}

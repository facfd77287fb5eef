package crush_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/crush"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = storetest.Corpus("../../../../shared/corpus/crush")

// verdicts are what is right about each recorded database, as its README has it: those
// that are not here are clean. SC407 of the last message is an info.
var verdicts = map[string][]string{
	"agent-two":          {"info SC111 call_d2_0_1"},
	"provider-error":     {"info SC301 "},
	"bad-arguments":      {"error SC205 call_bad_0_0", "warning SC101 call_bad_0_0"},
	"killed-tool":        {"info SC407 ", "warning SC101 call_k_0_0"},
	"killed-second-tool": {"warning SC101 call_kk_0_1", "warning SC407 "},
	"killed-second-turn": {"info SC407 ", "warning SC101 call_q1_1_0"},
	"killed-child":       {"info SC407 ", "info SC407 ", "warning SC101 call_kc_0_0"},
	"killed-stream":      {"info SC407 "},
	"killed-arguments":   {"error SC205 call_ka_0_0", "info SC407 ", "warning SC101 call_ka_0_0"},
	"interrupted":        {"warning SC101 call_kk_0_1", "warning SC407 "},

	"killed-tool-resumed":        {"warning SC101 call_k_0_0", "warning SC407 "},
	"killed-second-tool-resumed": {"warning SC101 call_kk_0_1", "warning SC407 "},
	"killed-second-turn-resumed": {"warning SC101 call_q1_1_0", "warning SC407 "},
	"killed-child-resumed":       {"info SC407 ", "warning SC101 call_kc_0_0", "warning SC407 "},
	"killed-stream-resumed":      {"warning SC407 "},
	"killed-arguments-resumed":   {"error SC205 call_ka_0_0", "warning SC101 call_ka_0_0", "warning SC407 "},
	"interrupted-resumed":        {"warning SC101 call_kk_0_1", "warning SC407 "},

	// Repaired by hand: a result that nobody has answered yet is the last message.
	"killed-tool.repaired": {"info SC305 "}, "killed-second-tool.repaired": {"info SC305 "},
	"killed-second-turn.repaired": {"info SC305 "}, "killed-child.repaired": {"info SC305 "},
	"killed-arguments.repaired": {"info SC305 "},
}

func TestVerdicts(t *testing.T) { corpus.Verdicts(t, verdicts) }

func TestRecordedConform(t *testing.T) {
	corpus.Run(t, crush.Kind, "agent-two", "compaction", "killed-child", "provider-error", "tools")
}

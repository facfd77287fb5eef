package mastra_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/mastra"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = storetest.Corpus("../../../../shared/corpus/mastra")

// verdicts are what is right about each recorded database, as its README has it: those
// that are not here are clean.
var verdicts = map[string][]string{
	"aborted-kid":                       {"info SC305 ", "info SC305 "},
	"approval":                          {"info SC102 call-p1"},
	"client-tool":                       {"info SC102 call-c1"},
	"kid-approval":                      {"info SC102 bosscall-1", "info SC102 kidcall-p"},
	"kill-kid":                          {"info SC307 ", "info SC705 "},
	"kill-tool-save":                    {"info SC305 "},
	"network-1.21.0":                    {"info SC301 "},
	"provider-error":                    {"info SC305 "},
	"suspended-1.8.0":                   {"info SC102 call-w1"},
	"void-tool-1.21.0":                  {"info SC102 call-v1"},
	"task-twice-killed-1.21.0":          {"info SC106 ", "info SC301 ", "info SC305 ", "info SC705 "},
	"task-twice-killed-1.21.0.repaired": {"info SC305 ", "info SC705 "},

	"leak-generate-1.21.0":  {"error SC702 ", "error SC702 "},
	"leak-nested-1.21.0":    {"error SC702 ", "error SC702 "},
	"leak-once-1.8.0":       {"error SC702 "},
	"leak-parallel-1.22.0":  {"error SC702 ", "error SC702 "},
	"leak-parallel-1.8.0":   {"error SC702 ", "error SC702 "},
	"leak-stream-1.22.0":    {"error SC702 ", "error SC702 "},
	"leak-stream-1.8.0":     {"error SC702 ", "error SC702 "},
	"leak-text-only-1.21.0": {"error SC702 ", "error SC702 "},
	"leak-two-users-1.21.0": {"error SC702 "},
	"leaked-copy":           {"error SC701 "},

	"boss-in-kid-1.8.0":          {"info SC102 bosscall-1", "info SC102 kidcall-p", "info SC106 ", "info SC301 ", "warning SC708 "},
	"boss-in-kid-1.8.0.repaired": {"info SC102 bosscall-1", "info SC102 kidcall-p"},
	"args-text":                  {"error SC205 call-b1"},
	"call-in-two-rows":           {"warning SC106 call-b1"},
	"cycle":                      {"error SC706 kidcall-1"},
	"kid-row-gone":               {"warning SC018 "},
	"link-to-nobody":             {"warning SC704 bosscall-1"},
	"no-resource":                {"info SC301 ", "warning SC024 "},
	"null-json":                  {"error SC010 "},
	"open-call":                  {"warning SC101 call-a3"},
	"open-call-in-kid":           {"warning SC101 kidcall-1"},
	"partial-call":               {"warning SC101 call-b1"},
	"row-twice":                  {"info SC301 ", "warning SC106 call-b1"},
	"torn-json":                  {"error SC010 "},
	"torn-json.repaired":         {"info SC301 "},
	"unknown-role":               {"error SC010 "},
	"upgraded-chat-0.9.4":        {"error SC024 ", "info SC307 "},
	"v1-orphan-call":             {"warning SC101 call-b1"},
}

func TestVerdicts(t *testing.T) { corpus.Verdicts(t, verdicts) }

func TestRecordedConform(t *testing.T) {
	corpus.Run(t, mastra.Kind, "sub-twice", "nested", "tools", "tools-0.9.4", "tools-0.10.15", "clone", "observational", "torn-json", "kid-approval", "upgraded-chat-0.9.4")
}

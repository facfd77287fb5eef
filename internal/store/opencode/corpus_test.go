package opencode_test

import (
	"bytes"
	"testing"

	"github.com/sessctl/sessctl/internal/store/opencode"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = storetest.Corpus("../../../../shared/corpus/opencode")

// verdicts are what is right about each recorded database, as its README has it.
var verdicts = map[string][]string{
	"cut-stream":     {"info SC301 "}, // asked again, after half an answer
	"provider-error": {"info SC301 "},

	"killed-tool": {"info SC407 ", "warning SC101 call_kb_0_0"}, "killed-tool-wal": {"info SC407 ", "warning SC101 call_kb_0_0"},
	"killed-second-tool":   {"warning SC101 call_k2_0_1", "warning SC407 "},
	"killed-child":         {"info SC407 ", "info SC407 ", "warning SC101 call_kc_0_0", "warning SC101 call_kcc_0_0"},
	"killed-nested":        {"info SC407 ", "info SC407 ", "info SC407 ", "warning SC101 call_kn1_0_0", "warning SC101 call_kn2_0_0", "warning SC101 call_kn_0_0"},
	"killed-stream":        {"error SC401 ", "info SC407 "},
	"killed-arguments":     {"info SC407 ", "warning SC101 call_ka_0_0", "warning SC402 "},
	"killed-before-answer": {"info SC407 "},
	"killed-permission":    {"info SC407 ", "warning SC101 call_kq_0_0"},

	"killed-tool-resumed":          {"warning SC101 call_kb_0_0", "warning SC407 "},
	"killed-second-tool-resumed":   {"warning SC101 call_k2_0_1", "warning SC407 "},
	"killed-child-resumed":         {"info SC407 ", "warning SC101 call_kc_0_0", "warning SC101 call_kcc_0_0", "warning SC407 "},
	"killed-nested-resumed":        {"info SC407 ", "info SC407 ", "warning SC101 call_kn1_0_0", "warning SC101 call_kn2_0_0", "warning SC101 call_kn_0_0", "warning SC407 "},
	"killed-stream-resumed":        {"error SC401 ", "info SC407 "},
	"killed-arguments-resumed":     {"warning SC101 call_ka_0_0", "warning SC402 ", "warning SC407 "},
	"killed-before-answer-resumed": {"info SC301 ", "info SC407 "},
	"killed-permission-resumed":    {"warning SC101 call_kq_0_0", "warning SC407 "},

	"v2-killed-tool":           {"warning SC101 call_kt_0_1", "warning SC407 "},
	"v2-killed-stream":         {"info SC407 "},
	"v2-killed-stream-resumed": {"info SC301 "},
	"v2-killed-arguments":      {"info SC407 ", "warning SC101 call_ka_0_0"},
}

func TestVerdicts(t *testing.T) { corpus.Verdicts(t, verdicts) }

func TestRecordedConform(t *testing.T) {
	corpus.Run(t, opencode.Kind, "chat", "compaction", "killed-child", "revert-pending", "task-parallel", "tools", "v2-killed-tool")
}

// TestNoHeaders: what a provider answered is stored with its headers, and is never shown.
func TestNoHeaders(t *testing.T) {
	path := corpus.Copy(t, "provider-error")
	if n := storetest.Query(t, path, "select count(*) from message where data like '%responseHeaders%'"); n[0] == "0" {
		t.Fatal("the database has no headers")
	}
	_, sessions := storetest.Opened(t, path)
	for _, s := range sessions {
		for _, it := range s.Items {
			if bytes.Contains(it.Body.Raw, []byte("responseHeaders")) || bytes.Contains(it.Body.Raw, []byte("responseBody")) || !bytes.Contains(it.Body.Raw, []byte(it.Key)) {
				t.Errorf("%s", it.Body.Raw)
			}
		}
	}
}

package copilot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = "../../../../shared/corpus/copilot-cli"

// verdicts are what is right about the recorded folders, as README.md and expected.json beside them have it; what is
// not here is clean. SC716 of a lost result is SC101 there: the sub-agent's session holds it.
var verdicts = map[string][]string{
	"damaged-bad-id":                        {"error SC025 "},
	"damaged-bad-utf8":                      {"error SC010 ", "info SC021 "},
	"damaged-call-no-callid":                {"error SC025 "},
	"damaged-captured":                      {"warning SC702 "},
	"damaged-child-lost-result":             {"info SC021 ", "info SC101 toolu_kida_T0N0"},
	"damaged-compact-no-success":            {"error SC025 "},
	"damaged-compact-split":                 {"info SC113 toolu_T2N0"},
	"damaged-content-null":                  {"error SC025 "},
	"damaged-dup-call":                      {"warning SC202 toolu_T1N0"},
	"damaged-dup-result":                    {"warning SC106 toolu_T0N1"},
	"damaged-ephemeral-text":                {"error SC025 "},
	"damaged-garbage-mid":                   {"error SC010 "},
	"damaged-kill-tool-garbage":             {"info SC020 ", "warning SC101 toolu_T0N1"},
	"damaged-late-result":                   {"warning SC104 toolu_T1N0"},
	"damaged-leak":                          {"error SC702 "},
	"damaged-leak-1.0.24":                   {"error SC702 "},
	"damaged-leak-answer":                   {"error SC702 "},
	"damaged-leak-nested":                   {"error SC702 "},
	"damaged-leak-prompt":                   {"error SC702 "},
	"damaged-lost-call":                     {"info SC021 ", "warning SC103 toolu_T0N0", "warning SC103 toolu_T0N1", "warning SC103 toolu_T0N2"},
	"damaged-lost-call-one":                 {"warning SC103 toolu_T0N1"},
	"damaged-lost-result":                   {"info SC021 ", "warning SC101 toolu_T0N1"},
	"damaged-lost-result-1.0.24":            {"info SC021 ", "warning SC101 toolu_T0N1"},
	"damaged-lost-starts":                   {"info SC021 "},
	"damaged-no-start":                      {"error SC025 ", "info SC021 "},
	"damaged-no-subagent-started":           {"info SC021 "},
	"damaged-no-success":                    {"error SC025 "},
	"damaged-no-timestamp":                  {"error SC025 "},
	"damaged-no-turnid":                     {"error SC025 "},
	"damaged-nul-tail":                      {"info SC010 "},
	"damaged-prompt-between":                {"info SC015 "},
	"damaged-shutdown-old":                  {"error SC025 "},
	"damaged-split-line":                    {"error SC010 "},
	"damaged-split-line-1.0.24":             {"error SC010 "},
	"damaged-start-no-toolname":             {"error SC025 "},
	"damaged-subagent-no-name":              {"error SC025 "},
	"damaged-task-lost-result":              {"info SC021 ", "warning SC716 toolu_T0N0"},
	"damaged-torn-result":                   {"info SC020 ", "warning SC101 toolu_T2N0"},
	"damaged-torn-tail":                     {"info SC020 "},
	"damaged-two-sessions-interleaved":      {"info SC015 ", "info SC021 "},
	"damaged-unknown-parent":                {"info SC021 "},
	"damaged-version-text":                  {"error SC025 "},
	"kill-background":                       {"info SC101 toolu_kidk_T0N0", "warning SC101 toolu_T1N0"},
	"kill-child":                            {"info SC101 toolu_kidk_T0N0", "warning SC101 toolu_T0N0"},
	"kill-tool":                             {"warning SC101 toolu_T0N1"},
	"kill-tool-1.0.24":                      {"warning SC101 toolu_T0N1"},
	"recovered-split-line":                  {"info SC021 ", "warning SC027 ", "warning SC101 toolu_T0N2"},
	"repaired-compact-split":                {"info SC101 toolu_T2N0"},
	"repaired-kill-background":              {"info SC101 toolu_kidk_T0N0"},
	"repaired-kill-child":                   {"info SC101 toolu_kidk_T0N0"},
	"repaired-task-lost-result":             {"info SC021 "},
	"repaired-task-lost-result-interrupted": {"info SC021 "},
	"two-writers":                           {"warning SC104 toolu_T0N1"},
}

// recorded is a copy of a folder that Copilot CLI wrote.
func recorded(t *testing.T, name, folder string) string {
	t.Helper()
	from := filepath.Join(corpus, name)
	if _, err := os.Stat(from); err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/copilot-cli)")
	}
	to := filepath.Join(folder, name)
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	// What is shared cannot be written to.
	_ = filepath.WalkDir(to, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	return to
}

// names are the recorded folders.
func names(t *testing.T) (list []string) {
	t.Helper()
	all, _ := filepath.Glob(filepath.Join(corpus, "*", "session-state"))
	if len(all) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/copilot-cli)")
	}
	for _, path := range all {
		list = append(list, filepath.Base(filepath.Dir(path)))
	}
	return list
}

func TestVerdicts(t *testing.T) {
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(verdicts[name], storetest.Findings(t, recorded(t, name, t.TempDir()))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package cmd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
)

// vector is a conversation with what every provider makes of it and what a
// default repair leaves. They lie beside the module, not in it; the file's
// legend explains the fields.
type vector struct {
	ID, Name, Encoding, Mode string
	Messages, Repaired       []json.RawMessage
	Context                  struct {
		Writer string
		Made   string `json:"fc_1_was_created_with_reasoning"`
	}
	Expect map[string]struct{ Verdict, Rule, Confidence string }
	// Finding is the one that is expected besides, with its severity.
	Finding    struct{ Rule, Severity string }
	Changed    bool
	Any        []string `json:"findings_any_profile"`
	Live       []string `json:"must_keep_live"`
	Quarantine []string `json:"must_keep_quarantine"`
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "vectors", "provider.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the vectors are not beside the module")
	}
	var file struct{ Vectors []vector }
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Vectors
}

// checked is what the check of a stream says.
type checked struct {
	Findings []struct {
		Rule, Severity, Profile string
		Fix                     *struct{}
	}
	Requests []struct{ Verdict, Error string }
}

func (v *vector) check(t *testing.T, stream, profile string) *checked {
	t.Helper()
	code, out, _ := run(t, "check", stream, "--profile", profile, asIs(v.Mode), "--format", "json",
		"--session", "P", "--explain-request", "--fail-on", "never")
	result := &checked{}
	if err := json.Unmarshal([]byte(out), result); err != nil || code != 0 {
		t.Fatalf("code %d, %v: %s", code, err, out)
	}
	return result
}

// TestVectorsThroughTheProgram holds every conversation against what the program
// says of it for each provider, and its repair against what is expected.
func TestVectorsThroughTheProgram(t *testing.T) {
	campaign.ShowsNoRace(t)
	held := 0
	for _, v := range readVectors(t) {
		t.Run(v.ID+" "+v.Name, func(t *testing.T) {
			stream := v.stream(t, v.Messages)
			for profile := range v.Expect {
				v.judge(t, stream, profile)
				held++
			}
			v.repair(t, stream)
		})
	}
	t.Logf("%d verdicts held", held)
}

// judge compares what one profile makes of the vector, as far as its confidence
// says.
func (v *vector) judge(t *testing.T, stream, profile string) {
	want, got := v.Expect[profile], v.check(t, stream, profile)
	worst := map[string]int{} // by rule
	level := map[string]int{"info": 1, "warning": 2, "error": 3}
	for _, f := range got.Findings {
		worst[f.Rule] = max(worst[f.Rule], level[f.Severity])
		if !slices.Contains(v.Any, f.Rule) {
			t.Errorf("%s: %s is not expected of any profile: %v", profile, f.Rule, v.Any)
		}
	}
	if want.Rule != "" && worst[want.Rule] == 0 {
		t.Errorf("%s: %s is expected, found %v", profile, want.Rule, worst)
	}
	if want.Rule == v.Finding.Rule && worst[want.Rule] != level[v.Finding.Severity] && v.Finding.Rule != "" && profile == "generic" {
		t.Errorf("%s of severity %s is expected, found %v", want.Rule, v.Finding.Severity, worst)
	}
	if r := catalogue.FindRule(want.Rule); r != nil && r.Wire {
		v.adjusts(t, stream, profile, want.Rule)
	}
	if want.Confidence == "low" {
		return
	}
	switch said := got.Requests[0].Verdict; want.Verdict {
	case "reject":
		if said != "reject" && v.Finding.Rule == "" {
			t.Errorf("%s: the request is expected to be rejected, and the program says %s: %v", profile, said, worst)
		}
	case "risk":
		if said == "reject" {
			t.Errorf("%s: the request is expected to be a risk, and the program says %s: %v", profile, said, worst)
		}
	case "accept":
		if said != "accept" {
			t.Errorf("%s: the request is expected to be accepted, and the program says %s: %v", profile, said, worst)
		}
	default:
		t.Fatalf("verdict %q", want.Verdict)
	}
}

// adjusts looks for what an adapter sends otherwise in the request that the
// profile would get.
func (v *vector) adjusts(t *testing.T, stream, profile, rule string) {
	code, out, stderr := run(t, "view", stream, "P", "--model-input", "--profile", profile, asIs(v.Mode), "--format", "json")
	if code != 0 || !strings.Contains(out, `"rule": "`+rule+`"`) {
		t.Errorf("%s: no adjustment of %s in the request (code %d): %s%s", profile, rule, code, stderr, out)
	}
}

// repair compares what the default repair leaves. What only a request would be
// made otherwise for stays as it is.
func (v *vector) repair(t *testing.T, stream string) {
	want := v.Repaired
	for _, e := range v.Expect {
		if r := catalogue.FindRule(e.Rule); r != nil && r.Wire && !slices.ContainsFunc(v.Any, stored) {
			want = v.Messages
		}
	}
	repaired := filepath.Join(t.TempDir(), "repaired.ndjson")
	args := []string{"repair", stream, "--output", repaired, asIs(v.Mode), "--fail-on", "never"}
	if _, known := v.Expect["generic"]; !known {
		for profile := range v.Expect {
			args = append(args, "--profile", profile)
		}
	}
	if code, out, _ := run(t, args...); code != 0 {
		t.Fatalf("repair ends with %d: %s", code, out)
	}
	kept, err := os.ReadFile(repaired + ".receipt.json")
	if errors.Is(err, fs.ErrNotExist) { // there was nothing to repair
		repaired = stream
	}
	got, after := readFlat(t, repaired)
	_, expected := readFlat(t, v.stream(t, want))
	if diff := cmp.Diff(expected, after); diff != "" {
		t.Errorf("after the repair, want (-), got (+):\n%s", diff)
	}
	for _, text := range v.Live {
		if !strings.Contains(got, text) {
			t.Errorf("%q is no longer there:\n%s", text, got)
		}
	}
	for _, text := range v.Quarantine {
		if !strings.Contains(string(kept), text) {
			t.Errorf("%q is not in the receipt:\n%s", text, kept)
		}
	}
	if repaired == stream {
		return
	}
	if code, out, _ := run(t, "repair", repaired, "--output", repaired+"2", asIs(v.Mode), "--fail-on", "never"); code != 0 {
		t.Fatalf("the second repair ends with %d: %s", code, out)
	}
	if _, err := os.Stat(repaired + "2"); err == nil {
		t.Error("a second repair changes something")
	}
}

func stored(rule string) bool {
	r := catalogue.FindRule(rule)
	return r != nil && r.Safety != rules.None
}

// readFlat reads a stream as text, and as one line a message; the results that
// stand together are one line, because their order means nothing, and a
// placeholder has no text.
func readFlat(t *testing.T, path string) (text string, lines []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var results []string
	flush := func() {
		if slices.Sort(results); len(results) > 0 {
			lines = append(lines, "results "+strings.Join(results, ", "))
		}
		results = nil
	}
	for line := range strings.Lines(string(data)) {
		var it struct {
			Type, Role, Text, Reasoning string
			Calls                       []struct{ ID, Name, Args, ItemID string }
			Results                     []struct {
				Call, Text       string
				Synthetic, Error bool
			}
			Blocks []struct{ Type, ID string }
		}
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		if it.Type != "item" {
			continue
		}
		for _, r := range it.Results {
			if r.Synthetic {
				r.Text = "placeholder"
			}
			results = append(results, fmt.Sprint(r.Call, "=", r.Text, " ", r.Error))
		}
		if said := fmt.Sprint(it.Text, it.Reasoning, it.Calls, it.Blocks); len(it.Results) == 0 || said != "[] []" {
			flush()
			lines = append(lines, it.Role+" "+said)
		}
	}
	flush()
	return string(data) + strings.Join(lines, "\n"), lines
}

// asIs is the flag for the mode of a vector.
func asIs(mode string) string { return "--as-is=" + strconv.FormatBool(mode == "as-is") }

package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// TestGroupsThatCannotSeeEachOther shows the two architectures of
// google/adk-python#3470 as every generation stores them: the gap that path leaves,
// the exact sets that tokens would have given, and SC713.
func TestGroupsThatCannotSeeEachOther(t *testing.T) {
	tests := []struct {
		script adktest.Session
		tokens string
		sees   string // agent:events that it is shown under path
		gap    string
	}{
		{
			adktest.Script("sequence-of-groups"),
			"Alice[1] Bob[2] Charlie[3] David[1 2 3 4] Eve[1 2 3 5] Frank[1 2 3 6] " +
				"Grace[1 2 3 4 5 6 7] Henry[1 2 3 4 5 6 8] Iris[1 2 3 4 5 6 9]",
			"Alice:2 Bob:2 Charlie:2 David:2 Eve:2 Frank:2 Grace:2 Henry:2 Iris:2",
			"SC713 info [1 2 3 4 5 6]",
		},
		{
			adktest.Script("nested-groups"),
			"Alice[1 3] Bob[1 4] Charlie[1 5] Reducer1[1 3 4 5] David[2 6] Eve[2 7] Frank[2 8] Reducer2[2 6 7 8] Final_Reducer[1 2 3 4 5 6 7 8]",
			"Alice:4 Bob:4 Charlie:4 Reducer1:3 David:4 Eve:4 Frank:4 Reducer2:3 Final_Reducer:10",
			"SC713 info [1 2 3 5 6 7]",
		},
	}
	for _, g := range adktest.Generations {
		for _, tt := range tests {
			t.Run(string(g)+"/"+tt.script.ID, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "store.db")
				if err := adktest.Create(path, g, tt.script); err != nil {
					t.Fatal(err)
				}
				got := strings.Join([]string{tokensOf(t, path, tt.script.ID), seenOf(t, path, tt.script.ID), gapOf(t, path)}, "\n")
				if diff := cmp.Diff(strings.Join([]string{tt.tokens, tt.sees, tt.gap}, "\n"), got); diff != "" {
					t.Errorf("want (-), got (+):\n%s", diff)
				}
			})
		}
	}
}

// document is what the program prints as JSON.
func document(t *testing.T, into any, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append(args, "--format", "json")
	if code := cmd.Main(args, strings.NewReader(""), &out, &errs, func(string) string { return "" }); code != 0 {
		t.Fatalf("%v ends with %d: %s", args, code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatal(err)
	}
}

func tokensOf(t *testing.T, path, session string) string {
	var d struct {
		Viewers []struct {
			Agent  string
			Tokens []int
		}
	}
	document(t, &d, "view", path, session, "--tokens")
	var list []string
	for _, v := range d.Viewers {
		list = append(list, fmt.Sprint(v.Agent, v.Tokens))
	}
	return strings.Join(list, " ")
}

func seenOf(t *testing.T, path, session string) string {
	var d struct {
		Viewers []struct{ Branch, Key, Agent string }
		Events  []struct {
			Visible map[string]struct{ Visible bool }
		}
	}
	document(t, &d, "view", path, session, "--all")
	var list []string
	for _, v := range d.Viewers {
		key, n := v.Branch, 0
		if v.Key != "" {
			key = v.Key
		}
		for _, e := range d.Events {
			if e.Visible[key].Visible {
				n++
			}
		}
		list = append(list, fmt.Sprint(v.Agent, ":", n))
	}
	return strings.Join(list, " ")
}

func gapOf(t *testing.T, path string) string {
	var d struct {
		Findings []struct {
			Rule, Severity string
			Items          []int
		}
	}
	document(t, &d, "check", path)
	var list []string
	for _, f := range d.Findings {
		list = append(list, fmt.Sprint(f.Rule, " ", f.Severity, " ", f.Items))
	}
	return strings.Join(list, "\n")
}

package repair_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// streamVectors are conversations and trees with what a default repair leaves of
// them. They lie beside the module, not in it.
type streamVectors struct {
	Vectors []struct {
		ID, Name, Encoding, Mode string
		Messages, Repaired       json.RawMessage // of the neutral encoding: []vectorItem
		Context                  struct{ Writer string }
		Expect                   map[string]struct{ Rule string }
		Any                      []string `json:"findings_any_profile"`
		Live                     []string `json:"must_keep_live"`
		Quarantine               []string `json:"must_keep_quarantine"`
	}
	Trees []struct {
		ID, Name           string
		Sessions, Repaired []vectorSession
		Expect             struct{ Rule string }
		Auto               bool     `json:"auto_repair"`
		Live               []string `json:"must_keep_live"`
	} `json:"multi_agent_vectors"`
}

type vectorSession struct {
	ID, Parent, Agent string
	Items             []vectorItem
}

type vectorItem struct {
	K                      string // of trees: msg, sub, summary
	Role, Text, Agent, Ref string
	Branch                 string
	For                    string `json:"result_for"`
	Calls                  []struct{ ID, Name, Args string }
	Results                []struct {
		ID, Text                  string
		Error, Synthetic, Pending bool
	}
}

func readStreamVectors(t *testing.T) streamVectors {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "vectors", "provider.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the vectors are not beside the module")
	}
	must(t, err)
	var v streamVectors
	must(t, json.Unmarshal(data, &v))
	return v
}

// lines writes a session with one line for each result, as most stores have it.
func (s *vectorSession) lines(split bool) string {
	var b strings.Builder
	write := func(rec map[string]any) {
		line, _ := json.Marshal(rec) // texts only
		b.Write(append(line, '\n'))
	}
	write(map[string]any{"type": "session", "id": s.ID, "parent": s.Parent, "agent": s.Agent})
	for _, it := range s.Items {
		rec := map[string]any{"type": "item", "session": s.ID, "kind": "message", "role": it.Role, "agent": it.Agent, "text": it.Text, "branch": it.Branch}
		var calls, results []map[string]any
		switch it.K {
		case "sub":
			rec = map[string]any{"type": "item", "session": s.ID, "kind": "sub_session", "child": it.Ref}
		case "summary":
			rec["kind"] = "summary"
		}
		for _, c := range it.Calls {
			calls = append(calls, map[string]any{"id": c.ID, "name": c.Name, "args": c.Args})
		}
		for _, r := range it.Results {
			results = append(results, map[string]any{"call": r.ID, "text": r.Text, "error": r.Error, "synthetic": r.Synthetic, "pending": r.Pending})
		}
		if it.For != "" {
			results, rec["text"] = append(results, map[string]any{"call": it.For, "text": it.Text}), ""
		}
		rec["calls"], rec["results"] = calls, results
		if !split || len(results) < 2 {
			write(rec)
			continue
		}
		for _, r := range results {
			rec["results"] = []any{r}
			write(rec)
		}
	}
	return b.String()
}

// TestVectorsAsStreams repairs every conversation twice: with a line for each
// result, and with the results of a message in one line.
func TestVectorsAsStreams(t *testing.T) {
	matched := 0
	for _, v := range readStreamVectors(t).Vectors {
		rule := v.Expect["generic"].Rule
		if v.Encoding != "neutral" {
			continue
		}
		for _, split := range []bool{true, false} {
			name := fmt.Sprint(v.ID, " ", v.Name, " ", split)
			t.Run(name, func(t *testing.T) {
				before, want := vectorSession{ID: "P"}, vectorSession{ID: "P"}
				must(t, json.Unmarshal(v.Messages, &before.Items))
				must(t, json.Unmarshal(v.Repaired, &want.Items))
				writer := map[string]string{"alive": "live", "dead": "dead"}[v.Context.Writer]
				header := fmt.Sprintf(`{"type":"header","format":"sessctl.canonical/1","writer":%q}`+"\n", writer)
				if !slices.ContainsFunc(v.Any, func(id string) bool { return !catalogue.FindRule(id).Wire }) {
					want = before // only a request would be another one
				}
				judge := rules.Judge{Profiles: []*rules.Profile{&rules.Generic}, AsIs: v.Mode == "as-is"}
				r := repairTwiceFor(t, header+before.lines(split), judge)
				keepsStrings(t, r, v.Live, v.Quarantine)
				if rule != "" && !slices.ContainsFunc(r.found.Findings, func(f *check.Finding) bool { return f.Rule.ID == rule }) {
					t.Errorf("no %s was found", rule)
				}
				if diff := cmp.Diff(flatStream(t, header+want.lines(true), "P"), flatStream(t, r.out, "P")); diff != "" {
					t.Errorf("want (-), got (+):\n%s", diff)
				}
				if !t.Failed() {
					matched++
				}
			})
		}
	}
	t.Logf("%d conversations match", matched)
}

func TestTreeVectorsAsStreams(t *testing.T) {
	matched := 0
	for _, v := range readStreamVectors(t).Trees {
		if !v.Auto {
			continue
		}
		t.Run(v.ID+" "+v.Name, func(t *testing.T) {
			before, after := streamHeader, streamHeader
			for _, s := range v.Sessions {
				before += s.lines(true)
			}
			for _, s := range v.Repaired {
				after += s.lines(true)
			}
			r := repairTwice(t, before)
			r.out = nameNew(t, before, r.out)
			keepsStrings(t, r, v.Live, nil)
			for _, s := range v.Repaired {
				if diff := cmp.Diff(flatStream(t, after, s.ID), flatStream(t, r.out, s.ID)); diff != "" {
					t.Errorf("%s: want (-), got (+):\n%s\n%s", s.ID, diff, r.out)
				}
			}
			if !t.Failed() {
				matched++
			}
		})
	}
	t.Logf("%d trees match", matched)
}

// nameNew gives the session that a repair created the name that it has in the
// vectors, where it has no prologue.
func nameNew(t *testing.T, before, after string) string {
	t.Helper()
	known := readStream(t, before)
	for id, s := range readStream(t, after) {
		if known[id] != nil {
			continue
		}
		for i := range s.Items {
			if s.Items[i].Flags.Has(session.Synthetic) {
				after = strings.Replace(after, string(s.Items[i].Body.Raw)+"\n", "", 1)
			}
		}
		after = strings.ReplaceAll(after, id, "$new1")
	}
	return after
}

// keepsStrings makes sure that texts survive in the new file or in the receipt.
func keepsStrings(t *testing.T, r *streamRepair, live, receipt []string) {
	t.Helper()
	said := r.out
	for _, s := range readStream(t, r.out) {
		said += strings.Join(words(s), "\n")
	}
	for _, text := range live {
		if !strings.Contains(said, text) {
			t.Errorf("%q is not in the new stream:\n%s", text, r.out)
		}
	}
	for _, text := range receipt {
		if !strings.Contains(r.kept(), text) {
			t.Errorf("%q is not in the receipt:\n%s", text, r.kept())
		}
	}
}

// flatStream lists what a session says, one line a message; the results that
// stand together are one line, because their order means nothing, and a
// placeholder has no text.
func flatStream(t *testing.T, text, id string) []string {
	t.Helper()
	s := readStream(t, text)[id]
	if s == nil {
		return nil
	}
	var lines, results []string
	flush := func() {
		if slices.Sort(results); len(results) > 0 {
			lines = append(lines, "results "+strings.Join(results, ", "))
		}
		results = nil
	}
	for i := range s.Items {
		it := &s.Items[i]
		for _, r := range it.Results {
			if r.Synthetic {
				r.Text = "placeholder"
			}
			results = append(results, r.CallID+"="+r.Text)
		}
		if len(it.Results) == 0 {
			flush()
			lines = append(lines, flatItem(it))
		}
	}
	flush()
	return lines
}

func flatItem(it *session.Item) string {
	line := fmt.Sprint(it.Kind, " ", it.Role, " ", it.Body.Text, it.Child())
	for _, c := range it.Calls {
		line += " " + c.ID
	}
	return line
}

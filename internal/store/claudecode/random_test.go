package claudecode_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/claudecode"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// built writes a folder with one random program, and ends it early where cut is below 1.
func built(t storetest.Tester, folder string, seed uint64, cut float64) (home, transcript string) {
	t.Helper()
	writes := player.Play(player.RandomProgram(seed, 1+int(seed%4)), seed)
	writes = writes[:max(2, int(float64(len(writes))*cut))]
	home = filepath.Join(folder, fmt.Sprint("home", seed))
	paths, err := claudetest.Build(home, claudetest.Versions[seed%3], seed, writes)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return home, paths[0]
}

func TestBuiltConform(t *testing.T) {
	for seed := range uint64(6) {
		storetest.Run(t, claudecode.Kind, storetest.Sample{
			Name: fmt.Sprint("seed ", seed), Make: func(t *testing.T, folder string) string { home, _ := built(t, folder, seed, 1); return home },
		})
	}
}

// TestWholeProgramsAreClean: nothing is wrong with what ran to its end.
func TestWholeProgramsAreClean(t *testing.T) {
	for seed := range uint64(campaign.Rounds(60, 2000)) {
		home, _ := built(t, t.TempDir(), seed, 1)
		o := openTranscripts(t, home)
		for _, tree := range filled(t, o) {
			for _, f := range check.RunTree(o.Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
				if f.Severity > rules.Info {
					t.Errorf("seed %d: %s %s: %s", seed, f.Severity, f.Rule.ID, f.Message)
				}
			}
		}
	}
}

// transcript are the lines of a file, as anybody would read them.
type transcript []map[string]any

func load(t *testing.T, path string) (list transcript) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var l map[string]any
		if json.Unmarshal(line, &l) == nil {
			list = append(list, l)
		}
	}
	return list
}

func (tr transcript) write(t *testing.T, path string) {
	t.Helper()
	var text bytes.Buffer
	for _, l := range tr {
		one, _ := json.Marshal(l)
		text.Write(append(one, '\n'))
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func text(l map[string]any, key string) string { s, _ := l[key].(string); return s }

// content are the blocks of a line's message.
func content(l map[string]any) (list []map[string]any) {
	m, _ := l["message"].(map[string]any)
	all, _ := m["content"].([]any)
	for _, b := range all {
		if block, ok := b.(map[string]any); ok {
			list = append(list, block)
		}
	}
	return list
}

// ids are those of the blocks of one type.
func ids(l map[string]any, kind, key string) (list []string) {
	for _, b := range content(l) {
		if b["type"] == kind {
			list = append(list, text(b, key))
		}
	}
	return list
}

// reference is the algorithm of the format notes, which was checked against requests:
// the calls and results that are sent, in the order of the file.
func (tr transcript) reference() (sent []string) {
	at := map[string]int{}
	var chained []int
	for i, l := range tr {
		if uuid := text(l, "uuid"); uuid != "" && l["isSidechain"] != true {
			at[uuid] = i
		}
	}
	for i, l := range tr {
		if uuid := text(l, "uuid"); uuid != "" && l["isSidechain"] != true && at[uuid] == i {
			chained = append(chained, i)
		}
	}
	on := tr.onChain(at, chained)
	inMessage := func(l map[string]any) string { m, _ := l["message"].(map[string]any); return text(m, "id") }
	messages := map[string]bool{}
	for i := range on {
		if id := inMessage(tr[i]); id != "" && tr[i]["type"] == "assistant" {
			messages[id] = true
		}
	}
	calls := map[string]bool{}
	for _, i := range chained {
		if tr[i]["type"] == "assistant" && messages[inMessage(tr[i])] {
			on[i] = true
			for _, id := range ids(tr[i], "tool_use", "id") {
				calls[id] = true
			}
		}
	}
	for _, i := range chained {
		for _, id := range ids(tr[i], "tool_result", "tool_use_id") {
			if source, ok := at[text(tr[i], "sourceToolAssistantUUID")]; ok && calls[id] && on[source] {
				on[i] = true
			}
		}
	}
	for _, i := range chained {
		if !on[i] || tr[i]["isApiErrorMessage"] == true {
			continue
		}
		for _, id := range ids(tr[i], "tool_use", "id") {
			sent = append(sent, "call "+id)
		}
		for _, id := range ids(tr[i], "tool_result", "tool_use_id") {
			if calls[id] {
				sent = append(sent, "result "+id)
			}
		}
	}
	slices.Sort(sent)
	return sent
}

// onChain are the lines from the leaf up.
func (tr transcript) onChain(at map[string]int, chained []int) map[int]bool {
	on, leaf := map[int]bool{}, ""
	for _, l := range tr {
		if l["type"] == "last-prompt" {
			leaf = text(l, "leafUuid")
		}
	}
	from, known := at[leaf]
	if !known {
		from = -1
		for _, i := range chained {
			if tr[i]["type"] == "user" || tr[i]["type"] == "assistant" || from < 0 {
				from = i
			}
		}
	} else {
		below := map[int]bool{from: true}
		for _, i := range chained {
			if up, ok := at[text(tr[i], "parentUuid")]; ok && below[up] && i > from {
				below[i] = true
			}
		}
		for i := range below {
			from = max(from, i)
		}
	}
	for i := from; i >= 0 && !on[i]; {
		on[i] = true
		parent := text(tr[i], "parentUuid")
		if parent == "" || tr[i]["subtype"] == "compact_boundary" {
			break
		}
		up, ok := at[parent]
		if !ok {
			up = -1
			for _, n := range chained {
				if n < i {
					up = n
				}
			}
		}
		i = up
	}
	return on
}

// damage changes a transcript in one way.
func (tr transcript) damage(rng *rand.Rand) transcript {
	var chained []int
	for i, l := range tr {
		if text(l, "uuid") != "" && l["isSidechain"] != true {
			chained = append(chained, i)
		}
	}
	if len(chained) == 0 {
		return tr
	}
	n := chained[rng.IntN(len(chained))]
	switch rng.IntN(8) {
	case 0: // a line is lost
		return slices.Delete(tr, n, n+1)
	case 1: // a line is there twice
		return slices.Insert(tr, rng.IntN(len(tr)-n)+n+1, tr[n])
	case 2: // a parent that does not exist
		tr[n]["parentUuid"] = builder.UUID(rng)
	case 3: // a rewind to an older line
		tr = append(tr, map[string]any{
			"type": "user", "uuid": builder.UUID(rng), "parentUuid": tr[n]["uuid"], "sessionId": tr[n]["sessionId"], "isSidechain": false,
			"message": map[string]any{"role": "user", "content": "again"}, "timestamp": "2026-12-24T10:00:00.000Z", "version": "2.1.330",
		})
		return append(tr, map[string]any{"type": "last-prompt", "leafUuid": tr[len(tr)-1]["uuid"], "sessionId": tr[n]["sessionId"]})
	case 4: // the last prompt names an older line, or none
		return append(tr, map[string]any{"type": "last-prompt", "leafUuid": text(tr[n], "uuid"), "sessionId": tr[n]["sessionId"]})
	case 5:
		return append(tr, map[string]any{"type": "last-prompt", "leafUuid": builder.UUID(rng), "sessionId": tr[n]["sessionId"]})
	case 6: // a circle
		tr[n]["parentUuid"] = tr[chained[rng.IntN(len(chained))]]["uuid"]
	case 7: // two lines change places
		m := chained[rng.IntN(len(chained))]
		tr[n], tr[m] = tr[m], tr[n]
	}
	return tr
}

// TestTheActiveBranch holds what is sent of random damaged transcripts against a second
// reader, which shares no code with the adapter.
func TestTheActiveBranch(t *testing.T) {
	for seed := range uint64(campaign.Rounds(200, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		home, path := built(t, t.TempDir(), seed, 0.3+0.7*rng.Float64())
		tr := load(t, path)
		for range rng.IntN(4) {
			tr = tr.damage(rng)
		}
		if !slices.ContainsFunc(tr, func(l map[string]any) bool { return l["type"] == "user" || l["type"] == "assistant" }) {
			continue // nothing is left of what was said
		}
		tr.write(t, path)
		same(t, fmt.Sprint("seed ", seed), home, tr)
	}
}

func TestTheActiveBranchOfRecordedFolders(t *testing.T) {
	for name := range verdicts {
		files, _ := filepath.Glob(filepath.Join(recorded(t, name, t.TempDir()), "projects", "*", "*.jsonl"))
		for _, path := range files {
			if tr := load(t, path); strings.Contains(fmt.Sprint(tr), "parentUuid") {
				same(t, name, path, tr)
			}
		}
	}
}

// same compares the calls and results of a transcript's session with the reference.
func same(t *testing.T, name, path string, tr transcript) {
	t.Helper()
	o := openTranscripts(t, path)
	for tree, err := range o.Trees(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		calls := map[string]bool{}
		s := tree.Root()
		for i := range s.Items {
			for _, c := range s.Items[i].Calls {
				calls[c.ID] = calls[c.ID] || !s.Items[i].Flags.Has(session.Archived)
			}
		}
		for i := range s.Items {
			it := &s.Items[i]
			if it.Flags&(session.Archived|session.Skipped) != 0 {
				continue
			}
			for _, c := range it.Calls {
				got = append(got, "call "+c.ID)
			}
			for _, r := range it.Results {
				if calls[r.CallID] {
					got = append(got, "result "+r.CallID)
				}
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(tr.reference(), got); diff != "" {
			t.Errorf("%s: -reference +read:\n%s", name, diff)
		}
	}
}

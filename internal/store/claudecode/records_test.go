package claudecode_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
)

// breaks are the ways in which records come to share a line, or to have several. Each gets
// the lines from one on, without line ends, and gives what stands there; lost is how many of
// the records are no longer whole.
var breaks = []struct {
	name string
	make func(t *rapid.T, lines []string) (text string, used, lost int)
}{
	{"two on a line", func(_ *rapid.T, l []string) (string, int, int) { return l[0] + l[1], 2, 0 }},
	{"cut off before a whole one", func(t *rapid.T, l []string) (string, int, int) {
		return l[0][:rapid.IntRange(1, len(l[0])-1).Draw(t, "cut")] + l[1], 2, 1
	}},
	{"NUL bytes before", func(t *rapid.T, l []string) (string, int, int) { return nuls(t) + l[0], 1, 0 }},
	{"NUL bytes behind", func(t *rapid.T, l []string) (string, int, int) { return l[0] + nuls(t), 1, 0 }},
	{"NUL bytes between", func(t *rapid.T, l []string) (string, int, int) { return l[0] + nuls(t) + l[1], 2, 0 }},
	{"NUL bytes within", func(t *rapid.T, l []string) (string, int, int) {
		at := rapid.IntRange(1, len(l[0])-1).Draw(t, "at")
		return l[0][:at] + nuls(t) + l[0][at:], 1, 0
	}},
	{"line ends in texts", func(_ *rapid.T, l []string) (string, int, int) { return raw(l[0]), 1, 0 }},
	{"line ends in texts of two on a line", func(_ *rapid.T, l []string) (string, int, int) { return raw(l[0]) + raw(l[1]), 2, 0 }},
	{"cut off before one with line ends", func(t *rapid.T, l []string) (string, int, int) {
		return l[0][:rapid.IntRange(1, len(l[0])-1).Draw(t, "cut")] + nuls(t) + raw(l[1]), 2, 1
	}},
}

func nuls(t *rapid.T) string {
	return strings.Repeat("\x00", rapid.IntRange(1, 4096).Draw(t, "NUL bytes"))
}

// raw writes the line ends of texts as such.
func raw(line string) string {
	line = strings.ReplaceAll(line, `\\`, "\x01")
	return strings.ReplaceAll(strings.ReplaceAll(line, `\n`, "\n"), "\x01", `\\`)
}

// TestBrokenRecords: whatever breaks the lines of a healthy transcript, all records that are
// whole come back as they were, none of them is in the receipt, a second repair has nothing to
// do, and an undo gives every byte back.
func TestBrokenRecords(t *testing.T) {
	campaign.Checks(t, 60, 2000)
	folder, rounds, rolledBack := t.TempDir(), 0, 0
	told := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		rounds++
		home, path := built(t, filepath.Join(folder, fmt.Sprint(rounds)), rapid.Uint64Range(0, 300).Draw(t, "seed"), 1)
		defer func() { _ = os.RemoveAll(filepath.Dir(home)) }()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts := strings.NewReplacer("question ", `question\n\n`, "answer ", `answer\n`, "result ", `\nresult {\n`, "step ", `step\\\\n\n`)
		lines := strings.Split(strings.TrimSuffix(texts.Replace(string(text)), "\n"), "\n")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		lost, out := map[int]bool{}, ""
		for i := 0; i < len(lines); {
			if i+1 == len(lines) || rapid.IntRange(0, 5).Draw(t, "break") > 0 && i > 0 {
				out += lines[i] + end
				i++
				continue
			}
			b := rapid.SampledFrom(breaks).Draw(t, "way")
			broken, used, gone := b.make(t, lines[i:])
			told[b.name]++
			for n := range gone {
				lost[i+n] = true
			}
			if end == "\r\n" {
				broken = strings.ReplaceAll(broken, "\n", end)
			}
			out += broken + end
			i += used
		}
		if rapid.Bool().Draw(t, "no line end at the end") {
			out = strings.TrimSuffix(out, end)
		}
		if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		orphan(lines, lost)
		before := snapshot(t, home)
		plan, receipt, err := repairtest.Repair(home)
		if err != nil && strings.Contains(err.Error(), "SC705") { // of sub-agents up to 2.0 whose first line is lost
			rolledBack++
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range plan.Refused { // what else is wrong is of records that are lost
			if r.Rule == "SC010" || r.Rule == "" {
				t.Errorf("refused: %+v", r)
			}
		}
		after := before
		if receipt != nil {
			after = snapshot(t, home)
			kept, err := os.ReadFile(receipt.Path())
			if err != nil || len(receipt.LeftOut) > 0 {
				t.Fatalf("%v, %+v", err, receipt.LeftOut)
			}
			noneKept(t, kept, lines, lost)
		}
		name := strings.TrimPrefix(path, home+"/")
		there := map[string]int{}
		for line := range strings.SplitSeq(after[name], "\n") {
			there[unparented(line)]++
		}
		for i, line := range lines {
			if lost[i] {
				continue
			}
			if there[unparented(line)]--; there[unparented(line)] < 0 {
				t.Errorf("lost: %q", line)
			}
		}
		if again, second, err := repairtest.Repair(home); err != nil || second != nil {
			t.Errorf("behind%s\na second repair: %v%s", repairtest.Told(plan), err, repairtest.Told(again))
		}
		if receipt == nil {
			return
		}
		if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
			t.Errorf("undo: %v", err)
		}
		if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
			t.Errorf("undo gives something else: %.2000s", diff)
		}
	})
	t.Logf("%d transcripts, %v, %d rolled back", rounds, told, rolledBack)
	if len(told) < len(breaks) || rolledBack > 1+rounds/100 {
		t.Errorf("only %v were tried, and %d of %d were rolled back", told, rolledBack, rounds)
	}
}

// orphan adds the results whose calls are lost, which SC103 takes out.
func orphan(lines []string, lost map[int]bool) {
	calls := map[string]bool{}
	for i := range lines {
		var l map[string]any
		if json.Unmarshal([]byte(lines[i]), &l) != nil {
			continue
		}
		for _, id := range ids(l, "tool_use", "id") {
			calls[id] = calls[id] || lost[i]
		}
		lost[i] = lost[i] || slices.ContainsFunc(ids(l, "tool_result", "tool_use_id"), func(id string) bool { return calls[id] })
	}
}

// noneKept makes sure that what left for the receipt holds no record that is whole.
func noneKept(t *rapid.T, receipt []byte, lines []string, lost map[int]bool) {
	t.Helper()
	for line := range strings.SplitSeq(string(receipt), "\n") {
		var batch struct {
			Kept []struct {
				Text   string `json:"text"`
				Base64 []byte `json:"base64"`
			} `json:"kept"`
		}
		_ = json.Unmarshal([]byte(line), &batch)
		for _, k := range batch.Kept {
			text := k.Text + string(k.Base64)
			if i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(text, l) }); i >= 0 && !lost[i] {
				t.Errorf("the receipt has the whole record %q", lines[i])
			}
		}
	}
}

// TestSplicedRecords: what the repairs of each kind say, and that no result is made up where
// one is there.
func TestSplicedRecords(t *testing.T) {
	const v, end = "2.1.330", "\n"
	first := line(v, "u1", "null", "user", 1, goOn)
	calls := line(v, "a1", `"u1"`, "assistant", 2, callOf("m1", "c1")) + line(v, "a2", `"a1"`, "assistant", 3, callOf("m1", "c2"))
	one := strings.TrimSuffix(line(v, "r1", `"a1"`, "user", 4, resultOf("c1", "first")), end)
	two := strings.TrimSuffix(line(v, "r2", `"a2"`, "user", 5, resultOf("c2", "a\nb")), end)
	last := line(v, "a3", `"r2"`, "assistant", 6, done)
	for name, tc := range map[string]struct {
		broken, title, want string
	}{
		"two on a line":    {one + two, "split line 4 into its 2 records", one + end + two},
		"NUL bytes":        {one + end + "\x00\x00" + two, "take the NUL bytes out of line 5", one + end + two},
		"a line end":       {one + end + strings.Replace(two, `\n`, end, 1), "join what is one record in lines 5 to 6", one + end + two},
		"behind a cut one": {one[:20] + one + end + two, "part the record on line 4 from what was cut off", one + end + two},
		"three lines":      {one[:20] + "\x00" + one + "\x00" + strings.Replace(two, `\n`, end, 1), "join what is one record in lines 4 to 5", one + end + two},
	} {
		t.Run(name, func(t *testing.T) {
			home := homeOf(t, first, calls, tc.broken, end, last)
			plan, _, err := repairtest.Repair(home)
			if err != nil {
				t.Fatal(err)
			}
			titles := ""
			for _, f := range plan.Trees[0].Fixes {
				titles += f.Rule + " " + f.Title + "\n"
			}
			if !strings.Contains(titles, "SC010 "+tc.title+"\n") || strings.Contains(titles, "SC101") {
				t.Errorf("planned: %s", titles)
			}
			for _, text := range transcripts(snapshot(t, home)) {
				got := snapshot(t, home)[text]
				if diff := cmp.Diff(first+calls+tc.want+end+last, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestSharedIdentifier: of two records with one identifier nobody knows which is meant, so
// what would show the other one to the model is left.
func TestSharedIdentifier(t *testing.T) {
	const v = "2.1.330"
	one, answer := line(v, "u1", "null", "user", 1, goOn), line(v, "a1", `"u1"`, "assistant", 2, done)
	for other, repairs := range map[string]bool{one: true, strings.Replace(one, "go", "stop", 1): false} {
		home := homeOf(t, one, answer, "\x00"+other)
		_, receipt, err := repairtest.Repair(home)
		if err != nil || (receipt != nil) != repairs {
			t.Errorf("%q: %v, repaired: %t", other, err, receipt != nil)
		}
	}
}

// TestBeforeACompaction: what is lost of the lines before a compaction is told, though nothing
// of them is sent.
func TestBeforeACompaction(t *testing.T) {
	tried := 0
	for seed := range uint64(campaign.Rounds(100, 200)) {
		home, path := built(t, t.TempDir(), seed, 1)
		tr := load(t, path)
		at := map[string]int{}
		boundary, leaf := -1, ""
		for i, l := range tr {
			at[text(l, "uuid")] = i
			if l["type"] == "last-prompt" {
				leaf = text(l, "leafUuid")
			}
			if l["subtype"] == "compact_boundary" && l["isSidechain"] != true {
				boundary = i
			}
		}
		whole := len(tellsOf(t, home))
		// A last prompt from before the compaction makes the request end before it.
		if boundary < 0 || whole > 0 || leaf != "" && at[leaf] < boundary {
			continue
		}
		for up := text(tr[boundary], "logicalParentUuid"); up != ""; {
			i := at[up]
			slices.Delete(slices.Clone(tr), i, i+1).write(t, path)
			if tried++; len(tellsOf(t, home)) == 0 {
				t.Errorf("seed %d: without line %d, %v, nothing is told", seed, i, tr[i])
			}
			if up = text(tr[i], "parentUuid"); tr[i]["subtype"] == "compact_boundary" {
				up = text(tr[i], "logicalParentUuid")
			}
		}
	}
	if tried == 0 {
		t.Error("no line stands before a compaction")
	}
}

// tellsOf are the findings about the chain of a folder's sessions.
func tellsOf(t *testing.T, home string) (list []string) {
	t.Helper()
	o := openTranscripts(t, home)
	for _, tree := range filled(t, o) {
		for _, f := range check.RunTree(o.Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
			if f.Rule.ID == "SC021" || f.Rule.ID == "SC020" {
				list = append(list, f.Message)
			}
		}
	}
	return list
}

// TestNoLine: a transcript without a line is told beside others.
func TestNoLine(t *testing.T) {
	home, path := built(t, t.TempDir(), 1, 1)
	for _, text := range []string{"", "\n \n"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "empty.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if told := tellsOf(t, home); len(told) != 1 || !strings.Contains(told[0], "the transcript is empty") {
			t.Errorf("%q: %q", text, told)
		}
	}
}

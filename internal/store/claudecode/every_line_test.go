package claudecode_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
)

// lineDamages are what can become of line i of a transcript.
var lineDamages = []func(lines []string, i int) []string{
	func(lines []string, i int) []string { return slices.Delete(lines, i, i+1) },
	func(lines []string, i int) []string { // changes places with the next one
		if i+1 < len(lines) {
			lines[i], lines[i+1] = lines[i+1], lines[i]
		}
		return lines
	},
	func(lines []string, i int) []string {
		return append(slices.Delete(slices.Clone(lines), i, i+1), lines[i])
	},
	func(lines []string, i int) []string { return slices.Insert(lines, i, lines[i]) },
	func(lines []string, i int) []string { return slices.Insert(lines, i, renamed(lines[i])) },
	func(lines []string, i int) []string {
		lines[i] = parent.ReplaceAllString(lines[i], `"parentUuid":null`)
		return lines
	},
	func(lines []string, i int) []string { // hangs below the first line that has an identifier
		for _, line := range lines {
			if id := identifier.FindStringSubmatch(line); id != nil {
				lines[i] = parent.ReplaceAllString(lines[i], `"parentUuid":"`+id[1]+`"`)
				break
			}
		}
		return lines
	},
	func(lines []string, i int) []string { // hangs beside the line before it
		for _, line := range slices.Backward(lines[:i]) {
			if up := parent.FindString(line); up != "" {
				lines[i] = parent.ReplaceAllString(lines[i], up)
				break
			}
		}
		return lines
	},
	func(lines []string, i int) []string { // of a sub-agent, or none
		if strings.Contains(lines[i], `"isSidechain":true`) {
			lines[i] = strings.Replace(lines[i], `"isSidechain":true`, `"isSidechain":false`, 1)
		} else {
			lines[i] = strings.Replace(lines[i], `"isSidechain":false`, `"isSidechain":true`, 1)
		}
		return lines
	},
	func(lines []string, i int) []string {
		lines[i] = strings.Replace(lines[i], `"tool_use_id":"toolu_`, `"tool_use_id":"toolx_`, 1)
		return lines
	},
	func(lines []string, i int) []string {
		lines[i] = strings.Replace(lines[i], `"type":"tool_result"`, `"type":"text","text":"x"`, 1)
		return lines
	},
	func(lines []string, i int) []string { // all that lines are known by
		lines[i] = identifier.ReplaceAllString(lines[i], `"uuid":7`)
		return lines
	},
	func(lines []string, i int) []string {
		lines[i] = regexp.MustCompile(`"timestamp":"[^"]*"`).ReplaceAllString(lines[i], `"timestamp":"x"`)
		return lines
	},
	func(lines []string, i int) []string {
		lines[i] = regexp.MustCompile(`"sessionId":"[^"]*"`).ReplaceAllString(lines[i], `"sessionId":"99999999-0000-4000-8000-000000000000"`)
		return lines
	},
	func(lines []string, i int) []string {
		lines[i] = regexp.MustCompile(`"message":\{`).ReplaceAllString(lines[i], `"massage":{`)
		return lines
	},
}

var identifier = regexp.MustCompile(`"uuid":"([^"]*)"`)

// failed are those that failed once.
var failed = []string{
	"resumed-2.0.14 00000033-0000-4000-8000-000000000033.jsonl line 3 damage 3",                 // a line that stands twice took the result away
	"children-parallel-background 00000014-0000-4000-8000-000000000014.jsonl line 20 damage 10", // the new result was younger than what follows
	"kill-tool 00000016-0000-4000-8000-000000000016.jsonl line 38 damage 4",                     // the new result put the blocks of its message in another order
	"kill-tool 00000016-0000-4000-8000-000000000016.jsonl line 39 damage 4",                     // a call in two lines is sent once
	"kill-tool 00000016-0000-4000-8000-000000000016.jsonl line 40 damage 4",
	"kill-tool 00000016-0000-4000-8000-000000000016.jsonl line 39 damage 7", // likewise, without a copy
	"tools 00000012-0000-4000-8000-000000000012.jsonl line 28 damage 11",    // a made result in place of one in an unknown form
	"tools 00000012-0000-4000-8000-000000000012.jsonl line 28 damage 14",
	"damaged-orphan-result 00000012-0000-4000-8000-000000000012.jsonl line 22 damage 4",
	"kill-child-2.1.197 00000034-0000-4000-8000-000000000034.jsonl line 6 damage 4",
	"torn-result 00000012-0000-4000-8000-000000000012.jsonl line 22 damage 4",
	"torn-tail 00000012-0000-4000-8000-000000000012.jsonl line 23 damage 4",
	"resumed-2.1.197 00000033-0000-4000-8000-000000000033.jsonl line 6 damage 3",              // a line that stands twice
	"repaired-kill-linear-2.1.330 00000033-0000-4000-8000-000000000033.jsonl line 3 damage 7", // a second repair had something to do
	"resumed-2.0.14 00000033-0000-4000-8000-000000000033.jsonl line 6 damage 12",              // what follows has no time
	"resumed-2.1.197 00000033-0000-4000-8000-000000000033.jsonl line 11 damage 12",
}

// TestEveryLine damages each line of what was recorded in each of these ways: a repair repairs
// or leaves what it finds, says nothing that does not hold, and an undo gives every byte back.
func TestEveryLine(t *testing.T) {
	turn, tried, repairs, stride := 0, 0, 0, campaign.Stride(29, 1)
	for _, name := range slices.Sorted(maps.Keys(verdicts)) {
		home := recorded(t, name, t.TempDir())
		files := snapshot(t, home)
		for _, file := range slices.Sorted(maps.Keys(files)) {
			text := files[file]
			if !strings.HasSuffix(file, ".jsonl") {
				continue
			}
			for i := range strings.Count(text, "\n") {
				for d, damage := range lineDamages {
					what := fmt.Sprintf("%s %s line %d damage %d", name, filepath.Base(file), i+1, d)
					if turn++; turn%stride != 0 && !slices.Contains(failed, what) {
						continue
					}
					lines := damage(strings.SplitAfter(text, "\n"), i)
					if strings.Join(lines, "") == text {
						continue
					}
					tried++
					home := recorded(t, name, t.TempDir())
					if err := os.WriteFile(filepath.Join(home, file), []byte(strings.Join(lines, "")), 0o600); err != nil {
						t.Fatal(err)
					}
					before := snapshot(t, home)
					plan, receipt, err := repairtest.Repair(home)
					if err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					if receipt == nil {
						continue
					}
					repairs++
					if len(receipt.LeftOut) > 0 {
						t.Errorf("%s: left out: %+v", what, receipt.LeftOut)
					}
					for _, id := range madeInPlace(before[file], snapshot(t, home)[file]) {
						if !sharesID(plan, id) {
							t.Errorf("%s: the result of %s is there, and one was made", what, id)
						}
					}
					if again, second, err := repairtest.Repair(home); err != nil || second != nil {
						t.Errorf("%s: a second repair has something to do: %v, %+v", what, err, again.Trees)
						continue
					}
					if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
						t.Errorf("%s: %v", what, err)
					} else if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
						t.Errorf("%s: undo gives something else: %s", what, diff)
					}
				}
			}
		}
	}
	if t.Logf("%d tried, %d repaired", tried, repairs); repairs < tried/5 {
		t.Errorf("only %d of %d were repaired", repairs, tried)
	}
}

// madeInPlace are the calls for which a repair made a result although a recorded one is in the
// file, of the same conversation and as the runtime reads results.
func madeInPlace(before, after string) (made []string) {
	recorded := map[string]bool{}
	for line := range strings.SplitSeq(before, "\n") {
		for _, id := range resultsIn(line) {
			recorded[id] = true
		}
	}
	for line := range strings.SplitSeq(after, "\n") {
		for _, id := range resultsIn(line) {
			if strings.Contains(line, session.SyntheticPrefix) && !strings.Contains(before, session.SyntheticPrefix) && recorded[id] {
				made = append(made, strings.Fields(id)[0])
			}
		}
	}
	return made
}

// sharesID reports whether two calls on the branch have an id: then each gets a result.
func sharesID(plan *repair.Plan, id string) bool {
	return slices.ContainsFunc(plan.Trees, func(tree *repair.Tree) bool {
		return slices.ContainsFunc(tree.After, func(f *check.Finding) bool { return f.Rule.ID == "SC201" && f.Call == id })
	})
}

// resultsIn are the calls that a line answers, and whether it is a sub-agent's.
func resultsIn(line string) (list []string) {
	var l map[string]any
	if json.Unmarshal([]byte(line), &l) != nil || l["type"] != "user" {
		return nil
	}
	for _, id := range ids(l, "tool_result", "tool_use_id") {
		list = append(list, fmt.Sprint(id, " ", l["isSidechain"] == true))
	}
	return list
}

package claudecode_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// turnOf is the nth turn of a session: a prompt, a call with its result, what the vendor adds, an
// answer, and lines without identifiers around them.
func turnOf(id string, n int) []string {
	above, at := "null", func(k int) string { return fmt.Sprint(id, n, "-", k) }
	if n > 0 {
		above = fmt.Sprintf("%q", fmt.Sprint(id, n-1, "-5"))
	}
	says := func(k int, kind, message string) string {
		l := strings.Replace(line("2.1.330", at(k), above, kind, 3*n+int(id[0]-'a'), message), `"sessionId":"s"`, `"sessionId":"`+id+`"`, 1)
		above = fmt.Sprintf("%q", at(k))
		return strings.Replace(l, ".000Z", fmt.Sprintf(".%03dZ", k), 1)
	}
	own := func(kind, more string) string {
		return fmt.Sprintf(`{"type":%q,%s"sessionId":%q}`+"\n", kind, more, id)
	}
	call := fmt.Sprint("toolu_", id, n)
	return []string{
		own("queue-operation", `"operation":"enqueue",`), says(1, "user", fmt.Sprintf(`{"role":"user","content":"ask %s %d"}`, id, n)),
		strings.Replace(says(2, "attachment", "null"), `"message":null`, `"attachment":{"type":"date"}`, 1), own("mode", ""),
		says(3, "assistant", callOf(fmt.Sprint("m", id, n, "a"), call)),
		strings.Replace(says(4, "user", resultOf(call, "ok")), `"uuid"`, fmt.Sprintf(`"sourceToolAssistantUUID":%q,"uuid"`, at(3)), 1),
		says(5, "assistant", strings.Replace(done, "m2", fmt.Sprint("m", id, n, "b"), 1)), own("last-prompt", fmt.Sprintf(`"leafUuid":%q,`, at(5))),
	}
}

// project is a folder of transcripts by the names of their sessions.
type project map[string][]string

func (p project) write(t testing.TB) string {
	t.Helper()
	home := homeOf(t)
	for id, lines := range p {
		if err := os.WriteFile(filepath.Join(home, "projects", "p", id+".jsonl"), []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if p["s"] == nil {
		_ = os.Remove(filepath.Join(home, "projects", "p", "s.jsonl"))
	}
	return home
}

// all are the lines of all transcripts of a snapshot.
func all(files map[string]string) (lines string) {
	for _, name := range transcripts(files) {
		lines += strings.TrimSuffix(files[name], "\n") + "\n"
	}
	return lines
}

// sorted are the lines of each transcript of a folder, in no order.
func sorted(t testing.TB, home string) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	for name, text := range snapshot(t, home) {
		if strings.HasSuffix(name, ".jsonl") {
			files[name] = slices.Sorted(strings.SplitAfterSeq(text, "\n"))
		}
	}
	return files
}

// TestRandomTurns writes random turns of two or three sessions to each other's files: every line
// comes home as it was, the conversations are those of the healthy folder, and an undo is exact.
func TestRandomTurns(t *testing.T) {
	for seed := range uint64(campaign.Rounds(60, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 30802))
		ids, turns := []string{"a", "b", "c"}[:2+rng.IntN(2)], 2+rng.IntN(4)
		wrong := map[string]string{} // of each session whose turns go astray, one other file
		for i, id := range ids {
			wrong[id] = ids[(i+1+rng.IntN(len(ids)-1))%len(ids)]
		}
		healthy, damaged, astray := project{}, project{}, 0
		for n := range turns {
			for _, id := range ids {
				healthy[id] = append(healthy[id], turnOf(id, n)...)
				file := id
				if n > 0 && rng.IntN(3) == 0 {
					file, astray = wrong[id], astray+1
				}
				damaged[file] = append(damaged[file], turnOf(id, n)...)
			}
		}
		if astray == 0 {
			continue
		}
		right, home := healthy.write(t), damaged.write(t)
		want := conversations(t, right)
		if list, _ := found(t, home); len(list) == 0 || slices.ContainsFunc(list, func(f *check.Finding) bool { return f.Rule.ID != "SC702" }) {
			t.Errorf("seed %d: found %v", seed, list)
		}
		before := snapshot(t, home)
		plan, receipt, err := repairtest.Repair(home)
		if err != nil || receipt == nil || len(plan.Refused)+len(receipt.LeftOut) > 0 {
			t.Errorf("seed %d: %v, %+v", seed, err, plan)
			continue
		}
		if diff := cmp.Diff(sorted(t, right), sorted(t, home)); diff != "" {
			t.Errorf("seed %d: -healthy +repaired:\n%.3000s", seed, diff)
		}
		if diff := cmp.Diff(want, conversations(t, home)); diff != "" {
			t.Errorf("seed %d: -healthy +repaired:\n%.3000s", seed, diff)
		}
		if list, _ := found(t, home); len(list) > 0 {
			t.Errorf("seed %d: still found: %v", seed, list)
		}
		if _, second, err := repairtest.Repair(home); err != nil || second != nil {
			t.Errorf("seed %d: a second repair: %v", seed, err)
		}
		if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
			t.Errorf("seed %d: undo: %v", seed, err)
		}
		if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
			t.Errorf("seed %d: undo gives something else: %.2000s", seed, diff)
		}
	}
}

// TestTurnsBeside: what else is wrong with the folder is told or repaired as ever, and nothing ends
// in a repair that is rolled back.
func TestTurnsBeside(t *testing.T) {
	turns := func(id string, ns ...int) (lines []string) {
		for _, n := range ns {
			lines = append(lines, turnOf(id, n)...)
		}
		return lines
	}
	a, b := slices.Concat(turns("a", 0), turns("b", 1), turns("a", 1)), turns("b", 0)
	other := strings.SplitAfter(strings.ReplaceAll(strings.Join(turns("b", 2), ""), "b1-5", "b0-5"), "\n")
	torn := b[len(b)-1][:20]
	for name, tt := range map[string]struct {
		files project
		moved bool
	}{
		"b is torn":           {project{"a": a, "b": append(slices.Clone(b), torn)}, true},
		"b has NUL bytes":     {project{"a": a, "b": append([]string{"\x00\x00\x00\n"}, b...)}, true},
		"b lost a result":     {project{"a": a, "b": without(slices.Clone(b), `"tool_result"`)}, true},
		"a is torn":           {project{"a": append(slices.Clone(a), torn), "b": b}, true},
		"b has a copy":        {project{"a": a, "b": slices.Concat(b, turns("b", 1))}, false},
		"b is not there":      {project{"a": a}, false},
		"b went on by itself": {project{"a": a, "b": slices.Concat(b, other)}, false},
		"b lacks the parent":  {project{"a": a, "b": b[:3]}, false},
		"c is a part of b":    {project{"b": b, "c": turns("b", 1)}, false},
	} {
		home := tt.files.write(t)
		before := snapshot(t, home)
		plan, receipt, err := repairtest.Repair(home)
		moves := 0
		for _, tree := range plan.Trees {
			for _, f := range tree.Fixes {
				for _, e := range f.Edits {
					if e.Op == session.Move {
						moves++
					}
				}
			}
		}
		if err != nil || moves > 0 != tt.moved {
			t.Errorf("%s: %d moves, %v, %+v", name, moves, err, plan.Refused)
		}
		if receipt == nil {
			continue
		}
		held(t, map[string]string{".jsonl": all(before)}, map[string]string{".jsonl": all(snapshot(t, home))}, receipt.Path())
		if _, second, err := repairtest.Repair(home); err != nil || second != nil {
			t.Errorf("%s: a second repair: %v", name, err)
		}
		if _, err := repairtest.Undo(home, receipt.Path()); err != nil || cmp.Diff(before, snapshot(t, home)) != "" {
			t.Errorf("%s: undo: %v", name, err)
		}
	}
}

// TestTurnsOfLiveSessions: a turn stays as long as a process has either session open, whether that
// shows in the plan or began after it.
func TestTurnsOfLiveSessions(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	for _, id := range []string{"a", "b"} {
		home := project{"a": slices.Concat(turnOf("a", 0), turnOf("b", 1)), "b": turnOf("b", 0)}.write(t)
		plan, kind, err := repairtest.Plan(home)
		if err != nil || plan.IsEmpty() {
			t.Fatal(err)
		}
		ed, err := kind.Edit(t.Context(), registry.ToEdit(home))
		if err != nil {
			t.Fatal(err)
		}
		opened(t, home, id)
		before := snapshot(t, home)
		if _, err := (repair.Apply{Backup: home + ".backup", Receipt: home + ".receipt.json"}).Run(t.Context(), ed, plan); problem.ClassOf(err) != problem.Busy {
			t.Errorf("%s: %v", id, err)
		}
		plan, receipt, err := repairtest.Repair(home)
		if err != nil || receipt != nil || len(plan.Refused) != 1 || !strings.Contains(plan.Refused[0].Why, "a process has it open") {
			t.Errorf("%s: %v, %+v", id, err, plan.Refused)
		}
		if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
			t.Error(diff)
		}
	}
}

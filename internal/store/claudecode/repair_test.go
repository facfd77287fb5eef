package claudecode_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// snapshot are the files of a folder, with what else a repair has to keep.
func snapshot(t storetest.Tester, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		info, err := e.Info()
		files[name] = string(text)
		if err == nil {
			files[name+" (mode and time)"] = info.Mode().String() + info.ModTime().String()
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return files
}

// repaired repairs a folder: a second repair is idle, and an undo gives what was there.
// What a repair makes of the folder is returned.
func repaired(t testing.TB, home string) (map[string]string, *repair.Receipt) {
	t.Helper()
	before := snapshot(t, home)
	plan, receipt, err := repairtest.Repair(home)
	if err != nil || receipt == nil {
		t.Fatalf("nothing was repaired: %v, %+v", err, plan)
	}
	if len(receipt.LeftOut) > 0 || len(plan.Refused) > 0 {
		t.Errorf("left out: %+v, %+v", receipt.LeftOut, plan.Refused)
	}
	after := snapshot(t, home)
	if again, second, err := repairtest.Repair(home); err != nil || second != nil {
		t.Errorf("a second repair has something to do: %v, %+v", err, again.Trees)
	}
	held(t, before, after, receipt.Path())
	backup := snapshot(t, home+".backup")
	for name, text := range before {
		changed := strings.HasSuffix(name, ".jsonl") && after[name] != text
		if kept, there := backup[name]; strings.HasSuffix(name, ".jsonl") && there != changed || changed && kept != text {
			t.Errorf("%s in the backup: %t, changed: %t", name, there, changed)
		}
	}
	if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
		t.Errorf("undo gives something else: %s", diff)
	}
	if err := os.RemoveAll(home + ".backup"); err != nil {
		t.Fatal(err)
	}
	return after, receipt
}

// held makes sure that every line of before is there after, but for what it hangs below,
// or in the receipt.
func held(t testing.TB, before, after map[string]string, receipt string) {
	t.Helper()
	kept, err := os.ReadFile(receipt)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range before {
		if !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		there := map[string]int{}
		for line := range strings.SplitAfterSeq(after[name], "\n") {
			there[unparented(line)]++
		}
		for line := range strings.SplitAfterSeq(text, "\n") {
			if there[unparented(line)]--; there[unparented(line)] >= 0 {
				continue
			}
			quoted, _ := json.Marshal(strings.TrimRight(line, "\r\n"))
			encoded := base64.StdEncoding.EncodeToString([]byte(strings.TrimRight(line, "\r\n"))) // of what is no UTF-8
			if line != "" && !bytes.Contains(kept, bytes.Trim(quoted, `"`)) && !bytes.Contains(kept, quotedText(line)) && !bytes.Contains(kept, []byte(encoded)) {
				t.Errorf("%s: lost: %q", name, line)
			}
		}
	}
}

// quotedText is a line as a JSON text without escapes for browsers.
func quotedText(line string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(strings.TrimRight(line, "\r\n"))
	return bytes.Trim(bytes.TrimSpace(b.Bytes()), `"`)
}

// unparented is a line without what it hangs below, byte for byte.
func unparented(line string) string {
	line = strings.TrimRight(line, "\r\n")
	var l struct {
		Type   string  `json:"type"`
		Parent *string `json:"parentUuid"`
		Leaf   string  `json:"leafUuid"`
	}
	if json.Unmarshal([]byte(line), &l) != nil {
		return line
	}
	if l.Type == "last-prompt" {
		return strings.Replace(line, `"leafUuid":"`+l.Leaf+`"`, "", 1)
	}
	parent := `"parentUuid":null`
	if l.Parent != nil {
		parent = `"parentUuid":"` + *l.Parent + `"`
	}
	return strings.Replace(line, parent, "", 1)
}

// transcripts are the files of sessions in a snapshot.
func transcripts(files map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return !strings.HasSuffix(name, ".jsonl") })
}

// edited changes the one transcript of a folder.
func edited(t testing.TB, home string, change func(lines []string) []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(home, "projects", "*", "*.jsonl"))
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := change(strings.SplitAfter(string(text), "\n"))
	if err := os.WriteFile(files[0], []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// without leaves the lines out that hold a text of each of some.
func without(lines []string, texts ...string) []string {
	return slices.DeleteFunc(lines, func(l string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(l, text) })
	})
}

// TestRecordedPairs: what was repaired by hand and resumed by the program of that version is
// what a repair makes, line by line. The pair of the orphan was damaged in another place.
func TestRecordedPairs(t *testing.T) {
	for damaged, want := range map[string]string{
		"damaged-dup-result": "repaired-dup-result-2.1.330", "damaged-phantom-parent": "repaired-phantom-2.1.330",
		"tools": "repaired-orphan-result-2.1.330",
	} {
		t.Run(damaged, func(t *testing.T) {
			home := recorded(t, damaged, t.TempDir())
			if damaged == "tools" {
				edited(t, home, func(lines []string) []string { return without(lines, `"type":"tool_use","id":"toolu_011b96e72fT1N0"`) })
			}
			got, _ := repaired(t, home)
			wanted := snapshot(t, recorded(t, want, t.TempDir()))
			name := transcripts(wanted)[0]
			if diff := cmp.Diff(strings.Split(wanted[name], "\n"), strings.Split(got[name], "\n")); diff != "" {
				t.Errorf("-recorded +repaired:\n%s", diff)
			}
		})
	}
}

// TestRecorded repairs what is damaged or was killed, each in its way.
func TestRecorded(t *testing.T) {
	for name, found := range verdicts {
		fixed := slices.ContainsFunc(found, func(f string) bool {
			return !strings.HasPrefix(f, "info") || strings.Contains(f, "SC021")
		})
		if !fixed {
			continue
		}
		t.Run(name, func(t *testing.T) {
			home := recorded(t, name, t.TempDir())
			if _, receipt := repaired(t, home); receipt.State != repair.Done {
				t.Errorf("%s", receipt.State)
			}
		})
	}
}

// TestResumedByItself: the result that Claude Code 2.1.330 wrote itself when it resumed has
// the keys of the one that a repair writes.
func TestResumedByItself(t *testing.T) {
	last := func(files map[string]string, text string) (found map[string]any) {
		for line := range strings.SplitSeq(files[transcripts(files)[0]], "\n") {
			if strings.Contains(line, text) {
				_ = json.Unmarshal([]byte(line), &found)
			}
		}
		return found
	}
	want := last(snapshot(t, recorded(t, "resumed", t.TempDir())), `"toolDenialKind":"interrupted"`)
	got, _ := repaired(t, recorded(t, "kill-tool", t.TempDir()))
	made := last(got, session.SyntheticPrefix)
	if made["parentUuid"] == nil || want == nil {
		t.Fatalf("%v, %v", made, want)
	}
	delete(want, "promptId") // of the resumed run
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(made))); diff != "" {
		t.Errorf("-recorded +repaired:\n%s", diff)
	}
	for _, key := range []string{"parentUuid", "sourceToolAssistantUUID", "sessionId", "cwd", "version", "gitBranch", "userType", "entrypoint", "isSidechain", "toolDenialKind"} {
		if diff := cmp.Diff(want[key], made[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}

// damages are what can happen to a transcript, each as a change of its lines.
var damages = []func(rng *rand.Rand, lines []string) []string{
	func(rng *rand.Rand, lines []string) []string { return lines[:len(lines)-rng.IntN(len(lines)/2+1)] }, // killed
	func(rng *rand.Rand, lines []string) []string { // a result or a call is lost, or any line
		at := rng.IntN(len(lines))
		for range 20 {
			if at = rng.IntN(len(lines)); strings.Contains(lines[at], `"tool_`) {
				break
			}
		}
		return slices.Delete(lines, at, at+1)
	},
	func(rng *rand.Rand, lines []string) []string { // a line twice
		at := rng.IntN(len(lines))
		return slices.Insert(lines, at+1, lines[at])
	},
	func(rng *rand.Rand, lines []string) []string { // a result twice, with an identifier of its own
		for range 50 {
			at := rng.IntN(len(lines))
			if strings.Contains(lines[at], `"tool_result"`) {
				return slices.Insert(lines, at+1, renamed(lines[at]))
			}
		}
		return lines
	},
	func(rng *rand.Rand, lines []string) []string { // a parent that does not exist
		at := rng.IntN(len(lines))
		lines[at] = parent.ReplaceAllString(lines[at], `"parentUuid":"ffffffff-0000-4000-8000-000000000000"`)
		return lines
	},
	func(rng *rand.Rand, lines []string) []string { // broken in the middle
		at := rng.IntN(len(lines))
		lines[at] = lines[at][:1+rng.IntN(len(lines[at])-1)] + "\n"
		return lines
	},
	func(rng *rand.Rand, lines []string) []string { // torn
		last := len(lines) - 1
		lines[last] = lines[last][:1+rng.IntN(len(lines[last])-1)]
		return lines
	},
	func(rng *rand.Rand, lines []string) []string { // nothing but NUL bytes
		at := rng.IntN(len(lines))
		return slices.Insert(lines, at, "\x00\x00\x00\x00\n")
	},
}

var (
	parent = regexp.MustCompile(`"parentUuid":("[^"]*"|null)`)
	named  = regexp.MustCompile(`"uuid":"........-`)
)

// renamed is a line with another identifier.
func renamed(line string) string { return named.ReplaceAllString(line, `"uuid":"eeeeeeee-`) }

// TestRandomRepairs damages random transcripts: whatever a repair does, no line is lost, a
// second one is idle, and an undo gives every byte back.
func TestRandomRepairs(t *testing.T) {
	fixed, left, inFull := 0, map[string]int{}, 0
	rounds := campaign.Rounds(40, 2000)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 7))
		home, path := built(t, t.TempDir(), seed, 1)
		files := []string{path}
		_ = filepath.WalkDir(strings.TrimSuffix(path, ".jsonl"), func(name string, _ fs.DirEntry, _ error) error {
			if strings.HasSuffix(name, ".jsonl") {
				files = append(files, name)
			}
			return nil
		})
		for range 1 + rng.IntN(3) {
			name := files[rng.IntN(len(files))]
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(l string) bool { return l == "" })
			if len(lines) < 3 {
				continue
			}
			if lines = damages[rng.IntN(len(damages))](rng, lines); rng.IntN(8) == 0 {
				for i := range lines {
					lines[i] = strings.Replace(strings.Replace(lines[i], "\r\n", "\n", 1), "\n", "\r\n", 1)
				}
			}
			if err := os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := snapshot(t, home)
		plan, receipt, err := repairtest.Repair(home)
		if err != nil || len(plan.Trees) > 0 && receipt == nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		for _, r := range plan.Refused {
			left[r.Rule+": "+r.Why]++
		}
		if receipt == nil {
			continue
		}
		for _, out := range receipt.LeftOut {
			t.Errorf("seed %d: left out: %s", seed, out.Why)
		}
		fixed++
		if len(plan.Refused) == 0 {
			inFull++
		}
		held(t, before, snapshot(t, home), receipt.Path())
		if again, second, err := repairtest.Repair(home); err != nil || second != nil {
			t.Errorf("seed %d: a second repair: %v, %+v", seed, err, again.Trees)
		}
		if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
			t.Errorf("seed %d: undo: %v", seed, err)
		}
		if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
			t.Errorf("seed %d: undo gives something else: %.2000s", seed, diff)
		}
	}
	t.Logf("%d of %d repaired, %d of them in full; left: %v", fixed, rounds, inFull, left)
	if fixed < rounds/2 {
		t.Errorf("only %d of %d were repaired", fixed, rounds)
	}
}

// opened notes in a folder that the process of this test has a session open, and gives the note's name.
func opened(t *testing.T, home, id string) (name string) {
	t.Helper()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	note := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"procStart":"%s"}`, os.Getpid(), id, strings.Fields(rest)[19])
	name = filepath.Join(home, "sessions", fmt.Sprint(os.Getpid(), ".json"))
	if err := errors.Join(os.Mkdir(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(note), 0o600)); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestLiveSessions: a session that a process has open is not repaired, whether that shows in
// the plan or began behind it.
func TestLiveSessions(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	home := recorded(t, "damaged-dup-result", t.TempDir())
	before := snapshot(t, home)
	plan, kind, err := repairtest.Plan(home)
	if err != nil || plan.IsEmpty() {
		t.Fatal(err)
	}
	name := opened(t, home, "00000012-0000-4000-8000-000000000012")
	ed, err := kind.Edit(t.Context(), registry.ToEdit(home))
	if err != nil {
		t.Fatal(err)
	}
	_, err = (repair.Apply{Backup: home + ".backup", Receipt: home + ".receipt.json"}).Run(t.Context(), ed, plan)
	if problem.ClassOf(err) != problem.Busy || !strings.Contains(err.Error(), "Claude Code has it open") {
		t.Errorf("%v", err)
	}
	plan, receipt, err := repairtest.Repair(home)
	if err != nil || receipt != nil || len(plan.Refused) != 1 || !strings.Contains(plan.Refused[0].Why, "a process has it open") {
		t.Errorf("%v, %+v", err, plan.Refused)
	}
	if err := os.RemoveAll(filepath.Dir(name)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
		t.Error(diff)
	}
}

// TestAppendedMeanwhile: a line that Claude Code writes behind the plan is not lost.
func TestAppendedMeanwhile(t *testing.T) {
	home := recorded(t, "damaged-dup-result", t.TempDir())
	plan, kind, err := repairtest.Plan(home)
	if err != nil {
		t.Fatal(err)
	}
	edited(t, home, func(lines []string) []string { return append(lines, asked+"\n") })
	before := snapshot(t, home)
	ed, err := kind.Edit(t.Context(), registry.ToEdit(home))
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := (repair.Apply{Backup: home + ".backup", Receipt: home + ".receipt.json"}).Run(t.Context(), ed, plan)
	if problem.ClassOf(err) != problem.Busy || receipt != nil {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
		t.Error(diff)
	}
}

// TestMiddleAndLate: what is lost or late in the middle of a session finds its place in the
// chain, in files in which results hang below their calls and in those where they follow
// each other.
func TestMiddleAndLate(t *testing.T) {
	for _, tt := range []struct {
		name, from string
		change     func(lines []string) []string
		rule       string
	}{
		{"lost result, and the gap that it leaves", "tools", func(l []string) []string {
			return without(l, `"type":"tool_result"`, `"tool_use_id":"toolu_011b96e72fT0N2"`)
		}, "SC101"},
		{"lost result beside the chain", "tools", func(l []string) []string {
			return without(l, `"type":"tool_result"`, `"tool_use_id":"toolu_011b96e72fT0N0"`)
		}, "SC101"},
		{"lost result, linear", "resumed-2.0.14", func(l []string) []string { return l }, "SC101"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := recorded(t, tt.from, t.TempDir())
			edited(t, home, tt.change)
			before := snapshot(t, home)
			after, receipt := repaired(t, home)
			if len(receipt.Batches) != 1 || !slices.ContainsFunc(receipt.Batches[0].Fixes, func(f repair.Fix) bool { return f.Rule == tt.rule }) {
				t.Errorf("%+v", receipt.Batches)
			}
			name := transcripts(before)[0]
			if was, is := strings.Count(before[name], "\n"), strings.Count(after[name], "\n"); is != was+1 {
				t.Errorf("%d lines, %d before", is, was)
			}
		})
	}
}

// line is one of a transcript of a version; parent is JSON.
func line(version, uuid, parent, kind string, second int, message string) string {
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%q,"sessionId":"s","timestamp":"2026-11-22T10:00:%02d.000Z","version":%q}`+"\n", parent, kind, message, uuid, second, version)
}

// callOf is the message of a line with a call.
func callOf(message, id string) string {
	return fmt.Sprintf(`{"id":%q,"role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{}}]}`, message, id)
}

// resultOf is the message of a line with a result.
func resultOf(id, text string) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, text)
}

const goOn, done = `{"role":"user","content":"go"}`, `{"id":"m2","role":"assistant","model":"claude-opus-4-8","content":[{"type":"text","text":"done"}]}`

// homeOf is a folder with a transcript of some lines.
func homeOf(t testing.TB, lines ...string) string {
	t.Helper()
	folder := t.TempDir()
	project := filepath.Join(folder, "projects", "p")
	if err := errors.Join(os.MkdirAll(project, 0o700), os.WriteFile(filepath.Join(project, "s.jsonl"), []byte(strings.Join(lines, "")), 0o600)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestTimeInTheMiddle: a result of an earlier call can stand before the line of a later call of
// the same message. A new result of that is not older than the other one.
func TestTimeInTheMiddle(t *testing.T) {
	const v = "2.1.330"
	after, _ := repaired(t, homeOf(t,
		line(v, "u1", "null", "user", 0, goOn), line(v, "u2", `"u1"`, "assistant", 1, callOf("m1", "toolu_1")),
		line(v, "u3", `"u2"`, "user", 3, resultOf("toolu_1", "ok")), line(v, "u4", `"u1"`, "assistant", 2, callOf("m1", "toolu_2")),
		line(v, "u5", `"u3"`, "assistant", 5, done), line(v, "u6", `"u5"`, "user", 6, goOn)))
	if is := after["projects/p/s.jsonl"]; strings.Count(is, `"timestamp":"2026-11-22T10:00:03.000Z"`) != 2 {
		t.Errorf("the new result has another time than the newest line of its turn:\n%s", is)
	}
}

// TestDoubledIDs: of two calls with one id in a message each gets its own result in one
// repair, whose lines have identifiers of their own.
func TestDoubledIDs(t *testing.T) {
	for _, version := range []string{"2.0.14", "2.1.330"} {
		calls := []string{
			line(version, "u1", "null", "user", 0, goOn), line(version, "u2", `"u1"`, "assistant", 1, callOf("m1", "toolu_1")),
			line(version, "u3", `"u2"`, "assistant", 2, callOf("m1", "toolu_1")),
		}
		answered := line(version, "u4", `"u3"`, "user", 3, resultOf("toolu_1", "ok"))
		both := strings.Replace(calls[1], `"content":[`, `"content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}},`, 1)
		for name, lines := range map[string][]string{
			"at the end":     calls,
			"in the middle":  append(slices.Clip(calls), line(version, "u5", `"u3"`, "assistant", 5, done), line(version, "u6", `"u5"`, "user", 6, goOn)),
			"one has one":    append(slices.Clip(calls), answered, line(version, "u5", `"u4"`, "assistant", 5, done), line(version, "u6", `"u5"`, "user", 6, goOn)),
			"in one line":    {calls[0], both},
			"three of them":  append(slices.Clip(calls), line(version, "u4", `"u3"`, "assistant", 3, callOf("m1", "toolu_1"))),
			"another is not": append(slices.Clip(calls), line(version, "u4", `"u3"`, "assistant", 3, callOf("m1", "toolu_2"))),
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				home := homeOf(t, lines...)
				before := snapshot(t, home)
				plan, receipt, err := repairtest.Repair(home)
				if err != nil || receipt == nil || len(receipt.LeftOut) > 0 {
					t.Fatalf("%v, %+v, %+v", err, plan.Refused, receipt)
				}
				after := snapshot(t, home)
				held(t, before, after, receipt.Path())
				text := strings.Join(lines, "")
				if is := after["projects/p/s.jsonl"]; strings.Count(is, `"tool_use_id"`) != strings.Count(text, `"tool_use"`) {
					t.Errorf("a call has no result, or a second one:\n%s", is)
				}
				if again, second, err := repairtest.Repair(home); err != nil || second != nil {
					t.Errorf("a second repair: %v, %+v", err, again.Trees)
				}
				if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestBesideAnOpenTask: a made result of a call beside that of a sub-agent stands behind them,
// although nothing tells of the caller's later messages whose they are, and one of them is a
// result of a call that is not there.
func TestBesideAnOpenTask(t *testing.T) {
	const v = "2.0.14"
	task := strings.Replace(callOf("m1", "toolu_1"), `"Bash","input":{}`, `"Task","input":{"subagent_type":"general-purpose","prompt":"look"}`, 1)
	plan, receipt, err := repairtest.Repair(homeOf(t,
		line(v, "u1", "null", "user", 0, goOn), line(v, "u2", `"u1"`, "assistant", 1, task), line(v, "u3", `"u2"`, "assistant", 2, callOf("m1", "toolu_2")),
		line(v, "u4", `"u3"`, "assistant", 3, callOf("m2", "toolu_3")), line(v, "u5", `"u4"`, "user", 4, resultOf("toolu_4", "stray")),
		line(v, "u6", `"u5"`, "user", 5, resultOf("toolu_3", "ok")), line(v, "u7", `"u6"`, "assistant", 6, done), line(v, "u8", `"u7"`, "user", 7, goOn)))
	if err != nil || len(plan.Refused) > 0 || len(receipt.Batches) != 1 || len(receipt.Batches[0].Fixes) != 3 {
		t.Fatalf("%v, refused %+v, %+v", err, plan.Refused, receipt)
	}
}

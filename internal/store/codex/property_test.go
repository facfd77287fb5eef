package codex_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/codex"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// built writes a folder with a random program.
func built(t storetest.Tester, folder string, seed, kill uint64) (home string) {
	t.Helper()
	home = filepath.Join(folder, fmt.Sprint("home", seed))
	if _, err := build(home, versions[seed%2], player.PlayUntil(seed, kill)); err != nil {
		t.Fatalf("%v", err)
	}
	return home
}

func TestBuiltConform(t *testing.T) {
	for seed := range uint64(6) {
		storetest.Run(t, codex.Kind, storetest.Sample{
			Name: fmt.Sprint("seed ", seed), Make: func(t *testing.T, folder string) string { return built(t, folder, seed, 0) },
		})
	}
}

// TestWholeProgramsAreClean: nothing is wrong with what ran to its end.
func TestWholeProgramsAreClean(t *testing.T) {
	for seed := range uint64(campaign.Rounds(60, 2000)) {
		for _, found := range storetest.Findings(t, built(t, t.TempDir(), seed, 0)) {
			if !strings.HasPrefix(found, "info ") {
				t.Errorf("seed %d: %s", seed, found)
			}
		}
	}
}

var (
	number  = regexp.MustCompile(`"ordinal":\d+`)
	callID  = regexp.MustCompile(`"call_id":"[^"]*"`)
	ordinal = func(n int) []byte { return fmt.Appendf(nil, `"ordinal":%d`, n) }
)

// damages are what can be wrong with the lines of a rollout, each at a random one.
var damages = []func(lines [][]byte, at int, rng *rand.Rand) [][]byte{
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte { return slices.Delete(lines, at, at+1) },
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte { return slices.Insert(lines, at, lines[at]) },
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte { return append(lines, lines[at]) },
	func(lines [][]byte, at int, rng *rand.Rand) [][]byte {
		to := rng.IntN(len(lines))
		lines[at], lines[to] = lines[to], lines[at]
		return lines
	},
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte {
		lines[at] = append(slices.Clone(lines[at][:len(lines[at])/2]), '\n')
		return lines
	},
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte {
		lines[at] = append(bytes.Repeat([]byte{0}, len(lines[at])-1), '\n')
		return lines
	},
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte {
		lines[at] = lines[at][:len(lines[at])*2/3]
		return lines[:at+1]
	},
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte { return lines[:at] },
	func(lines [][]byte, at int, rng *rand.Rand) [][]byte {
		lines[at] = number.ReplaceAll(lines[at], ordinal(rng.IntN(2*at+1)))
		return lines
	},
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte {
		lines[at] = callID.ReplaceAll(lines[at], []byte(`"call_id":""`))
		return lines
	},
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte {
		lines[at] = callID.ReplaceAll(lines[at], []byte(`"call_id":"same"`))
		return lines
	},
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte {
		lines[at] = bytes.Replace(lines[at], []byte(`"type":"function_call"`), []byte(`"type":"odd_item"`), 1)
		return lines
	},
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte {
		lines[at] = bytes.Replace(lines[at], []byte(`"arguments":"`), []byte(`"arguments":7,"x":"`), 1)
		return lines
	},
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte { return slices.Insert(lines, at, []byte("  \n")) },
	func(lines [][]byte, at int, _ *rand.Rand) [][]byte {
		back := []byte(`{"timestamp":"2026-11-22T09:30:00.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}` + "\n")
		return slices.Insert(lines, at, back)
	},
}

// damaged builds a folder of a program whose runtime may have been killed, perhaps with a fork, and
// damages one of its files.
func damaged(t *rapid.T, folder string) (home string) {
	seed, kill := rapid.Uint64Range(1, 1e6).Draw(t, "seed"), rapid.Uint64Range(0, 400).Draw(t, "kill")
	home = built(t, folder, seed, kill)
	files := rollouts(t, home)
	rng := rand.New(rand.NewPCG(seed, kill))
	text, err := os.ReadFile(files[0])
	if lines := bytes.Count(text, []byte("\n")); err == nil && seed%2 == 1 && lines > 3 && rapid.Bool().Draw(t, "fork") {
		_, err = forkOf(files[0], 2+rng.IntN(lines-2))
		files = rollouts(t, home)
	}
	for range rapid.IntRange(0, 3).Draw(t, "damages") {
		file := rapid.SampledFrom(files).Draw(t, "file")
		lines := [][]byte{}
		if text, err = os.ReadFile(file); err != nil {
			break
		}
		for line := range bytes.Lines(text) {
			lines = append(lines, line)
		}
		if n := len(lines); n > 1 {
			lines = damages[rapid.IntRange(0, len(damages)-1).Draw(t, "damage")](lines, rng.IntN(n), rng)
			err = os.WriteFile(file, bytes.Join(lines, nil), 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// said are the lines of all files without their numbers, and how often they are there.
func said(t storetest.Tester, home string) map[string]int {
	lines := map[string]int{}
	for _, file := range rollouts(t, home) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				lines[number.ReplaceAllString(line, "")]++
			}
		}
	}
	return lines
}

// snapshot are the files of a folder.
func snapshot(t storetest.Tester, home string) map[string]string {
	files := map[string]string{}
	for _, file := range rollouts(t, home) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v", err)
		}
		files[file] = string(text)
	}
	return files
}

// TestNothingIsLost: every line that was stored is, and says the same, or the receipt has it; what is
// new is a result that says that it was lost, or the end of its turn. A second repair has nothing
// to do, and after an undo every byte is as before.
func TestNothingIsLost(t *testing.T) {
	campaign.Checks(t, 60, 2000)
	folder, n := t.TempDir(), 0
	outcomes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		n++
		home := damaged(t, filepath.Join(folder, fmt.Sprint(n)))
		defer func() { _ = os.RemoveAll(filepath.Dir(home)) }()
		before, had := snapshot(t, home), said(t, home)
		plan, receipt, err := repairtest.Repair(home)
		if plan == nil && !strings.Contains(strings.Join(slices.Collect(maps.Values(before)), ""), "}\n") {
			return // no line is whole, and nobody can tell what it is
		}
		if err != nil {
			t.Fatalf("%v%s", err, repairtest.Told(plan))
		}
		for _, r := range plan.Refused {
			outcomes["refused "+r.Rule+" "+regexp.MustCompile(`[0-9a-f-]{36}|\d+`).ReplaceAllString(r.Why, "N")]++
		}
		if receipt == nil {
			outcomes["nothing to do"]++
			if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
				t.Fatalf("an empty plan changed something: %s", diff)
			}
			return
		}
		outcomes["repaired"]++
		var kept strings.Builder
		for _, b := range receipt.Batches {
			for _, k := range b.Kept {
				kept.WriteString(number.ReplaceAllString(k.Text, ""))
			}
		}
		has := said(t, home)
		for line, many := range had {
			if has[line] < many && !strings.Contains(kept.String(), line) && !keepsPayload(kept.String(), line) {
				t.Fatalf("gone: %s\nkept: %s%s", line, kept.String(), repairtest.Told(plan))
			}
		}
		for line, many := range has {
			if many > had[line] && !strings.Contains(line, `"output":"[sessctl] `) && !strings.Contains(line, `"type":"turn_aborted"`) {
				t.Fatalf("new: %s%s", line, repairtest.Told(plan))
			}
		}
		repairtest.Idle(t, home, repairtest.Told(plan))
		if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
			t.Fatalf("undo gives something else: %s", diff)
		}
	})
	t.Log(outcomes)
}

// keepsPayload reports whether the receipt has what a line says, which it keeps of an item.
func keepsPayload(kept, line string) bool {
	_, payload, is := strings.Cut(line, `"payload":`)
	return is && strings.Contains(kept, strings.TrimSuffix(payload, "}"))
}

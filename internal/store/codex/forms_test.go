package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const thread = "01a20000-0000-7000-8000-000000000001"

// rollout writes a folder with one rollout: its first line, and others, whose numbers are their places.
func rollout(t *testing.T, lines ...string) (home, file string) {
	t.Helper()
	home = filepath.Join(t.TempDir(), "home")
	text := fmt.Sprintf(`{"timestamp":"2026-11-22T09:00:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":%q,"cli_version":"0.169.0"}}`, thread) + "\n"
	for n, line := range lines {
		text += fmt.Sprintf(`{"timestamp":"2026-11-22T09:00:%02d.000Z","ordinal":%d,%s}`, n+1, n+1, line) + "\n"
	}
	file = filepath.Join(home, "sessions", "2026", "11", "22", "rollout-2026-11-22T09-00-00-"+thread+".jsonl")
	write(t, file, text)
	return home, file
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// of is the rest of a line.
func of(kind string, payload object) string {
	return fmt.Sprintf(`"type":%q,"payload":%s`, kind, builder.Style{}.Text(payload))
}

func itemOf(payload object) string { return of("response_item", payload) }

func says(role, text string) string { return itemOf(message(role, "input_text", text)) }

func callOf(id string) string {
	return itemOf(object{{"type", "function_call"}, {"name", "bash"}, {"arguments", "{}"}, {"call_id", id}})
}

func outputOf(id, text string) string {
	return itemOf(object{{"type", "function_call_output"}, {"call_id", id}, {"output", text}})
}

// TestForms: what lines of each form are, and what is sent of them.
func TestForms(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  []string // the items of the next request
		found []string
	}{
		"a rewind": {
			lines: []string{says("user", "one"), says("assistant", "a"), says("user", "two"), says("assistant", "b"), of("event_msg", object{{"type", "thread_rolled_back"}, {"num_turns", 1}}), says("user", "three")},
			want:  []string{`user "one"`, `assistant "a"`, `user "three"`},
		},
		"a compaction": {
			lines: []string{says("user", "one"), callOf("c"), of("compacted", object{{"message", "s"}, {"replacement_history", builder.List{message("user", "input_text", "one"), message("user", "input_text", "sum")}}}), says("user", "two")},
			want:  []string{`user "one"`, `user "sum"`, `user "two"`},
		},
		"an old compaction": {
			lines: []string{says("user", "one"), of("compacted", object{{"message", "sum"}}), says("user", "two")},
			want:  []string{`user "two"`}, // behind the summary
		},
		"a tool of the provider": {
			lines: []string{says("user", "one"), itemOf(object{{"type", "web_search_call"}, {"id", "ws_1"}, {"action", object{{"query", "x"}}}}), says("assistant", "a")},
			want:  []string{`user "one"`, `call ws_1 web_search {"query":"x"}`, `assistant "a"`},
		},
		"a custom tool and a shell": {
			lines: []string{says("user", "one"), itemOf(object{{"type", "custom_tool_call"}, {"name", "apply_patch"}, {"input", "*** Begin"}, {"call_id", "p"}}), itemOf(object{{"type", "local_shell_call"}, {"call_id", "s"}, {"action", object{{"command", "ls"}}}}),
				itemOf(object{{"type", "custom_tool_call_output"}, {"call_id", "p"}, {"output", "ok"}}), outputOf("s", "x"), itemOf(object{{"type", "ghost_snapshot"}})},
			want: []string{`user "one"`, "call p apply_patch *** Begin", `call s local_shell {"command":"ls"}`, `result p "ok"`, `result s "x"`},
		},
		"an image in an output": {
			lines: []string{says("user", "one"), callOf("c"), itemOf(object{{"type", "function_call_output"}, {"call_id", "c"}, {"output", builder.List{object{{"type", "input_text"}, {"text", "see"}}, object{{"type", "input_image"}, {"image_url", "https://example.com/a.png"}}}}})},
			want:  []string{`user "one"`, "call c bash {}", `result c "see"`},
		},
		"an unknown item": {
			lines: []string{says("user", "one"), itemOf(object{{"type", "dream"}})},
			want:  []string{`user "one"`},
			found: []string{"warning SC009 "},
		},
		"arguments that are no text": {
			lines: []string{says("user", "one"), itemOf(object{{"type", "function_call"}, {"name", "bash"}, {"arguments", 7}, {"call_id", "c"}}), outputOf("c", "x")},
			want:  []string{`user "one"`},
			found: []string{"error SC010 ", "warning SC103 c"},
		},
		"a call in the middle without an output": {
			lines: []string{says("user", "one"), callOf("c"), says("user", "two")},
			want:  []string{`user "one"`, "call c bash {}", `result c "aborted"`, `user "two"`},
			found: []string{"warning SC101 c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, _ := rollout(t, tt.lines...)
			if diff := cmp.Diff(tt.found, storetest.Findings(t, home)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.want, storetest.Foretold(t, home, foretold)[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestResultInTheMiddle: a result is put before what follows, and the lines from there on get other
// numbers; no other byte changes.
func TestResultInTheMiddle(t *testing.T) {
	home, file := rollout(t, says("user", "one"), callOf("c"), of("event_msg", object{{"type", "token_count"}}), says("user", "two"))
	before := strings.SplitAfter(read(t, file), "\n")
	if _, receipt, err := repairtest.Repair(home); err != nil || receipt == nil {
		t.Fatal(err)
	}
	after := strings.SplitAfter(read(t, file), "\n")
	want := append(append([]string{}, before[:4]...), after[4], strings.Replace(before[4], `"ordinal":4`, `"ordinal":5`, 1), "")
	if diff := cmp.Diff(want, after); diff != "" || !strings.HasPrefix(after[4], `{"timestamp":"2026-11-22T09:00:02Z","ordinal":4,"type":"response_item"`) {
		t.Errorf("%s\n%s", diff, after[4])
	}
}

// TestForksKeepTheirHistory: what would move a line that a fork reads is refused, with the reason,
// and a result at the end of the same rollout is not.
func TestForksKeepTheirHistory(t *testing.T) {
	for _, tt := range []struct {
		read     int // lines
		repaired bool
	}{{3, true}, {5, false}} {
		home, file := rollout(t, says("user", "one"), says("assistant", "a"), outputOf("gone", "x"), says("user", "two"))
		if _, err := forkOf(file, tt.read); err != nil {
			t.Fatal(err)
		}
		plan, receipt, err := repairtest.Repair(home)
		if err != nil || (receipt != nil) != tt.repaired {
			t.Fatalf("%d lines: %v%s", tt.read, err, repairtest.Told(plan))
		}
		if told := repairtest.Told(plan); !tt.repaired && !strings.Contains(told, "the fork would lose the end of its history") {
			t.Error(told)
		}
	}
	home, file := rollout(t, says("user", "one"), callOf("c"), says("user", "two"))
	if _, err := forkOf(file, 4); err != nil {
		t.Fatal(err)
	}
	text := read(t, file)
	write(t, file, text[:strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1]) // what is added would be read by the fork
	if plan, receipt, err := repairtest.Repair(home); err != nil || receipt != nil && strings.Contains(read(t, file), "[sessctl]") {
		t.Errorf("%v%s", err, repairtest.Told(plan))
	}
	home, file = rollout(t, says("user", "one"), callOf("c"))
	fork, err := forkOf(file, 3)
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, file)
	if diff := cmp.Diff([]string{"warning SC101 c", "warning SC101 c"}, storetest.Findings(t, home)); diff != "" {
		t.Error(diff) // the fork has the call, too
	}
	if _, receipt, err := repairtest.Repair(home); err != nil || receipt == nil || !strings.HasPrefix(read(t, file), before) {
		t.Fatal(err)
	}
	if text := read(t, fork); !strings.Contains(text, `"ordinal":4,"type":"event_msg"`) || strings.Index(text, "[sessctl]") > strings.Index(text, "fork here") {
		t.Error(text)
	}
	repairtest.Idle(t, home, "")
}

// TestMovedBase: the offset up to which a fork reads is held against the number that it names.
func TestMovedBase(t *testing.T) {
	home, file := rollout(t, says("user", "one"), says("assistant", "a"))
	if _, err := forkOf(file, 3); err != nil {
		t.Fatal(err)
	}
	write(t, file, strings.Replace(read(t, file), "\n", "\n"+`{"timestamp":"","type":"event_msg","payload":{}}`+"\n", 1))
	if found := storetest.Findings(t, home); !cmp.Equal(found, []string{"warning SC021 "}) {
		t.Error(found)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if found := storetest.Findings(t, home); !cmp.Equal(found, []string{"error SC010 "}) {
		t.Error(found)
	}
}

// TestFirstLine: without its session_meta, Codex cannot resume a thread; sessctl still reads it.
func TestFirstLine(t *testing.T) {
	home, file := rollout(t, says("user", "one"))
	_, rest, _ := strings.Cut(read(t, file), "\n")
	meta := strings.TrimSuffix(read(t, file), rest)
	for _, first := range []string{"", "{\n", strings.Repeat("\x00", 40) + "\n", "\ufeff" + meta} {
		write(t, file, first+rest)
		if found := storetest.Findings(t, home); !cmp.Equal(found, []string{"error SC010 "}) {
			t.Errorf("%q: %q", first, found)
		}
		if _, sessions := storetest.Opened(t, home); sessions[thread] == nil || len(sessions[thread].Items) != 1 {
			t.Errorf("%q: %v", first, sessions)
		}
	}
}

// TestOneFile: a rollout in the folder of Codex is read with what it continues, and another one alone.
func TestOneFile(t *testing.T) {
	_, file := rollout(t, says("user", "one"), says("assistant", "a"))
	fork, err := forkOf(file, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, sessions := storetest.Opened(t, fork); len(sessions) != 1 || len(sessions["f0"+thread[2:]].Items) != 4 {
		t.Errorf("%v", sessions)
	}
	if _, sessions := storetest.Opened(t, filepath.Dir(fork)); len(sessions) != 2 || len(sessions["f0"+thread[2:]].Items) != 4 {
		t.Errorf("%v", sessions)
	}
	alone := filepath.Join(t.TempDir(), "other.jsonl")
	write(t, alone, read(t, file)+"{\"timestamp\":")
	write(t, file, read(t, file)+"{\"timestamp\":")
	if _, receipt, err := repairtest.Repair(file); err != nil || receipt == nil {
		t.Fatal(err)
	}
	home := filepath.Join(filepath.Dir(file), "..", "..", "..", "..") // in which the backup is now
	if facts, sessions := storetest.Opened(t, home); len(sessions) != 2 || facts.Incomplete != "" {
		t.Errorf("%v %s", sessions, facts.Incomplete)
	}
	plan, receipt, err := repairtest.Repair(alone)
	if err != nil || receipt == nil || read(t, alone) != read(t, file) {
		t.Errorf("%v%s", err, repairtest.Told(plan))
	}
	write(t, alone, read(t, fork))
	if found := storetest.Findings(t, alone); !cmp.Equal(found, []string{"error SC010 "}) {
		t.Error(found)
	}
}

// TestSameThread: two rollouts with one id are two sessions (openai/codex#43689), of which Codex finds the
// one that its index names. One can continue the other (openai/codex#31433).
func TestSameThread(t *testing.T) {
	home, file := rollout(t, says("user", "one"))
	other := filepath.Join(home, "archived_sessions", filepath.Base(file))
	write(t, other, read(t, file))
	if _, sessions := storetest.Opened(t, home); len(sessions) != 2 || sessions[thread+"@2"] == nil {
		t.Errorf("%v", sessions)
	}
	if found := storetest.Findings(t, home); !cmp.Equal(found, []string{"info SC023 "}) {
		t.Error(found)
	}
	err := builder.Create(filepath.Join(home, "state_5.sqlite"), []string{"create table threads (id text, rollout_path text, title text, name text)"}, func(db *builder.DB) {
		db.Exec("insert into threads values (?, ?, '', '')", thread, other)
	})
	if err != nil {
		t.Fatal(err)
	}
	if found := storetest.Findings(t, home); !cmp.Equal(found, []string{"warning SC023 "}) {
		t.Error(found)
	}
	fork, err := forkOf(file, 2)
	if err != nil {
		t.Fatal(err)
	}
	write(t, other, strings.ReplaceAll(read(t, fork), "f0"+thread[2:], thread))
	if err := os.Remove(fork); err != nil {
		t.Fatal(err)
	}
	if found := storetest.Findings(t, home); len(found) > 0 {
		t.Error(found)
	}
}

// TestLinked: what a repair would have to follow a link for, the plan refuses.
func TestLinked(t *testing.T) {
	home, file := rollout(t, says("user", "one"), callOf("c"))
	real := filepath.Join(home, "real.jsonl")
	if err := os.Rename(file, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../../real.jsonl", file); err != nil {
		t.Skip(err)
	}
	plan, receipt, err := repairtest.Repair(home)
	if told := repairtest.Told(plan); err != nil || receipt != nil || !strings.Contains(told, file+" is a symbolic link, which a repair does not follow") {
		t.Errorf("%v%s", err, told)
	}
	if _, receipt, err = repairtest.Repair(real); err != nil || receipt == nil {
		t.Error(err)
	}
}

// compress puts a compressed file in the place of a rollout.
func compress(t *testing.T, file string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file+".zst", string(w.EncodeAll([]byte(read(t, file)), nil)))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	return file + ".zst"
}

// TestCompressed: Codex reads compressed rollouts as others, and so does sessctl, which changes none.
func TestCompressed(t *testing.T) {
	home, file := rollout(t, says("user", "one"), callOf("c"), says("user", "two"))
	fork, err := forkOf(file, 3)
	if err != nil {
		t.Fatal(err)
	}
	_, want := storetest.Opened(t, home)
	plain := read(t, file)
	file = compress(t, file)
	for _, named := range []string{home, filepath.Dir(file), file} {
		facts, got := storetest.Opened(t, named)
		if s := got[thread]; s == nil || facts.Incomplete != "" || len(s.Faults) > 0 || !cmp.Equal(s.Items, want[thread].Items) {
			t.Errorf("%s: %v %s", named, s, facts.Incomplete)
		}
	}
	if _, got := storetest.Opened(t, fork); !cmp.Equal(got["f0"+thread[2:]].Items, want["f0"+thread[2:]].Items) {
		t.Error("the fork of a compressed rollout has another history")
	}
	before := read(t, file)
	plan, _, err := repairtest.Repair(home)
	if told := repairtest.Told(plan); err != nil || read(t, file) != before || !strings.Contains(told, "zstd -d --rm "+file) {
		t.Errorf("%v %s", err, told)
	}
	write(t, strings.TrimSuffix(file, ".zst"), plain) // which Codex prefers
	if _, sessions := storetest.Opened(t, home); len(sessions) != 2 {
		t.Errorf("%v", sessions)
	}
}

// TestCompressedInPart: what cannot be decompressed to its end is told of, wherever it ends.
func TestCompressedInPart(t *testing.T) {
	const other = "01a20000-0000-7000-8000-000000000002"
	home, file := rollout(t, says("user", "one"), says("assistant", "a"))
	write(t, filepath.Join(home, "sessions", "rollout-2026-11-23T09-00-00-"+other+".jsonl"), strings.ReplaceAll(read(t, file), thread, other))
	file = compress(t, file)
	all := read(t, file)
	for n := range len(all) {
		if write(t, file, all[:n]); len(storetest.Findings(t, home)) == 0 {
			t.Errorf("nothing is wrong with the first %d of %d bytes", n, len(all))
		}
	}
}

// TestLive: a rollout that a process has open is not written to.
func TestLive(t *testing.T) {
	home, file := rollout(t, says("user", "one"), callOf("c"))
	open := holds(t, file)
	facts, sessions := storetest.Opened(t, home)
	if facts.WriterOf(sessions[thread]) != session.WriterLive {
		t.Errorf("writer %s", facts.WriterOf(sessions[thread]))
	}
	before := read(t, file)
	if plan, receipt, err := repairtest.Repair(home); receipt != nil || read(t, file) != before {
		t.Errorf("%v%s", err, repairtest.Told(plan))
	}
	open()
	if _, receipt, err := repairtest.Repair(home); err != nil || receipt == nil {
		t.Error(err)
	}
}

// TestOrdinals: a number below zero is one like any other, and none comes after the greatest.
func TestOrdinals(t *testing.T) {
	lines := []string{says("user", "one"), says("assistant", "a"), says("user", "two"), says("assistant", "b")}
	home, file := rollout(t, lines...)
	healthy := read(t, file)
	write(t, file, strings.Replace(healthy, `"ordinal":3`, `"ordinal":-3`, 1))
	if plan, receipt, err := repairtest.Repair(home); err != nil || receipt == nil || read(t, file) != healthy {
		t.Errorf("%v%s", err, repairtest.Told(plan))
	}
	home, file = rollout(t, lines...)
	write(t, file, strings.Replace(healthy, `"ordinal":3`, `"ordinal":9223372036854775807`, 1))
	if plan, receipt, err := repairtest.Repair(home); err != nil || receipt != nil || !strings.Contains(repairtest.Told(plan), "no number comes after that of line 4") {
		t.Errorf("%v%s", err, repairtest.Told(plan))
	}
}

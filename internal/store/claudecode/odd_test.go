package claudecode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/lines"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestWriters looks for a real process, before and after it is killed.
func TestWriters(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	home, path := built(t, t.TempDir(), 1, 1)
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if got := writer(t, home, id); got != session.WriterUnknown {
		t.Errorf("without a note: %s", got)
	}
	process := exec.Command("sleep", "60")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = process.Wait() }()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	started := strings.Fields(rest)[19]
	note := func(started any, domain string) {
		text, _ := json.Marshal(map[string]any{"pid": process.Process.Pid, "sessionId": id, "procStart": started, "pidDomain": domain})
		if err := os.MkdirAll(filepath.Join(home, "sessions"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "sessions", fmt.Sprint(process.Process.Pid)+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name    string
		started any
		domain  string
		want    session.Writer
	}{
		{"it runs", started, "", session.WriterLive},
		{"it runs, as a number", json.Number(started), "", session.WriterLive},
		{"the number is another process's", "1", "", session.WriterDead},
		{"of another host", started, "elsewhere:4026531836", session.WriterUnknown},
	} {
		note(tt.started, tt.domain)
		if got := writer(t, home, id); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if got := writer(t, path, id); got != tt.want { // the transcript by itself
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	note(started, "")
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	if got := writer(t, home, id); got != session.WriterDead {
		t.Errorf("killed: %s", got)
	}
}

// writer is what the store says of the writer of a session.
func writer(t *testing.T, path, id string) session.Writer {
	t.Helper()
	o, err := registry.Open(context.Background(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	for tree, err := range o.Trees(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if s := tree.Session(id); s != nil {
			return o.Facts().WriterOf(s)
		}
	}
	t.Fatalf("no session %s", id)
	return 0
}

// lines of a transcript, as they may be found.
const (
	asked    = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":"u1","sessionId":"s","timestamp":"2026-11-22T10:00:00.000Z","version":"2.1.330"}`
	answered = `{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-8","content":[{"type":"text","text":"hi"}]},"uuid":"u2","sessionId":"s","timestamp":"2026-11-22T10:00:01.000Z","version":"2.1.330"}`
)

// TestOddFiles: nothing that may be in a folder keeps the rest from being read.
func TestOddFiles(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		items  int // of the session
		faults string
	}{
		{name: "as it should be", text: asked + "\n" + answered + "\n", items: 2},
		{name: "without a line end", text: asked + "\n" + answered, items: 2},
		{name: "with line ends of Windows, and a mark", text: "\ufeff" + asked + "\r\n\r\n" + answered + "\r\n", items: 2},
		{name: "cut off", text: asked + "\n" + answered[:80], items: 2, faults: "line 2, the last one, was cut off while it was written; Claude Code passes over it"},
		{name: "broken in the middle", text: asked + "\n{\"type\":\"assis\n" + answered + "\n", items: 3, faults: "it is not valid JSON from byte 14 on"},
		{name: "NUL bytes", text: asked + "\n\x00\x00\x00\n" + answered + "\n", items: 3, faults: "it holds nothing but NUL bytes"},
		{name: "another form", text: asked + "\n" + strings.Replace(answered, `"uuid":"u2"`, `"uuid":7`, 1) + "\n", items: 2, faults: `"/uuid" holds a value of another type than Claude Code stores there`},
		{name: "another form, deep down", text: asked + "\n" + strings.Replace(answered, `"uuid":"u2"`, `"uuid":7,"x":`+strings.Repeat("[", 99)+strings.Repeat("]", 99), 1) + "\n", items: 2, faults: `"/uuid" holds a value of another type than Claude Code stores there`},
		{name: "no object", text: asked + "\n[1]\n" + answered + "\n", items: 3, faults: "it is JSON of another type than Claude Code stores"},
		{name: "content that is none", text: asked + "\n" + strings.Replace(answered, `[{"type":"text","text":"hi"}]`, `7`, 1) + "\n", items: 2, faults: "its content is neither a text nor a list of blocks"},
		{name: "half a character", text: asked + "\n" + strings.Replace(answered, `"hi"`, `"\ud83d"`, 1) + "\n", items: 2, faults: "it has half of a character, which Claude Code sends as U+FFFD"},
		{name: "a whole character", text: asked + "\n" + strings.Replace(answered, `"hi"`, `"\ud83d\ude00"`, 1) + "\n", items: 2},
		{name: "its own parent", text: asked + "\n" + strings.Replace(answered, `"parentUuid":"u1"`, `"parentUuid":"u2"`, 1) + "\n", items: 2, faults: "the parents of line u2 lead in a circle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			list := filled(t, openTranscripts(t, path))
			if len(list) != 1 {
				t.Fatalf("%d trees", len(list))
			}
			s := list[0].Root()
			var faults []string
			for _, f := range s.Faults {
				faults = append(faults, f.Detail)
			}
			if len(s.Items) != tt.items || strings.Join(faults, "; ") != tt.faults {
				t.Errorf("%d items, %q", len(s.Items), faults)
			}
		})
	}
}

// TestSparse: a hole in a file is one line that cannot be read, in the memory of a long line.
func TestSparse(t *testing.T) {
	hole := int64(campaign.Rounds(1, 5<<10)) << 20
	path := filepath.Join(t.TempDir(), "s.jsonl")
	f, err := os.Create(path)
	if err == nil {
		_, err = f.WriteString(asked + "\n")
	}
	if err == nil {
		_, err = f.WriteAt([]byte("\n"+answered+"\n"), int64(len(asked)+1)+hole)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // as the program does
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list := filled(t, openTranscripts(t, path))
	runtime.ReadMemStats(&after)
	if more, most := after.Sys-before.Sys, uint64(64<<20+2*min(hole, lines.MaxLength)); more > most {
		t.Errorf("%d MB of memory, more than %d", more>>20, most>>20)
	}
	s := list[0].Root()
	want := "it holds nothing but NUL bytes"
	if hole > lines.MaxLength {
		want = lines.ErrTooLong.Error()
	}
	if len(list) != 1 || len(s.Items) != 3 || len(s.Faults) != 1 || s.Faults[0].Detail != want || s.Faults[0].Field != "line 2" {
		t.Errorf("%d items, faults %+v", len(s.Items), s.Faults)
	}
}

// TestUnreadFiles: a file that cannot be read is a session that says so, and keeps no other
// one from being read and repaired.
func TestUnreadFiles(t *testing.T) {
	home := recorded(t, "damaged-dup-result", t.TempDir())
	project := filepath.Join(home, "projects", "-srv-demo-proj")
	outside := filepath.Join(t.TempDir(), "secret.jsonl")
	if err := os.WriteFile(outside, []byte(asked+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(project, "zz.jsonl")); err != nil {
		t.Skip("no links here")
	}
	if err := os.Symlink("nowhere", filepath.Join(project, "aa.jsonl")); err != nil {
		t.Fatal(err)
	}
	o := openTranscripts(t, home)
	said := map[string]string{}
	for _, tree := range filled(t, o) {
		for _, f := range check.RunTree(o.Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
			said[tree.Root().ID] += f.Rule.ID + " " + f.Message + "; "
		}
	}
	for id, want := range map[string]string{
		"aa":                                   "SC010 projects/-srv-demo-proj/aa.jsonl cannot be read: it is a link that leads out of the folder, or to nothing; ",
		"zz":                                   "SC010 projects/-srv-demo-proj/zz.jsonl cannot be read: it is a link that leads out of the folder, or to nothing; ",
		"00000012-0000-4000-8000-000000000012": "SC106",
	} {
		if !strings.HasPrefix(said[id], want) {
			t.Errorf("%s: %q", id, said[id])
		}
	}
	if o.Facts().Incomplete != "" {
		t.Errorf("%q", o.Facts().Incomplete)
	}
	if _, receipt, err := repairtest.Repair(home); err != nil || receipt == nil {
		t.Errorf("the other session was not repaired: %v", err)
	}
}

// TestForksOfOldSessions: the lines of sub-agents that a fork copies are those of another
// session, so that both can be repaired.
func TestForksOfOldSessions(t *testing.T) {
	home := recorded(t, "children-parallel-2.0.14", t.TempDir())
	edited(t, home, func(lines []string) []string {
		return slices.DeleteFunc(lines, func(l string) bool {
			return strings.Contains(l, `"isSidechain":false`) && strings.Contains(l, `"type":"tool_result"`)
		})
	})
	files, _ := filepath.Glob(filepath.Join(home, "projects", "*", "*.jsonl"))
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(files[0]), "ffffffff-0000-4000-8000-000000000001.jsonl"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, home)
	_, receipt, err := repairtest.Repair(home)
	if err != nil || receipt == nil || len(receipt.LeftOut) > 0 {
		t.Fatalf("%v, %+v", err, receipt)
	}
	if _, again, err := repairtest.Repair(home); err != nil || again != nil {
		t.Errorf("a second repair: %v, %v", err, again)
	}
	for _, name := range transcripts(before) {
		if snapshot(t, home)[name] == before[name] {
			t.Errorf("%s was not repaired", name)
		}
	}
	if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
		t.Error(diff)
	}
}

// TestStandardInput reads a transcript without knowing where it lies.
func TestStandardInput(t *testing.T) {
	o, err := registry.Open(context.Background(), "-", "", strings.NewReader(asked+"\n"+answered+"\n"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	if list := filled(t, o); len(list) != 1 || len(list[0].Root().Items) != 2 || list[0].Root().Items[1].Body.Text != "hi" {
		t.Errorf("%d trees", len(list))
	}
}

// TestGrowth: what is appended between the two readings of a file is left out.
func TestGrowth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(asked+"\n"+answered+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := openTranscripts(t, path)
	for tree, err := range o.Trees(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		more := strings.NewReplacer(`"u2"`, `"u3"`, `"u1"`, `"u2"`, `"m1"`, `"m2"`).Replace(answered)
		if err := os.WriteFile(path, []byte(asked+"\n"+answered+"\n"+more+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := o.Fill(context.Background(), tree); err != nil || tree.Root().Items[1].Body == nil || len(tree.Root().Items) != 2 {
			t.Errorf("%v, %d items", err, len(tree.Root().Items))
		}
		if err := os.WriteFile(path, []byte(asked+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := o.Fill(context.Background(), tree); err == nil || !strings.Contains(err.Error(), "was changed while sessctl read it") {
			t.Errorf("%v", err)
		}
	}
}

// TestABrokenLineIsPassedOver: a session with a line that is no JSON resumes without it
// (section 6 of the dossier), and no finding says otherwise.
func TestABrokenLineIsPassedOver(t *testing.T) {
	home, path := built(t, t.TempDir(), 1, 1)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := strings.SplitAfter(string(text), "\n")
	list = slices.Insert(list, len(list)/2, "{\"type\":\"user\", garbage\n")
	if err := os.WriteFile(path, []byte(strings.Join(list, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	o, broken := openTranscripts(t, home), 0
	for _, tree := range filled(t, o) {
		for _, f := range check.RunTree(o.Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
			if f.Rule.ID != "SC010" {
				continue
			}
			broken++
			if f.Unloads || f.Root.Outlook == check.Unloaded || !strings.Contains(f.Message, "passes over it") {
				t.Errorf("%s: %s, unloads: %v", f.Message, f.Root.Outlook, f.Unloads)
			}
		}
	}
	if broken != 1 {
		t.Errorf("%d findings", broken)
	}
}

// TestAMessageInNoKnownForm: a message without a role and without content says nothing to Claude
// Code, which leaves it out (anthropics/claude-code#24663 stored one with a key for each character).
func TestAMessageInNoKnownForm(t *testing.T) {
	for message, want := range map[string]string{
		`{"0":"{","1":"}","content":[]}`:                                "resumes SC308",
		`{"0":"{","1":"}"}`:                                             "resumes SC308",
		`{"role":"assistant","content":[]}`:                             "refused SC401",
		`{"role":"assistant","content":[{"type":"text","text":"yes"}]}`: "resumes",
	} {
		home := homeOf(t, line("2.1.330", "a", "null", "user", 0, `{"role":"user","content":"go"}`),
			line("2.1.330", "b", `"a"`, "assistant", 1, message), line("2.1.330", "c", `"b"`, "user", 2, `{"role":"user","content":"on"}`))
		got := storetest.Outlooks(t, home)[0]
		for _, found := range storetest.Findings(t, home) {
			got += " " + strings.Fields(found)[1]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

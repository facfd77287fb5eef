package cmd_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/schematest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// TestFindAgainstTheExport: what find finds is what is in an export of the store, message by
// message, and nothing else.
func TestFindAgainstTheExport(t *testing.T) {
	campaign.Checks(t, 40, 600)
	folder, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		store := filepath.Join(folder, fmt.Sprint(n))
		n++
		kind := rapid.SampledFrom(findables).Draw(rt, "kind")
		if err := kind.build(store, seed); err != nil {
			rt.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 9))
		if err := kind.rewrite(store, rng); err != nil {
			rt.Fatal(err)
		}
		compareFound(rt, store, rng)
	})
}

// TestFindInAllStores: the same of every store that is built or was recorded, whatever is wrong with it.
func TestFindInAllStores(t *testing.T) {
	folder := t.TempDir()
	for i, s := range netStores(t) {
		if testing.Short() && i%10 > 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			path := filepath.Join(folder, fmt.Sprint(i), s.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := s.copy(path); err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(uint64(i), 9))
			for range 2 {
				compareFound(t, path, rng)
			}
		})
	}
}

// TestFindInDamagedDatabases: what can still be read is searched.
func TestFindInDamagedDatabases(t *testing.T) {
	folder := t.TempDir()
	for n := range uint64(campaign.Rounds(30, 200)) {
		path := filepath.Join(folder, fmt.Sprint(n, ".db"))
		kind := findables[[]int{0, 1, 2, 5, 6}[n%5]]
		rng := rand.New(rand.NewPCG(n, 7))
		if err := errors.Join(kind.build(path, n), kind.rewrite(path, rng)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		const page = 512
		at := page * (1 + rng.IntN(len(data)/page-1))
		clear(data[at : at+page])
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, code := exportedTexts(t, path); code == 0 || code == 3 {
			for range 3 {
				compareFound(t, path, rng)
			}
		}
	}
}

// TestFindWordsInPieces: a text that a store keeps in several pieces is searched as it reads.
func TestFindWordsInPieces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adk.db")
	said := adktest.Event{Author: "root", Invocation: "e-1", Parts: []adktest.Part{adktest.Text("quok"), adktest.Text("kamarker")}}
	if err := adktest.Create(path, adktest.P1, adktest.Session{ID: "S", Events: []adktest.Event{said}}); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := cmd.Main([]string{"find", "quokkamarker", path}, strings.NewReader(""), &out, &errs, func(string) string { return "" }); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
}

// TestFindNewestFirst: the sessions that were written to last come first, whatever their names, and
// --limit leaves out the others.
func TestFindNewestFirst(t *testing.T) {
	folder := t.TempDir()
	database, home := filepath.Join(folder, "session.db"), filepath.Join(folder, "claude")
	db, err := agenttest.Create(database, 28)
	if err != nil {
		t.Fatal(err)
	}
	first, second := db.Root(agenttest.SessionRow{}), db.Root(agenttest.SessionRow{})
	first.User("find me")
	second.User("find me")
	first.User("find me again") // now it is the newest
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var newest []string
	for n := range uint64(3) {
		writes := player.Play(player.Program{{Prompt: "find me", Steps: []player.Step{{Text: "Well."}}}}, n)
		paths, err := claudetest.Build(home, claudetest.Versions[2], n, writes)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 11, 3-int((n+1)%3), 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(paths[0], at, at); err != nil {
			t.Fatal(err)
		}
		newest = append(newest, strings.TrimSuffix(filepath.Base(paths[0]), ".jsonl"))
	}
	for path, want := range map[string][]string{
		database: {first.ID, first.ID, second.ID},
		home:     {newest[2], newest[0], newest[1]},
	} {
		for _, limit := range []int{0, 1} {
			var out, errs bytes.Buffer
			cmd.Main([]string{"find", "find me", "--format", "ndjson", "--limit", fmt.Sprint(limit), path}, strings.NewReader(""), &out, &errs, func(string) string { return "" })
			var got []string
			for _, m := range regexp.MustCompile(`"root":"([^"]+)"`).FindAllStringSubmatch(out.String(), -1) {
				got = append(got, m[1])
			}
			if limit > 0 {
				want = want[:limit]
			}
			if !slices.Equal(got, want) || !strings.Contains(out.String(), `"messages":3`) {
				t.Errorf("%s, --limit %d: %v, want %v\n%s%s", path, limit, got, want, out.String(), errs.String())
			}
		}
	}
}

// compareFound looks for words of a random message, in whatever case.
func compareFound(t failing, store string, rng *rand.Rand) {
	messages, _ := exportedTexts(t, store)
	messages = slices.DeleteFunc(messages, func(m exportedMessage) bool { return len(m.texts) == 0 })
	if len(messages) == 0 {
		return
	}
	from := messages[rng.IntN(len(messages))]
	var wanted []string
	for range 1 + rng.IntN(2) {
		text := []rune(from.texts[rng.IntN(len(from.texts))])
		at := rng.IntN(len(text))
		for _, word := range strings.Split(string(text[at:min(len(text), at+1+rng.IntN(30))]), `"`) {
			if strings.TrimSpace(word) != "" && utf8.ValidString(word) {
				wanted = append(wanted, strings.ToUpper(word))
				break
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	var want, got []string
	for _, m := range messages {
		if !slices.ContainsFunc(wanted, func(w string) bool {
			return !slices.ContainsFunc(m.texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(w)) })
		}) {
			want = append(want, m.place)
		}
	}
	var out, errs bytes.Buffer
	code := cmd.Main([]string{"find", "--format", "ndjson", "--limit", "0", "--", `"` + strings.Join(wanted, `" "`) + `"`, store}, strings.NewReader(""), &out, &errs, func(string) string { return "" })
	schematest.RequireValid(t, out.Bytes())
	for line := range bytes.Lines(out.Bytes()) {
		var hit struct {
			Type, Session string
			Item          int
		}
		if err := json.Unmarshal(line, &hit); err != nil {
			t.Fatalf("%v", err)
		}
		if hit.Type == "hit" {
			got = append(got, fmt.Sprint(hit.Session, ":", hit.Item))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" || code != 3 && (code == 0) != (len(want) > 0) {
		t.Fatalf("%q: exit code %d\n%s%s", wanted, code, diff, errs.String())
	}
}

// failing is a test, or a case of a property.
type failing interface {
	Helper()
	Fatalf(string, ...any)
}

// TestFindInACompressedRollout: it is looked into as it was before it was compressed.
func TestFindInACompressedRollout(t *testing.T) {
	const id = "019a8dc9-0000-7000-8000-000000000001"
	var text strings.Builder
	fmt.Fprintf(&text, `{"timestamp":"2026-11-01T10:00:00Z","type":"session_meta","payload":{"id":"%s","timestamp":"2026-11-01T10:00:00Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.60.0","source":"cli"}}`+"\n", id)
	for i := range 600 { // longer than the pieces that are looked into at a time
		fmt.Fprintf(&text, `{"timestamp":"2026-11-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"number%d %s"}]}}`+"\n", i, strings.Repeat("filler ", 120))
	}
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "sessions")
	file := filepath.Join(folder, "2026", "11", "01", "rollout-2026-11-01T10-00-00-"+id+".jsonl.zst")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, packer.EncodeAll([]byte(text.String()), nil), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"number1", "number311", "number599"} {
		out, errs, code := runFinding(word, folder)
		if code != 0 || !strings.Contains(out, word) {
			t.Errorf("%s: exit code %d\n%s%s", word, code, out, errs)
		}
	}
	if out, _, code := runFinding("number600", folder); code != 1 {
		t.Errorf("number600: exit code %d\n%s", code, out)
	}
}

func runFinding(word, store string) (out, errs string, code int) {
	var stdout, stderr bytes.Buffer
	code = cmd.Main([]string{"find", word, store}, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
	return stdout.String(), stderr.String(), code
}

// findable is a kind of store; column is where a database keeps what events say.
type findable struct {
	name   string
	build  func(path string, seed uint64) error
	column string
}

func played(seed uint64) []player.Write {
	return player.Play(player.RandomProgram(seed, 1+int(seed%4)), seed)
}

var findables = []findable{
	{"docker agent", func(path string, seed uint64) error {
		db, err := agenttest.Create(path, []int{9, 18, 28}[seed%3])
		if err != nil {
			return err
		}
		for i := range uint64(3) { // before generation 14, messages are in a column of the session
			if err == nil && seed%3 == 0 {
				_, err = agenttest.WriteFixed(db, agenttest.Random(seed+i, 6))
			} else if err == nil {
				_, err = agenttest.WriteLeaky(db, agenttest.Random(seed+i, 6))
			}
		}
		db.Sync()
		return errors.Join(err, db.Close())
	}, "session_items.message_json"},
	{"adk", func(path string, seed uint64) error {
		g := []adktest.Generation{adktest.P0, adktest.P1, adktest.G2}[seed%3]
		return adktest.Create(path, g, g.Random(seed, 6), g.Random(seed+1, 6))
	}, ""},
	{"goose", func(path string, seed uint64) error {
		return goosetest.Build(path, goosetest.Newest, played(seed), played(seed+1))
	}, "messages.content_json"},
	{"crush", func(path string, seed uint64) error {
		return crushtest.Build(path, crushtest.Newest, played(seed), played(seed+1))
	}, "messages.parts"},
	{"opencode", func(path string, seed uint64) error { return opencodetest.Build(path, played(seed), played(seed+1)) }, "part.data"},
	{"kagent", func(path string, seed uint64) error {
		_, err := kagenttest.Random(seed).Build(path, kagenttest.Forms[[]string{"python", "go 2"}[seed%2]])
		return err
	}, "event.data"},
	{"spring", func(path string, seed uint64) error {
		db, err := springtest.Create(path, springtest.Form{})
		if err != nil {
			return err
		}
		for i := range uint64(3) {
			springtest.Random(db, fmt.Sprint("s", i), seed+i, 4)
		}
		return db.Close()
	}, ""},
	{"claude code", func(path string, seed uint64) error {
		_, err := claudetest.Build(path, claudetest.Versions[seed%3], seed, played(seed), played(seed+1))
		return err
	}, ""},
}

// rewrite has some words escaped, and puts the rows of a database on many pages.
func (f *findable) rewrite(path string, rng *rand.Rand) error {
	words := [...][2]string{{"the", `t\u0068e`}, {"file", `fil\u0065`}, {"is", "Ñandú ÄÖ"}, {"a", "é É"}}
	pair := words[rng.IntN(len(words))]
	info, err := os.Stat(path)
	switch {
	case err != nil || rng.IntN(2) == 0:
		return err
	case info.IsDir():
		return filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".jsonl") {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return os.WriteFile(name, bytes.ReplaceAll(text, []byte(" "+pair[0]+" "), []byte(" "+pair[1]+" ")), 0o600)
		})
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	statements := []string{"pragma journal_mode = delete", "pragma page_size = 512", "vacuum"}
	if table, column, ok := strings.Cut(f.column, "."); ok {
		statements = append(statements, fmt.Sprintf("update %[1]s set %[2]s = replace(%[2]s, ' %[3]s ', ' %[4]s ')", table, column, pair[0], pair[1]))
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil && !strings.Contains(err.Error(), "no such table") {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// exportedMessage is a message of an export, with all of its texts.
type exportedMessage struct {
	place string
	texts []string
}

func exportedTexts(t failing, store string) (list []exportedMessage, code int) {
	var out, errs bytes.Buffer
	if code = cmd.Main([]string{"export", store}, strings.NewReader(""), &out, &errs, func(string) string { return "" }); code != 0 && code != 3 {
		return nil, code
	}
	count := map[string]int{}
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var item struct {
			Type, Session, Text, Reasoning string
			Calls                          []struct{ Args string }
			Results                        []struct{ Text string }
		}
		if err := json.Unmarshal(lines.Bytes(), &item); err != nil {
			t.Fatalf("%v", err)
		}
		if item.Type != "item" {
			continue
		}
		texts := []string{item.Text, item.Reasoning}
		for _, c := range item.Calls {
			texts = append(texts, unescaped(c.Args))
		}
		for _, r := range item.Results {
			texts = append(texts, unescaped(r.Text))
		}
		texts = slices.DeleteFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" })
		list = append(list, exportedMessage{fmt.Sprint(item.Session, ":", count[item.Session]), texts})
		count[item.Session]++
	}
	return list, code
}

// unescaped is the text of a JSON value with its strings as they read, and any other text as it is.
func unescaped(text string) string {
	if !strings.Contains(text, `\`) || !strings.ContainsAny(text[:1], `{["`) {
		return text
	}
	return jsonString.ReplaceAllStringFunc(text, func(literal string) string {
		var said string
		if json.Unmarshal([]byte(literal), &said) != nil {
			return literal
		}
		return `"` + said + `"`
	})
}

var jsonString = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`)

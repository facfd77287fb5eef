package cmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/schematest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/player"
)

// TestFindAgainstTheExport: what find finds is what is in an export of the store, message by
// message, and nothing else.
func TestFindAgainstTheExport(t *testing.T) {
	campaign.Checks(t, 20, 300)
	folder, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		store := filepath.Join(folder, fmt.Sprint(n))
		n++
		if err := buildFindable(rapid.IntRange(0, 3).Draw(rt, "kind"), store, seed); err != nil {
			rt.Fatal(err)
		}
		messages := exported(rt, store)
		if len(messages) == 0 {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 9))
		from := messages[rng.IntN(len(messages))]
		words := strings.FieldsFunc(from.text, func(r rune) bool { return r == '"' || r == '\\' || r <= ' ' })
		if len(words) == 0 {
			return
		}
		var wanted []string
		for range 1 + rng.IntN(2) {
			wanted = append(wanted, strings.ToUpper(words[rng.IntN(len(words))]))
		}
		var want, got []string
		for _, m := range messages {
			if !slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(strings.ToLower(m.text), strings.ToLower(w)) }) {
				want = append(want, m.place)
			}
		}
		var out, errs bytes.Buffer
		code := Main([]string{"find", "--format", "ndjson", "--limit", "0", `"` + strings.Join(wanted, `" "`) + `"`, store}, strings.NewReader(""), &out, &errs, func(string) string { return "" })
		schematest.RequireValid(t, out.Bytes())
		for line := range bytes.Lines(out.Bytes()) {
			var hit struct {
				Type, Session string
				Item          int
			}
			if err := json.Unmarshal(line, &hit); err != nil {
				rt.Fatal(err)
			}
			if hit.Type == "hit" {
				got = append(got, fmt.Sprint(hit.Session, ":", hit.Item))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" || (code == 0) != (len(want) > 0) {
			rt.Fatalf("%q: exit code %d\n%s%s", wanted, code, diff, errs.String())
		}
	})
}

// buildFindable builds a random store.
func buildFindable(kind int, path string, seed uint64) error {
	writes := player.Play(player.RandomProgram(seed, 1+int(seed%4)), seed)
	switch kind {
	case 0:
		db, err := agenttest.Create(path, 28)
		if err != nil {
			return err
		}
		if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 6)); err != nil {
			return err
		}
		return db.Close()
	case 1:
		return adktest.Create(path, adktest.G2, adktest.G2.Random(seed, 6))
	case 2:
		return goosetest.Build(path, goosetest.Newest, writes)
	}
	_, err := claudetest.Build(path, claudetest.Versions[seed%3], seed, writes)
	return err
}

// exportedMessage is a message of an export, with all of its texts.
type exportedMessage struct{ place, text string }

func exported(t *rapid.T, store string) (list []exportedMessage) {
	var out, errs bytes.Buffer
	if code := Main([]string{"export", store}, strings.NewReader(""), &out, &errs, func(string) string { return "" }); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs.String())
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
			t.Fatal(err)
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
		list = append(list, exportedMessage{fmt.Sprint(item.Session, ":", count[item.Session]), strings.Join(texts, "\n")})
		count[item.Session]++
	}
	return list
}

// unescaped is the text of a JSON value with its strings as they read, and any other text as it is.
func unescaped(text string) string {
	if !json.Valid([]byte(text)) {
		return text
	}
	said, dec := text, json.NewDecoder(strings.NewReader(text))
	for {
		token, err := dec.Token()
		if err != nil {
			return said
		}
		if s, is := token.(string); is {
			said += "\n" + s
		}
	}
}

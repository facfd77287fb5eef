package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/schematest"
	"github.com/sessctl/sessctl/internal/session"
)

// What other tools compute must not change.
func TestShardOfAnID(t *testing.T) {
	for id, want := range map[string]string{
		"":                                     "2/4", // 0x811c9dc5
		"a":                                    "1/4", // 0xe40c292c
		"foobar":                               "1/4", // 0xbf9cf968
		"1f0c2b3a-0000-4000-8000-000000000001": "1/4", // 0x8310df98
	} {
		if got := (shard{1, 4}).shardOf(id).String(); got != want {
			t.Errorf("%q: got %s, want %s", id, got, want)
		}
	}
}

func TestWrongShards(t *testing.T) {
	for _, text := range []string{"0/3", "4/3", "1", "a/b", "1/0", "", "/", "1/", "-1/3", "1/65536", "1/3/5", "+1/3"} {
		if got, err := parseShard(text); problem.ClassOf(err) != problem.Usage {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"1/1", "3/3", "65535/65535"} {
		if got, err := parseShard(text); err != nil || got.String() != text {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

func TestEveryTreeIsInOneShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := &session.Tree{Sessions: []*session.Session{{ID: rapid.String().Draw(t, "root")}, {ID: rapid.String().Draw(t, "child")}}}
		count := rapid.Uint32Range(1, 1000).Draw(t, "count")
		holders := 0
		for n := range count {
			if (shard{n + 1, count}).hasTree(tree) {
				holders++
			}
		}
		if holders != 1 {
			t.Errorf("%d of %d shards hold %q", holders, count, tree.Root().ID)
		}
	})
}

// randomStream is a store with sessions of any ids, some of them damaged, and with what
// is wrong with the store itself.
func randomStream(t *rapid.T) string {
	text := `{"type":"header","format":"sessctl.canonical/1","writer":"dead"}` + "\n"
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9é/: -]{1,12}`), 0, 12, rapid.ID).Draw(t, "ids")
	for i, id := range ids {
		parent := ""
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "is a child") == 0 {
			parent = rapid.SampledFrom(ids[:i]).Draw(t, "parent")
		}
		text += fmt.Sprintf(`{"type":"session","id":%q,"parent":%q}`+"\n", id, parent)
		if rapid.Bool().Draw(t, "is damaged") {
			text += fmt.Sprintf(`{"type":"item","session":%q,"kind":"message","role":"user","text":"x"}`+"\n", id)
			text += fmt.Sprintf(`{"type":"item","session":%q,"kind":"message","role":"assistant","agent":"root","calls":[{"id":"t%d","name":"shell","args":"{}"}]}`+"\n", id, i)
		}
	}
	if rapid.Bool().Draw(t, "is damaged itself") {
		text += `{"type":"item","session":"nobody's","kind":"message","role":"user","text":"x"}` + "\n"
	}
	return text
}

// findingsOf are the findings of a check, in an order of their own.
func findingsOf(t *rapid.T, args ...string) []string {
	var out, wrong bytes.Buffer
	code := Main(append([]string{"check", "--format", "ndjson", "--fail-on", "never"}, args...), strings.NewReader(""), &out, &wrong, func(string) string { return "" })
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, wrong.String())
	}
	schematest.RequireValid(t, out.Bytes())
	var list []string
	for line := range strings.Lines(out.String()) {
		var f struct {
			Type, Store, Rule, Session, Fingerprint, Message string
		}
		if err := json.Unmarshal([]byte(line), &f, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		if f.Type == "finding" {
			list = append(list, fmt.Sprint(f))
		}
	}
	slices.Sort(list)
	return list
}

func TestAllShardsTogetherFindWhatOneRunFinds(t *testing.T) {
	folder := t.TempDir()
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		var stores []string
		for n := range 2 {
			stores = append(stores, filepath.Join(folder, fmt.Sprintf("%d.ndjson", n)))
			if err := os.WriteFile(stores[n], []byte(randomStream(t)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		count := rapid.IntRange(1, 5).Draw(t, "count")
		var together []string
		for n := range count {
			together = append(together, findingsOf(t, append(stores, "--shard", fmt.Sprintf("%d/%d", n+1, count))...)...)
		}
		slices.Sort(together)
		whole := findingsOf(t, stores...)
		if diff := cmp.Diff(whole, together); diff != "" {
			t.Errorf("(-whole +shards) %s", diff)
		}
		found += len(whole)
	})
	if found == 0 {
		t.Error("no store had a finding")
	}
}

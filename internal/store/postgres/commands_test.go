//go:build unix

package postgres_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	difference "github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store/postgres"
)

// recording is what a run of another runtime emitted.
func recording(t *testing.T) string {
	t.Helper()
	path := filepath.Join(corpus, "..", "docker-agent", "leaky", "single.events.jsonl")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	return path
}

// everyCommand are those that read a store.
func everyCommand(t *testing.T) [][]string {
	t.Helper()
	return [][]string{
		{"check", "STORE"}, {"check", "STORE", "--format", "json"}, {"check", "STORE", "--deep"}, {"check", "STORE", "--jobs", "2"},
		{"check", "STORE", "--shard", "1/2"}, {"check", "STORE", "--app", "shop", "--since", "1000d"}, {"check", "STORE", "--session", "tool"},
		{"ls", "STORE"}, {"ls", "STORE", "--format", "json"}, {"why", "STORE", "stale"}, {"export", "STORE"}, {"export", "STORE", "--session", "tool", "--redact"},
		{"view", "STORE", "tool"}, {"view", "STORE", "tool", "--full"}, {"view", "STORE", "tool", "--model-input"}, {"view", "STORE", "tool", "--all"},
		{"view", "STORE", "tool", "--compare-visibility", "path,tokens"}, {"view", "STORE", "tool", "--isolation"}, {"view", "STORE", "tool", "--format", "json"},
		{"diff", "STORE", "STORE"}, {"replay", recording(t), "--against", "STORE"}, {"repair", "STORE", "--dry-run"},
	}
}

// ofStore runs a command on a store, whose name is STORE in what it prints.
func ofStore(t *testing.T, words []string, url string) (out, errors string, code int) {
	t.Helper()
	name, _, err := postgres.RegisterName(url)
	if err != nil {
		t.Fatal(err)
	}
	args := slices.Clone(words)
	for i, word := range words {
		if word == "STORE" {
			args[i] = url
		}
	}
	out, errors, code = sessctl(t, args...)
	plain := func(text string) string {
		return flat(strings.NewReplacer(shell.Word(name), "STORE", "'"+name+"'", "STORE", name, "STORE").Replace(variable.ReplaceAllString(text, "…")))
	}
	return plain(out), plain(errors), code
}

// sameAs: every command says of one way to a database what it says of another.
func sameAs(t *testing.T, url, other string) {
	t.Helper()
	for _, words := range everyCommand(t) {
		want, errors, code := ofStore(t, words, url)
		if code > 2 || code == 2 && words[0] != "repair" { // which PostgreSQL has none of
			t.Errorf("%s: exit code %d\n%s%s", words, code, want, errors)
		}
		got, errors, codeB := ofStore(t, words, other)
		if diff := difference.Diff(want, got); diff != "" || code != codeB {
			t.Errorf("%s: exit codes %d and %d\n%s%s", words, code, codeB, diff, errors)
		}
	}
}

// readingOnly is a database in which the role may change nothing.
func readingOnly(url string) string {
	return url + "&options=-c%20default_transaction_read_only%3Don"
}

// TestEveryCommandOfAReader: a role that may only read is enough for every command.
func TestEveryCommandOfAReader(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	execute(t, url, "create role everycommand login", "grant select on all tables in schema public to everycommand")
	t.Cleanup(func() { execute(t, url, "drop owned by everycommand", "drop role everycommand") })
	sameAs(t, readingOnly(url), asRole(url, "everycommand"))
}

// TestReplayAgainst: a recording is compared with a database as with a file of the same rows.
func TestReplayAgainst(t *testing.T) {
	events := recording(t)
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `"session_id":"`)
	id, _, found := strings.Cut(rest, `"`)
	if !found {
		t.Fatal("the recording names no session")
	}
	url := database(t, adkTables, "insert into sessions values ('a', 'u', '"+id+"', '{}', now(), now())",
		"insert into events values ('e1', 'a', 'u', '"+id+"', 'i', 'user', '{}', null, now(), '{\"role\": \"user\", \"parts\": [{\"text\": \"another question\"}]}')")
	out, errors, code := sessctl(t, "replay", events, "--against", url)
	if code != 1 || !strings.Contains(out, "SC7") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	alike(t, url, twin(t, url), "replay", events, "--against", "STORE", "--format", "json")
}

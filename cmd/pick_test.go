package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/schematest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// TestPartsOfDatabases: a database whose trees are left out unread has the same sessions in
// every part as the stream of it, of which all are read.
func TestPartsOfDatabases(t *testing.T) {
	written := map[string]func(path string, seed uint64) error{
		"kagent": func(path string, seed uint64) error {
			_, err := kagenttest.Random(seed).Build(path, kagenttest.Forms["go 2"])
			return err
		},
	}
	for name, gen := range map[string]adktest.Generation{"P0": adktest.P0, "P1": adktest.P1, "PS": adktest.PS, "G2": adktest.G2} {
		written[name] = func(path string, seed uint64) error {
			return adktest.Create(path, gen, gen.Random(seed, 12), gen.Random(seed+1000, 6), gen.Random(seed+2000, 3))
		}
	}
	for name, write := range written {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(campaign.Rounds(3, 100)) {
				database := filepath.Join(t.TempDir(), "sessions.db")
				if err := write(database, seed); err != nil {
					t.Fatal(err)
				}
				stream := filepath.Join(t.TempDir(), "stream.jsonl")
				if err := os.WriteFile(stream, []byte(run(t, "export", database)), 0o600); err != nil {
					t.Fatal(err)
				}
				var listed struct {
					Sessions []struct{ ID, Updated string }
				}
				if err := json.Unmarshal([]byte(run(t, "ls", "--all", "--format", "json", stream)), &listed); err != nil {
					t.Fatal(err)
				}
				parts := [][]string{{"--shard", "1/3"}, {"--shard", "2/3"}, {"--shard", "3/3"}, {"--since", "2020-01-01"}, {"--since", "1h"}, {"--app", "app"}, {"--user", "u", "--shard", "1/2"}, {"--user", "nobody"}}
				for _, s := range listed.Sessions {
					parts = append(parts, []string{"--session", s.ID})
					if s.Updated != "" {
						parts = append(parts, []string{"--since", s.Updated}, []string{"--since", s.Updated, "--shard", "1/2"})
					}
				}
				for _, part := range parts {
					args := append([]string{"check", "--format", "json", "--fail-on", "never"}, part...)
					if got, want := counted(t, append(args, database)), counted(t, append(args, stream)); got != want {
						t.Errorf("seed %d, %v: %s, in the stream %s", seed, part, got, want)
					}
				}
			}
		})
	}
}

// counted are the sessions and items that a check looked at.
func counted(t *testing.T, args []string) string {
	t.Helper()
	var report struct{ Summary struct{ Sessions, Items int } }
	text := run(t, args...)
	if text == "" {
		return "refused"
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return fmt.Sprint(report.Summary)
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	var out, wrong bytes.Buffer
	if code := Main(args, strings.NewReader(""), &out, &wrong, func(string) string { return "" }); code > exitFindings && code != int(problem.Usage) {
		t.Fatalf("%v: exit code %d: %s", args, code, wrong.String())
	}
	schematest.RequireValid(t, out.Bytes())
	return out.String()
}

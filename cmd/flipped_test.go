package cmd_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// healthyStores writes a database of each kind that is kept in SQLite.
func healthyStores(t *testing.T) map[string]string {
	t.Helper()
	folder := t.TempDir()
	paths := map[string]string{}
	for kind, build := range map[string]func(path string) error{
		"docker agent": func(path string) error {
			buildDB(t, path, func(db *agenttest.DB) error {
				_, err := agenttest.WriteFixed(db, agenttest.Random(3, 60))
				return err
			})
			return nil
		},
		"adk": func(path string) error {
			return adktest.Create(path, adktest.P1, adktest.Random(1, 40), adktest.Random(2, 40))
		},
		"spring": func(path string) error {
			db, err := springtest.Create(path, springtest.Form{})
			if err == nil {
				springtest.Random(db, "a", 1, 20)
				springtest.Random(db, "b", 2, 20)
				err = db.Close()
			}
			return err
		},
		"kagent": func(path string) error {
			_, err := kagenttest.Script("collapsed-11").Build(path, kagenttest.Forms["go 2"])
			return err
		},
	} {
		paths[kind] = filepath.Join(folder, kind+".db")
		if err := build(paths[kind]); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// What check calls damaged, every command calls so, and none of them changes a byte; the
// export carries it along, and reads back.
func TestFlippedBytesInEveryCommand(t *testing.T) {
	campaign.ShowsNoRace(t)
	for kind, healthy := range healthyStores(t) {
		t.Run(kind, func(t *testing.T) {
			sound, err := os.ReadFile(healthy)
			if err != nil {
				t.Fatal(err)
			}
			size := int(sound[16])<<8 | int(sound[17])
			random, damaged := rand.New(rand.NewPCG(uint64(campaign.Rounds(5, 5)), 3)), 0
			for n := 0; n < campaign.Rounds(12, 200) || damaged == 0 && n < 20; n++ {
				path := filepath.Join(t.TempDir(), "s.db")
				content := slices.Clone(sound)
				page := 1 + random.IntN(len(sound)/size-1)
				at := page*size + random.IntN([]int{16, 40, size}[random.IntN(3)])
				content[at] ^= byte(1 + random.IntN(255))
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				if code, out, _ := run(t, "check", path); code == 3 && strings.Contains(out, "SC001") {
					damaged++
					everyCommandSaysSo(t, path, healthy, at)
				}
				if after, err := os.ReadFile(path); err != nil || !slices.Equal(after, content) {
					t.Errorf("byte %d: the file changed, %v", at, err)
				}
				if left, _ := filepath.Glob(path + "?*"); len(left) > 0 {
					t.Errorf("byte %d: %v were left", at, left)
				}
			}
			if damaged == 0 {
				t.Error("no file was damaged")
			}
		})
	}
}

func everyCommandSaysSo(t *testing.T, path, healthy string, at int) {
	t.Helper()
	stream := path + "." // taken away below
	for _, args := range [][]string{
		{"check", path, "--format", "json"}, {"check", path, "--format", "sarif"}, {"check", path, "--format", "junit"}, {"check", path, "--select", "SC7"},
		{"check", path, "--fail-on", "never"}, {"check", path, "--write-baseline", stream + "json"},
		{"ls", path}, {"export", path, "--output", stream}, {"view", path, "-1"}, {"diff", path, healthy}, {"diff", healthy, path},
		{"repair", path, "--dry-run"}, {"repair", path, "--yes"},
		{"check", stream}, {"ls", stream}, {"export", stream}, {"diff", stream, path}, {"repair", stream, "--dry-run"},
	} {
		code, out, stderr := run(t, args...)
		want := map[string]string{"json": `"incomplete":`, "sarif": `"executionSuccessful": false`, "junit": "<error "}[args[len(args)-1]]
		if code != 3 || !strings.Contains(out, want) {
			t.Errorf("byte %d, %v: code %d, %s%s", at, args, code, out[:min(len(out), 600)], stderr)
		}
	}
	content, err := os.ReadFile(stream)
	if err != nil || !strings.Contains(string(content), `{"type":"fault",`) {
		t.Errorf("byte %d: the export does not say what it lacks, %v", at, err)
	}
	if err := os.Remove(stream); err != nil {
		t.Error(err)
	}
}

// A session that is not found may be one that is lost: the store is damaged, and the name
// is not called wrong.
func TestNoSessionIsFoundInADamagedStore(t *testing.T) {
	campaign.ShowsNoRace(t)
	for kind, healthy := range healthyStores(t) {
		t.Run(kind, func(t *testing.T) {
			sound, err := os.ReadFile(healthy)
			if err != nil {
				t.Fatal(err)
			}
			size, damaged := int(sound[16])<<8|int(sound[17]), 0
			for at := size; at < len(sound) && at < 12*size; at += size {
				path := filepath.Join(t.TempDir(), "s.db")
				content := slices.Clone(sound)
				content[at] = 75 // no kind of page
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				if code, _, _ := run(t, "check", path); code != 3 {
					continue
				}
				damaged++
				for _, args := range [][]string{
					{"view", path, "-1"}, {"view", path, "-99"}, {"view", path, "nosuch"}, {"view", path},
					{"check", path, "--session", "nosuch"}, {"repair", path, "--session", "nosuch", "--dry-run"}, {"diff", path, healthy, "--session", "nosuch"},
				} {
					code, _, stderr := run(t, args...)
					if code != 3 && (len(args) != 2 || !strings.Contains(stderr, "Give one after the store")) {
						t.Errorf("byte %d, %v: code %d, %s", at, args[:1], code, stderr)
					}
				}
			}
			if damaged == 0 {
				t.Error("no file was damaged")
			}
		})
	}
}

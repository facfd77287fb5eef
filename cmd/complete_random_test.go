package cmd_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// account is what an export holds.
type account struct {
	sessions, items, raw, silent int            // silent: items without words, which stand for records that do not decode
	lost                         map[string]int // what fault lines say, by table
}

// accountOf exports a store, and wants ls to end as the export does, and that with 3 where
// and only where the stream says that something is missing.
func accountOf(t *testing.T, path string) account {
	t.Helper()
	code, out, stderr := run(t, "export", path)
	if listed, _, said := run(t, "ls", path); listed != code {
		t.Errorf("export ends with %d, ls with %d\n%s%s", code, listed, stderr, said)
	}
	got := account{lost: map[string]int{}}
	for line := range strings.Lines(out) {
		var rec struct {
			Type, Kind, Table string
			Count             int
			Raw               json.RawMessage
			Base64            string `json:"raw_base64"`
		}
		if json.Unmarshal([]byte(line), &rec) != nil { // a line of a stream that stays as it was
			got.silent++
			if strings.Contains(line, `"item"`) {
				got.items++
			} else {
				got.sessions++
			}
			continue
		}
		switch rec.Type {
		case "session":
			got.sessions++
		case "item":
			got.items++
			if rec.Raw != nil || rec.Base64 != "" {
				got.raw++
			}
		case "fault":
			got.lost[rec.Table] += max(rec.Count, 1)
		}
	}
	if missing := len(got.lost) > 0 || got.silent > 0; missing && code != 3 || !missing && code != 0 {
		t.Errorf("code %d with %v\n%s", code, got, stderr)
	}
	return got
}

// Whatever happens to the lines of a stream, each is exported or told to be missing.
func TestRandomStreamsAreAccountedFor(t *testing.T) {
	campaign.ShowsNoRace(t)
	path := filepath.Join(t.TempDir(), "session.db")
	buildDB(t, path, func(db *agenttest.DB) error {
		_, err := agenttest.WriteLeaky(db, agenttest.Random(3, 20))
		return err
	})
	_, whole, _ := run(t, "export", path)
	lines := slices.Collect(strings.Lines(whole))
	rounds, incomplete := campaign.Rounds(60, 1500), 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 7))
		damaged := slices.Clone(lines)
		for range 1 + r.IntN(4) {
			at := 1 + r.IntN(len(damaged)-1)
			line := damaged[at]
			switch r.IntN(7) {
			case 0:
				damaged = slices.Delete(damaged, at, at+1)
			case 1:
				damaged[at] = line[:1+r.IntN(len(line)-1)] + "\n"
			case 2:
				place := r.IntN(len(line) - 1)
				damaged[at] = line[:place] + string(rune(33+r.IntN(90))) + line[place+1:]
			case 3:
				damaged = slices.Insert(damaged, at, line)
			case 4:
				damaged = slices.Insert(damaged, at, damaged[0])
			case 5:
				damaged[at] = strings.Replace(line, `"title":"`, `"title":NaN,"x":"`, 1)
			case 6:
				damaged = slices.Insert(damaged, at, `{"type":"session"}`+"\n", "[]\n", `{"type":"memo","session":"x"}`+"\n")
			}
		}
		stream := filepath.Join(t.TempDir(), "s.ndjson")
		writeFile(t, stream, strings.Join(damaged, ""))
		stored := 0
		for _, line := range damaged[1:] {
			if strings.TrimSpace(line) != "" {
				stored++
			}
		}
		got := accountOf(t, stream)
		if told := got.sessions + got.items + got.lost["source"]; told != stored {
			t.Errorf("seed %d: %d lines are stored, and %d are exported or told: %+v", seed, stored, told, got)
		}
		if len(got.lost) > 0 {
			incomplete++
		}
	}
	t.Logf("%d streams, %d of them incomplete", rounds, incomplete)
}

// Whatever happens to the rows of a database, each item is exported or told to be missing.
func TestRandomDatabasesAreAccountedFor(t *testing.T) {
	campaign.ShowsNoRace(t)
	scripts := kagenttest.Scripts()
	rounds, incomplete := campaign.Rounds(24, 400), 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 8))
		path, table, sessions := filepath.Join(t.TempDir(), "s.db"), "session_items", "sessions"
		data := "message_json"
		if seed%2 == 0 {
			buildDB(t, path, func(db *agenttest.DB) error {
				_, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 15))
				return err
			})
		} else {
			table, sessions, data = "event", "session", "data"
			if _, err := scripts[int(seed)%len(scripts)].Build(path, kagenttest.Forms["python"]); err != nil {
				t.Fatal(err)
			}
		}
		db, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		for range r.IntN(4) {
			row := func(of string) string {
				return fmt.Sprintf("rowid = (select rowid from %s order by rowid limit 1 offset abs(%d) %% max(1, (select count(*) from %s)))", of, r.Int32(), of)
			}
			statement := []string{
				"delete from " + sessions + " where " + row(sessions),
				"delete from " + table + " where " + row(table),
				"update " + table + " set " + data + " = substr(" + data + ", 1, length(" + data + ") / 2) where " + row(table),
				"update " + table + " set session_id = 'nobody' where " + row(table),
			}[r.IntN(4)]
			if _, err := db.Exec("pragma foreign_keys = off; " + statement); err != nil {
				t.Fatal(statement, err)
			}
		}
		var stored int
		if err := db.QueryRow("select count(*) from " + table).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		got := exportedRows(t, path, table)
		if told := got.items + got.lost[table]; told != stored {
			t.Errorf("seed %d: %d rows are stored, and %d are exported or told: %+v", seed, stored, told, got)
		}
		if len(got.lost) > 0 {
			incomplete++
		}
	}
	t.Logf("%d databases, %d of them incomplete", rounds, incomplete)
}

// exportedRows is accountOf, without what a fault says of items that are there.
func exportedRows(t *testing.T, path, table string) account {
	t.Helper()
	got := accountOf(t, path)
	_, out, _ := run(t, "export", path)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, `{"type":"fault"`) && strings.Contains(line, " does not decode: ") {
			got.lost[table]--
		}
	}
	return got
}

// Whatever happens to the files of a folder, each step is exported or told to be missing.
func TestRandomFoldersAreAccountedFor(t *testing.T) {
	campaign.ShowsNoRace(t)
	rounds, incomplete := campaign.Rounds(40, 1000), 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 9))
		folder, stored := t.TempDir(), 0
		for _, agent := range []string{"main", "worker"} {
			for n := range 1 + r.IntN(5) {
				name := filepath.Join(folder, agent, "history", fmt.Sprintf("step_%03d.json", n+1))
				text := strings.Replace(step, "step_001", fmt.Sprintf("step_%03d", n+1), 1)
				stored++
				switch r.IntN(8) {
				case 0:
					text = text[:r.IntN(len(text))]
				case 1:
					place := r.IntN(len(text))
					text = text[:place] + string(rune(33+r.IntN(90))) + text[place+1:]
				case 2:
					if n > 0 {
						stored--
						continue
					}
				case 3:
					if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil || os.Symlink("/nowhere", name) != nil {
						t.Fatal(err)
					}
					continue
				}
				writeFile(t, name, text)
			}
		}
		got := accountOf(t, folder)
		others := got.items - 2*(stored-got.lost["steps"]) // a step that was read is a call and its result
		if others != got.lost["steps"] {
			t.Errorf("seed %d: %d steps are stored: %+v", seed, stored, got)
		}
		if len(got.lost) > 0 {
			incomplete++
		}
	}
	t.Logf("%d folders, %d of them incomplete", rounds, incomplete)
}

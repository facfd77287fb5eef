package check_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// sqliteStores build healthy databases in every form of every kind, each once: from then on
// it is copied.
func sqliteStores() map[string]func(path string) error {
	stores := map[string]func(string) error{}
	for _, generation := range []int{0, 1, 5, 10, 13, 14, 15, 18, 19, 22, 25, 28, agenttest.Latest} {
		stores[fmt.Sprintf("docker agent %03d", generation)] = func(path string) error {
			db, err := agenttest.Create(path, generation)
			if err != nil {
				return err
			}
			for seed := uint64(0); err == nil && seed < 6; seed++ {
				_, err = agenttest.WriteFixed(db, agenttest.Random(seed, 30))
			}
			return errors.Join(err, db.Close())
		}
	}
	for _, g := range adktest.Generations {
		stores["ADK "+string(g)] = func(path string) error {
			sessions := adktest.Scripts()
			for seed := range uint64(10) {
				sessions = append(sessions, adktest.Random(seed, 15))
			}
			return adktest.Create(path, g, slices.DeleteFunc(sessions, func(s adktest.Session) bool { return g.Lacks(s) != "" })...)
		}
	}
	for name, form := range springtest.Forms {
		stores["Spring AI, "+name] = func(path string) error {
			db, err := springtest.Create(path, form)
			if err != nil {
				return err
			}
			for seed := range uint64(15) {
				springtest.Random(db, fmt.Sprint("s", seed), seed, 6)
			}
			return db.Close()
		}
	}
	for name, form := range kagenttest.Forms {
		stores["kagent, "+name] = func(path string) error {
			_, err := kagenttest.Script("collapsed-11").Build(path, form)
			return err
		}
	}
	for name, build := range stores {
		stores[name] = func(path string) error {
			content, ok := builtStores[name]
			if ok {
				return os.WriteFile(path, content, 0o600)
			}
			err := build(path)
			if err == nil {
				builtStores[name], err = os.ReadFile(path)
			}
			return err
		}
	}
	return stores
}

// builtStores are those of sqliteStores that were built already.
var builtStores = map[string][]byte{}

// withLog leaves a part of a database in its log, as a killed writer does.
func withLog(t *testing.T, path string) {
	t.Helper()
	folder := t.TempDir()
	work := filepath.Join(folder, "work.db")
	copyStore(t, path, work)
	db, err := sql.Open("sqlite", "file:"+work+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, table := range tablesIn(t, path) {
		if _, err := db.Exec(`update "` + table + `" set rowid = rowid where rowid % 3 = 0`); err != nil && !strings.Contains(err.Error(), "FOREIGN") {
			t.Fatal(err)
		}
	}
	copyStore(t, work, path)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// copyStore copies a database with its log.
func copyStore(t *testing.T, from, to string) {
	t.Helper()
	for _, ending := range []string{"", "-wal"} {
		content, err := os.ReadFile(from + ending)
		if errors.Is(err, os.ErrNotExist) && ending != "" {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+ending, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func tablesIn(t *testing.T, path string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Query("select name from sqlite_schema where type = 'table' and rootpage > 0 and name not like 'sqlite_%'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// plainly reads all columns of all rows of the tables with plain SQL, on a copy: what came,
// by table, and whether SQLite refused something.
func plainly(t *testing.T, path string, tables []string) (content map[string]string, refused bool) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "plain.db")
	copyStore(t, path, work)
	db, err := sql.Open("sqlite", "file:"+work)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	content = map[string]string{}
	for _, table := range tables {
		sum := sha256.New()
		err := func() error {
			rows, err := db.Query(`select * from "` + table + `" not indexed`)
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			for rows.Next() {
				if err := rows.Scan(into...); err != nil {
					return err
				}
				_, _ = fmt.Fprintf(sum, "%q\n", values)
			}
			return rows.Err()
		}()
		refused = refused || err != nil
		content[table] = string(sum.Sum(nil))
	}
	return content, refused
}

// toldBy reports whether a check says that something cannot be read.
func toldBy(t *testing.T, path string, deep bool) (told bool, why string) {
	t.Helper()
	opened, err := registry.Open(context.Background(), path, "", nil, store.Options{Deep: deep})
	if err != nil {
		return true, err.Error()
	}
	defer func() { _ = opened.Close() }()
	result, err := check.Run(context.Background(), opened, check.Options{Rules: catalogue.UsualRules()})
	if err != nil {
		return true, err.Error()
	}
	found := slices.ContainsFunc(result.Findings, func(f *check.Finding) bool { return f.Rule.ID == "SC001" })
	if found != (result.Incomplete != "") {
		t.Errorf("SC001 is found: %t; incomplete: %q", found, result.Incomplete)
	}
	return found, result.Incomplete
}

// Nothing is damaged in healthy stores, of whatever form, with and without a log.
func TestHealthyPagesAreWhole(t *testing.T) {
	campaign.ShowsNoRace(t)
	for name, build := range sqliteStores() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			if err := build(path); err != nil {
				t.Fatal(err)
			}
			for _, log := range []bool{false, true} {
				if log {
					withLog(t, path)
				}
				for _, deep := range []bool{false, true} {
					if told, why := toldBy(t, path, deep); told {
						t.Errorf("log %t, deep %t: %s", log, deep, why)
					}
				}
			}
		})
	}
}

// flips counts files with flipped bytes by what became of them.
type flips struct {
	files, refused, refusedTold                    int
	changed, changedByCheck, changedByDeep, unsaid int
	same, sameByCheck, sameByDeep                  int
}

// A row that SQLite refuses is told, whatever byte of whatever page was flipped.
func TestFlippedBytesAreTold(t *testing.T) {
	stores := sqliteStores()
	names := slices.Sorted(maps.Keys(stores))
	table := map[string]*flips{}
	for i, name := range names {
		kind, _, _ := strings.Cut(strings.ReplaceAll(name, ",", ""), " ")
		if table[kind] == nil {
			table[kind] = &flips{}
		}
		t.Run(name, func(t *testing.T) {
			healthy := filepath.Join(t.TempDir(), "session.db")
			if err := stores[name](healthy); err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(uint64(i), 17))
			tables := tablesIn(t, healthy)
			want, refused := plainly(t, healthy, tables)
			if refused {
				t.Fatal("plain SQL cannot read the healthy store")
			}
			for round := range campaign.Rounds(4, 15) {
				if round == campaign.Rounds(4, 15)*2/3 {
					withLog(t, healthy)
				}
				flipped(t, healthy, tables, want, random, table[kind])
			}
		})
	}
	for _, kind := range slices.Sorted(maps.Keys(table)) {
		t.Logf("%-8s %+v", kind, *table[kind])
	}
}

// flipped flips bytes of one page of a copy of a store, and compares what plain SQL and what
// a check say of it.
func flipped(t *testing.T, healthy string, tables []string, want map[string]string, random *rand.Rand, counts *flips) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	copyStore(t, healthy, path)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := int(content[16])<<8 | int(content[17])
	page := 1 + random.IntN(len(content)/size-1) // page 1 holds the schema
	var where []string
	for range 1 + random.IntN(3) {
		at := random.IntN([]int{size, size, 16, 100}[random.IntN(4)]) // at the start are numbers and pointers
		content[page*size+at] ^= byte(1 + random.IntN(255))
		where = append(where, fmt.Sprint(at))
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	got, refused := plainly(t, path, tables)
	byCheck, _ := toldBy(t, path, false)
	byDeep, _ := toldBy(t, path, true)
	if byCheck && !byDeep {
		t.Errorf("page %d, bytes %v: told without --deep only", page+1, where)
	}
	counts.files++
	switch {
	case refused:
		counts.refused++
		if byCheck {
			counts.refusedTold++
			return
		}
		t.Errorf("page %d, bytes %v: SQLite refuses rows, and check says nothing", page+1, where)
	case !maps.Equal(want, got):
		counts.changed++
		switch {
		case byCheck:
			counts.changedByCheck++
		case byDeep:
			counts.changedByDeep++
		default:
			counts.unsaid++
		}
	default:
		counts.same++
		if byCheck {
			counts.sameByCheck++
		} else if byDeep {
			counts.sameByDeep++
		}
	}
}

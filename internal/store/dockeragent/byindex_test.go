package dockeragent_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// one reads the tree of one session, and says how.
func one(t *testing.T, path, word string) (_ []*session.Tree, read string) {
	t.Helper()
	o, err := registry.Open(t.Context(), path, "docker-agent", nil, store.Options{Only: word})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	return trees(t, o), o.Facts().Read
}

// agreeing holds the tree of each session that is read by its keys against that of the full
// read, and counts these, and the reasons for a full read.
func agreeing(t *testing.T, path string) (byIndex int, reasons string) {
	t.Helper()
	for _, want := range stored(t, path) {
		for _, s := range want.Sessions {
			got, read := one(t, path, s.ID)
			if read != session.ByIndex {
				reasons += read + "\n"
				continue
			}
			byIndex++
			if len(got) != 1 {
				t.Errorf("%s: %d trees", s.ID, len(got))
			} else if diff := diffTrees(want, got[0]); diff != "" {
				t.Errorf("%s (-in full +by index):\n%s", s.ID, diff)
			}
		}
	}
	return byIndex, reasons
}

func TestByIndexCorpus(t *testing.T) {
	paths, _ := filepath.Glob("../../../../shared/corpus/docker-agent/*/*.db")
	if len(paths) == 0 {
		t.Skip("no corpus beside the checkout")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if _, reasons := agreeing(t, path); reasons != "" {
				t.Errorf("read in full: %s", reasons)
			}
		})
	}
}

// random makes a database of several trees.
func random(t *testing.T, generation int, seed uint64) string {
	t.Helper()
	return built(t, generation, func(db *agenttest.DB) {
		for n := range uint64(3) {
			if _, err := agenttest.WriteLeaky(db, agenttest.Random(3*seed+n, 6)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestByIndexRandom(t *testing.T) {
	campaign.ShowsNoRace(t)
	for generation := 14; generation <= agenttest.Latest; generation++ {
		n, reasons := agreeing(t, random(t, generation, uint64(generation)))
		if generation >= 18 && reasons != "" || generation < 18 && n > 0 {
			t.Errorf("generation %d: %d sessions read by index; %s", generation, n, reasons)
		}
	}
}

const (
	byPosition = "idx_session_items_session"
	byType     = "idx_session_items_session_type"
	byParent   = "idx_sessions_parent_id"
	byID       = "sqlite_autoindex_sessions_1"
)

// statements runs statements on a connection of their own.
func statements(t *testing.T, path string, list ...string) {
	t.Helper()
	db := openSQL(t, path)
	db.SetMaxOpenConns(1)
	for _, statement := range list {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// unseen runs statements while the database does not know some of its indexes.
func unseen(t *testing.T, path string, indexes []string, list ...string) {
	t.Helper()
	names := " where name in ('" + strings.Join(indexes, "', '") + "')"
	statements(t, path, "pragma writable_schema = 1", "create table kept as select * from sqlite_schema"+names, "delete from sqlite_schema"+names)
	statements(t, path, list...)
	statements(t, path, "pragma writable_schema = 1", "insert into sqlite_schema select * from kept", "drop table kept")
}

// hide takes a row out of some indexes.
func hide(t *testing.T, path, table, row string, indexes ...string) {
	t.Helper()
	statements(t, path, "create table moved as select * from "+table+" where "+row, "delete from "+table+" where "+row)
	unseen(t, path, indexes, "insert into "+table+" select * from moved")
	statements(t, path, "drop table moved")
}

// hideSession takes a session out of the index of ids, which belongs to the table.
func hideSession(t *testing.T, path, id string) {
	t.Helper()
	statements(t, path, "create index other on sessions(id) where id <> '"+id+"'", "pragma writable_schema = 1",
		"update sqlite_schema set rootpage = (select rootpage from sqlite_schema where name = 'other') where name = '"+byID+"'",
		"delete from sqlite_schema where name = 'other'")
}

// What an index hides or tells wrongly is noticed, and then everything is read.
func TestByIndexDoubts(t *testing.T) {
	campaign.ShowsNoRace(t)
	const middle, last, other = "session_id = 'P' and position = 2", "session_id = 'P' and position = 5", "session_id = 'C' and position = 1"
	tests := []struct {
		name   string
		damage func(t *testing.T, path string)
		reason string
	}{
		{"a dropped index", func(t *testing.T, path string) { statements(t, path, "drop index "+byType) }, "its indexes do not tell all: SQL logic error: no such index: " + byType},
		{"an item missing in one index", func(t *testing.T, path string) { hide(t, path, "session_items", middle, byPosition) }, byType + " do not agree"},
		{"an item missing in the other", func(t *testing.T, path string) { hide(t, path, "session_items", last, byType) }, byType + " do not agree"},
		{"an item missing in both", func(t *testing.T, path string) { hide(t, path, "session_items", middle, byPosition, byType) }, "not have all of its rows"},
		{"the last item missing in both", func(t *testing.T, path string) {
			statements(t, path, "update sessions set messages = null")
			hide(t, path, "session_items", last, byPosition, byType)
		}, "not have all of its rows"},
		{"the item of a child missing in both", func(t *testing.T, path string) { hide(t, path, "session_items", other, byPosition, byType) }, "not have all of its rows"},
		{"an item that changed its session", func(t *testing.T, path string) {
			unseen(t, path, []string{byPosition, byType}, "update session_items set session_id = 'Q' where "+last)
		}, "not have all of its rows"},
		{"an item that changed its place", func(t *testing.T, path string) {
			unseen(t, path, []string{byPosition, byType}, "update session_items set position = 20 where "+middle)
		}, "gaps"},
		{"a row that is gone", func(t *testing.T, path string) {
			unseen(t, path, []string{byPosition, byType}, "delete from session_items where "+last)
		}, "damaged"},
		{"a child missing among children", func(t *testing.T, path string) { hide(t, path, "sessions", "id = 'C'", byParent) }, "of its sessions do not agree"},
		{"a child missing among ids", func(t *testing.T, path string) { hideSession(t, path, "C") }, "of its sessions do not agree"},
		{"another session missing among ids", func(t *testing.T, path string) { hideSession(t, path, "Q") }, "of its sessions do not agree"},
		{"a child of this session that changed its parent", func(t *testing.T, path string) {
			unseen(t, path, []string{byParent}, "update sessions set parent_id = 'Q' where id = 'C'")
		}, "a parent is not where"},
		{"a reference that is a blob", func(t *testing.T, path string) {
			statements(t, path, "update session_items set subsession_id = x'43' where item_type = 'subsession'")
		}, "no usual id"},
		{"a reference that leads nowhere", func(t *testing.T, path string) {
			statements(t, path, "update session_items set subsession_id = 'X' where item_type = 'subsession'")
		}, "a session is missing"},
		{"a parent that is not there", func(t *testing.T, path string) {
			statements(t, path, "update sessions set parent_id = 'X' where id = 'P'")
		}, "a session is missing"},
		{"an id that is a blob", func(t *testing.T, path string) { statements(t, path, "update sessions set id = x'51' where id = 'Q'") }, "do not agree"},
		{"items of no session", func(t *testing.T, path string) {
			statements(t, path, "insert into session_items (session_id, position, item_type) values ('', 0, 'message')")
		}, "no usual id"},
		{"items whose session is a blob", func(t *testing.T, path string) {
			statements(t, path, "update session_items set session_id = x'50' where "+last)
		}, "no usual id"},
		{"a cost that the items do not have", func(t *testing.T, path string) { statements(t, path, "update sessions set cost = 9 where id = 'P'") }, "tell of more items"},
		{"a column with more than the items", func(t *testing.T, path string) {
			statements(t, path, "delete from session_items where "+last)
		}, "tell of more items"},
		{"items in the column only", func(t *testing.T, path string) {
			statements(t, path, `insert into sessions (id, messages) values ('R', '[{"summary":"so far"}]')`)
		}, "and no rows"},
		{"a migration that is not known", func(t *testing.T, path string) {
			statements(t, path, "insert into migrations values (99, '099_more', '', '')")
		}, "not as docker agent makes it"},
		{"a column that is not known", func(t *testing.T, path string) {
			statements(t, path, "alter table session_items add column more")
		}, "not as docker agent makes it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := built(t, 18, func(db *agenttest.DB) {
				writeDelegation(db)
				db.Root(agenttest.SessionRow{ID: "Q"}).User("another")
			})
			tt.damage(t, path)
			if !strings.Contains(tt.reason, "parent") {
				agreeing(t, path)
			}
			if _, read := one(t, path, "P"); !strings.Contains(read, tt.reason) {
				t.Errorf("read: %q, want %q", read, tt.reason)
			}
		})
	}
}

// What a row says counts, where parents can be read fast without their index; an old column
// is in the way, and then another tree may not know that it has a child.
func TestByIndexReadsParents(t *testing.T) {
	path := built(t, 29, func(db *agenttest.DB) {
		writeDelegation(db)
		db.Root(agenttest.SessionRow{ID: "Q"}).User("another")
	})
	unseen(t, path, []string{byParent}, "update sessions set parent_id = 'Q' where id = 'C'")
	if n, reasons := agreeing(t, path); n != 3 {
		t.Errorf("%d sessions were read by index; %s", n, reasons)
	}
}

// Damaged at random, the database never gets another answer by index than by a full read.
func TestByIndexDamagedAtRandom(t *testing.T) {
	campaign.ShowsNoRace(t)
	agreed := 0
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 21))
		path := random(t, 18+int(seed)%13, seed)
		indexes := [][]string{{byPosition}, {byType}, {byPosition, byType}}[rng.IntN(3)]
		row := fmt.Sprintf("id = (select id from session_items order by id limit 1 offset %d)", rng.IntN(30))
		switch rng.IntN(5) {
		case 0:
			hide(t, path, "session_items", row, indexes...)
		case 1:
			unseen(t, path, indexes, "update session_items set session_id = (select session_id from session_items order by id desc) where "+row)
		case 2:
			unseen(t, path, indexes, "update session_items set position = position + 1 where "+row)
		case 3:
			statements(t, path, "update session_items set position = position + 1, item_type = 'message' where "+row)
		case 4:
			statements(t, path, "delete from session_items where "+row)
		}
		n, _ := agreeing(t, path)
		agreed += n
	}
	if agreed == 0 {
		t.Error("nothing was read by index")
	}
}

// Of pages that are destroyed, those that were read are noticed.
func TestByIndexDamagedPages(t *testing.T) {
	campaign.ShowsNoRace(t)
	path := random(t, 29, 5)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 4096; at < len(content); at += 4096 {
		damaged := filepath.Join(t.TempDir(), "session.db")
		page := append([]byte{}, content...)
		page[at+4] ^= 1 // the number of cells
		if err := os.WriteFile(damaged, page, 0o600); err != nil {
			t.Fatal(err)
		}
		agreeing(t, damaged)
	}
}

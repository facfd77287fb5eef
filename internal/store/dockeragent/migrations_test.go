package dockeragent_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// Migrations are told by their names, as docker agent tells them: the last two came in
// either order. A database with one of them, or with both, is one that is known, if it has
// what they brought.
func TestMigrationsToldByName(t *testing.T) {
	const (
		recordBlobs = "insert into migrations values (?, ? || '_add_generated_media_blob_table', '', '2026-09-01T00:00:00Z');"
		recordRoot  = "insert into migrations values (?, ? || '_add_root_kind_to_generated_media_manifest', '', '2026-09-01T00:00:00Z');"
		blobs       = "create table generated_media_blobs (session_id text not null, rel_path text not null, data blob not null, primary key (session_id, rel_path));"
		rootKind    = "alter table generated_media_manifest add column root_kind text not null default 'workspace';"
	)
	at := func(sql, number string) string {
		return strings.Replace(strings.Replace(sql, "?", strings.TrimPrefix(number, "0"), 1), "?", "'"+number+"'", 1)
	}
	for _, tt := range []struct {
		name, sql, fault string // what is told, "" for nothing
		editable         bool
	}{
		{"blobs", at(recordBlobs, "029") + blobs, "", true},
		{"blobs, then the kind of root", at(recordBlobs, "029") + blobs + at(recordRoot, "030") + rootKind, "", true},
		{"the kind of root", at(recordRoot, "029") + rootKind, "", true},
		{"the kind of root, then blobs", at(recordRoot, "029") + rootKind + at(recordBlobs, "030") + blobs, "", true},
		{"blobs that are on record only", at(recordBlobs, "029"), "generated_media_blobs.data is missing", false},
		{"a kind of root that is on record only", at(recordBlobs, "029") + blobs + at(recordRoot, "030"), "generated_media_manifest.root_kind is missing", false},
		{"a 029 that nobody knows", "insert into migrations values (29, '029_add_more', '', '2026-09-01T00:00:00Z')", "The database has migration 029_add_more, which sessctl does not know", true},
		{"a number that somebody else used", "update migrations set name = '026_add_more' where id = 26", "The database has migration 026_add_more", true},
		{"names behind other numbers", "update migrations set id = id + 100", "", true},
		{"both under the number 029", at(recordBlobs, "029") + blobs + "insert into migrations values (30, '029_add_root_kind_to_generated_media_manifest', '', '');" + rootKind, "", true},
		{"names that stand twice", at(recordRoot, "029") + rootKind + at(recordRoot, "030"), "", true},
		{"no name", "insert into migrations values (29, '', '', ''), (30, '30', '', '');" + blobs + rootKind, "The database has migration 30, which", true},
		{"nothing on record of what is there", blobs + rootKind, "migrations 029 to 030 are not recorded", true},
		{"a known name under a later number", at(recordBlobs, "031") + blobs, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := built(t, 28, func(db *agenttest.DB) {
				writeDelegation(db)
				if _, err := db.SQL.Exec(tt.sql); err != nil {
					t.Fatal(err)
				}
			})
			o, err := registry.Open(t.Context(), path, "", nil, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			faults, root := faultsOf(t, o)
			if root == nil || len(root.Items) != 6 {
				t.Errorf("root session %+v", root)
			}
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			said := strings.Join(faults, "; ")
			if !strings.Contains(said, tt.fault) || tt.fault == "" && said != "" {
				t.Errorf("faults %q, want %q", said, tt.fault)
			}
			e, err := dockeragent.Kind.Edit(t.Context(), storetest.Source(path))
			if (err == nil) != tt.editable {
				t.Errorf("edit: %v", err)
			}
			if err == nil {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

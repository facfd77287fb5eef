package registry_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// Of a database that was copied without its log only what is certain is said.
func TestADatabaseWithoutItsLog(t *testing.T) {
	const left = "its contents may be in a -wal file that was not copied with it (copy.db-wal), or nothing was ever written to it"
	tests := []struct {
		name       string
		statements []string
		log        string // what is beside the copy: "", "empty" or "whole"
		says, next string
	}{
		{"all of it in the log", []string{"pragma journal_mode=wal", "create table t(x)"}, "", left, "together with its -wal"},
		{"its log empty", []string{"pragma journal_mode=wal", "create table t(x)"}, "empty", left, "together with its -wal"},
		{"its log beside it", []string{"pragma journal_mode=wal", "create table t(x)"}, "whole", "of another program (tables t)", ""},
		{"a part of it in the log", []string{"create table t(x)", "pragma journal_mode=wal", "create table u(x)"}, "",
			"of another program (tables t)", "If it was copied without its -wal file, tables may be missing"},
		{"never in WAL mode", []string{"create table t(x)", "drop table t"}, "", "without tables", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, to := filepath.Join(t.TempDir(), "session.db"), filepath.Join(t.TempDir(), "copy.db")
			db, err := sql.Open("sqlite", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			db.SetMaxOpenConns(1)
			for _, statement := range tt.statements {
				if _, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			for suffix, there := range map[string]bool{"": true, "-wal": tt.log != ""} {
				if !there {
					continue
				}
				content, err := os.ReadFile(path + suffix)
				if err != nil {
					t.Fatal(err)
				}
				if suffix != "" && tt.log == "empty" {
					content = nil
				}
				writeTo(t, to+suffix, string(content))
			}
			_, err = registry.Open(t.Context(), to, "", nil, store.Options{})
			p, _ := errors.AsType[*problem.Error](err)
			if p == nil || p.Class != problem.Unreadable || !strings.Contains(p.What, tt.says) || !strings.Contains(p.Next, tt.next) {
				t.Errorf("%v\n%+v", err, p)
			}
			if says := p != nil && strings.Contains(p.Next, "-wal"); says != (tt.next != "") {
				t.Errorf("next: %s", p.Next)
			}
		})
	}
}

// writeTo writes a file with its folders.
func writeTo(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

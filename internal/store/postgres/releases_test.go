//go:build unix

package postgres_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// TestOlderReleases: the tables of releases that no dump is of say the same as a file with
// their rows.
func TestOlderReleases(t *testing.T) {
	written := map[string]func(path string) error{"Spring AI Session": func(path string) error {
		db, err := springtest.Create(path, springtest.Form{ByTime: true})
		if err != nil {
			return err
		}
		springtest.Random(db, "s1", 1, 6)
		springtest.Interrupted(db, "s2", 2, 4)
		return db.Close()
	}}
	for name, form := range kagenttest.Forms {
		written["kagent/"+name] = func(path string) error {
			_, err := kagenttest.Random(7).Build(path, form)
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "program.db")
			if err := written[name](path); err != nil {
				t.Fatal(err)
			}
			runtime, _, _ := strings.Cut(name, "/")
			url := database(t)
			transfer(t, path, url, runtimes[runtime].types, runtimes[runtime].keys)
			file := twin(t, url)
			alike(t, url, file, "check", "--format", "json", "--severity", "info", "STORE")
			alike(t, url, file, "export", "STORE")
		})
	}
}

// TestMigrations: the numbers that kagent's migrations go by, and one that did not end.
func TestMigrations(t *testing.T) {
	rows, _ := os.ReadFile(filepath.Join(corpus, "kagent-0.10.0-rc3.sql"))
	var inserts []string
	for table, columns := range map[string]string{
		"session": "id, user_id, name, created_at, updated_at, deleted_at, agent_id, source",
		"event":   "id, user_id, session_id, created_at, updated_at, deleted_at, data",
		"task":    "id, created_at, updated_at, deleted_at, data, session_id, protocol_version, user_id",
	} {
		if _, values, ok := strings.Cut(string(rows), "INSERT INTO public."+table+" VALUES"); ok {
			values, _, _ = strings.Cut(values, ";\n\n\n")
			inserts = append(inserts, "insert into "+table+" ("+columns+") values"+values)
		}
	}
	for _, tt := range []struct {
		name, dump string
		statements []string
		want       string
		code       int
	}{
		{"version 5", "kagent-0.10.0-rc3", []string{
			"update schema_migrations set version = 5", "alter table task drop column user_id", "alter table task drop column protocol_version",
		}, `"generation": "0.8.0"`, 1},
		{"version 13", "kagent-main-schema-only", inserts, `"rule": "SC707"`, 1},
		{"half way", "kagent-0.10.0-rc3", []string{"update schema_migrations set dirty = true"}, "to version 7 of kagent's tables ended half way", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := load(t, tt.dump)
			execute(t, url, tt.statements...)
			for _, command := range []string{"check", "export"} {
				out, errors, code := sessctl(t, command, url)
				if code != tt.code && (command == "check" || tt.code == 3) {
					t.Errorf("%s: exit code %d\n%s%s", command, code, out, errors)
				}
			}
			out, errors, _ := sessctl(t, "check", "--format", "json", url)
			if !strings.Contains(flat(out+errors), tt.want) {
				t.Errorf("no %q in\n%s%s", tt.want, out, errors)
			}
		})
	}
}

// TestZones: what a JVM in another zone stored goes back in time, and the cause is told, in a
// file with the same rows, too.
func TestZones(t *testing.T) {
	url, _ := load(t, "spring-ai-session-0.8")
	execute(t, url, "update ai_session_event set timestamp = timestamp - interval '2 hours' where seq = (select max(seq) from ai_session_event where session_id = 'clean')")
	args := []string{"check", "--format", "json", "--severity", "info", "--select", "SC015", "--session", "clean"}
	out, errors, code := sessctl(t, append(args, url)...)
	if !strings.Contains(out, `"items": [`) || !strings.Contains(out, "JVMs in different zones can cause this") || code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	alike(t, url, twin(t, url), append(args, "STORE")...)
}

package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

func TestAStoreThatChangesMeanwhileIsReadOnceMore(t *testing.T) {
	tests := []struct {
		name    string
		changes int // of the store, one a reading
		reads   int
		note    string
		class   problem.Class
	}{
		{"quiet", 0, 1, "", 0},
		{"once", 1, 2, "it was read once more", 0},
		{"always", 9, 2, "it was read once more", problem.Busy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			db, err := agenttest.Create(path, agenttest.Latest)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			p, stderr := testProgram()
			reads := 0
			err = p.readStore(t.Context(), path, func(*registry.Opened) error {
				reads++
				if reads > tt.changes {
					return nil
				}
				later := time.Now().Add(time.Duration(reads) * time.Hour)
				return os.Chtimes(path, later, later)
			})
			if reads != tt.reads || problem.ClassOf(err) != tt.class {
				t.Errorf("got %d reads and %v, want %d and class %d", reads, err, tt.reads, tt.class)
			}
			if !strings.Contains(strings.Join(strings.Fields(stderr.String()), " "), tt.note) {
				t.Errorf("stderr: got %q, want %q", stderr, tt.note)
			}
		})
	}
}

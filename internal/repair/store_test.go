package repair_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// corpus holds databases that docker agent itself wrote, beside the module.
const corpus = "../../../shared/corpus/docker-agent"

// fromCorpus copies a database with its write-ahead log.
func fromCorpus(t *testing.T, name string) string {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("the corpus of recorded databases is not beside the module")
	}
	to := filepath.Join(t.TempDir(), "session.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		content, err := os.ReadFile(filepath.Join(corpus, name) + suffix)
		if os.IsNotExist(err) && suffix != "" {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// leakyStore builds a database with several damaged trees.
func leakyStore(t *testing.T, path string, options ...agenttest.Option) {
	t.Helper()
	db, err := agenttest.Create(path, 18, options...)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(6) {
		if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 12)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

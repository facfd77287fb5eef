package repair_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// planFile makes the plan for a store file.
func planFile(path string) (*repair.Plan, store.Kind, error) {
	opened, err := registry.Open(context.Background(), path, "", nil, store.Options{Deep: true})
	if err != nil {
		return nil, store.Kind{}, err
	}
	if opened.Facts().Writer == session.WriterUnknown {
		opened.Facts().Writer = session.WriterDead
	}
	plan, _, err := repair.Make(context.Background(), opened.Store, repair.Options{Prologue: opened.Kind.Prologue})
	return plan, opened.Kind, errors.Join(err, opened.Close())
}

// repairFile repairs a store in place, as the command does. The receipt is nil
// when there was nothing to do.
func repairFile(path string) (*repair.Plan, *repair.Receipt, error) {
	plan, kind, err := planFile(path)
	if err != nil || plan.Empty() {
		return plan, nil, err
	}
	ed, err := kind.Edit(context.Background(), path)
	if err != nil {
		return plan, nil, err
	}
	apply := repair.Apply{Backup: path + ".backup", Receipt: path + ".receipt.json", Prologue: kind.Prologue}
	receipt, err := apply.Run(context.Background(), ed, plan)
	return plan, receipt, errors.Join(err, ed.Close())
}

// undoFile takes a repair back.
func undoFile(path, receipt string) (int, error) {
	r, err := repair.ReadReceipt(receipt)
	if err != nil {
		return 0, err
	}
	for _, kind := range registry.Kinds {
		if kind.Name == r.Store.Kind {
			ed, err := kind.Edit(context.Background(), path)
			if err != nil {
				return 0, err
			}
			n, err := repair.Undo(context.Background(), ed, r)
			return n, errors.Join(err, ed.Close())
		}
	}
	return 0, errors.New("no such kind")
}

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

package goose_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// reported is a copy of a store as a report describes it.
func reported(t *testing.T, folder, name string) string {
	return storetest.Corpus("../../../../shared/cases/reports/"+folder).Copy(t, name)
}

// TestHiddenResult: a result that only the model sees stays one in its own row.
func TestHiddenResult(t *testing.T) {
	path := reported(t, "goose-fork-with-worker", "copied-with-worker")
	storetest.Change(t, path, `update messages set role = 'assistant', metadata_json = '{"userVisible":false,"agentVisible":true}' where id = 10`)
	repairtest.Twice(t, path, storetest.Dump)
}

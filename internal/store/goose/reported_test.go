package goose_test

import (
	"fmt"
	"slices"
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

// TestFork: a copied session whose calls name the sub-agent of the original is healthy, and a
// sub-agent that calls of two times name is shared, whatever their ids.
func TestFork(t *testing.T) {
	for want, change := range map[string]string{
		"[]":             "select 1",
		"[error SC727 ]": "update messages set created_timestamp = created_timestamp + 60 where session_id = '20261122_3'",
	} {
		path := reported(t, "goose-fork-with-worker", "copied-with-worker")
		storetest.Change(t, path, change)
		if found := fmt.Sprint(storetest.Findings(t, path)); found != want {
			t.Errorf("%s: found %s, want %s", change, found, want)
		}
	}
}

// TestNoUTF8: bytes that are no text are told, and a repair puts U+FFFD in their place.
func TestNoUTF8(t *testing.T) {
	path := reported(t, "no-utf8", "goose-tools-messages-content_json")
	if found := storetest.Findings(t, path); !slices.Equal(found, []string{"error SC606 "}) {
		t.Errorf("found %q", found)
	}
	const said = "select json_extract(content_json, '$[0].text') from messages where id = 1"
	if _, got := repairtest.Twice(t, path, storetest.Dump, said); !slices.Equal(got, []string{"Plea\uFFFD\uFFFDse go on #t1"}) {
		t.Errorf("got %q", got)
	}
	for column, text := range map[string]string{"content_json": "42", "metadata_json": "user"} { // of a result in the wrong session
		path := corpus.Copy(t, "delegate")
		storetest.Change(t, path, fmt.Sprintf("update messages set %[1]s = cast(replace(cast(%[1]s as blob), '%[2]s', x'fe') as text), session_id = '20261122_1' where id = 7", column, text))
		if found := storetest.Findings(t, path); !slices.Equal(found, []string{"error SC702 ", "info SC606 "}) {
			t.Errorf("%s: found %q", column, found)
		}
		repairtest.Twice(t, path, storetest.Dump)
	}
	path = corpus.Copy(t, "tools") // what the digest of a message does not have
	storetest.Change(t, path, "update messages set metadata_json = cast(replace(cast(metadata_json as blob), 'fake', x'fe') as text) where id = 8")
	repairtest.Twice(t, path, storetest.Dump)
	path = corpus.Copy(t, "tools")
	storetest.Change(t, path, "update sessions set name = cast(x'616fff' as text)")
	if found := storetest.Findings(t, path); !slices.Equal(found, []string{"error SC606 "}) {
		t.Errorf("found %q", found)
	}
}

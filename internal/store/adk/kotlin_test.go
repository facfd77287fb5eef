package adk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// kotlinStore makes a database of adk-kotlin with one session "s" and events, each an id, a
// time and the members of its document besides.
func kotlinStore(t *testing.T, events ...[3]string) string {
	t.Helper()
	path := created(t, adktest.K1, adktest.Session{ID: "s"})
	for _, e := range events {
		execute(t, path, fmt.Sprintf(`insert into StorageEvent values ('%[1]s', 'app', 'u', 's', 'e-1', %[2]s, '{"id":"%[1]s","author":"a","invocationId":"e-1",%[3]s,"timestamp":%[2]s}')`,
			e[0], e[1], strings.ReplaceAll(e[2], "'", "''")))
		execute(t, path, "update StorageSession set updateTime = "+e[1])
	}
	return path
}

// What adk-kotlin reads of an event, by its HistoryRewriterProcessor.
func TestWhatKotlinSends(t *testing.T) {
	said := func(parts string) string { return `"content":{"role":"model","parts":[` + parts + `]}` }
	for name, tc := range map[string]struct {
		members string
		sent    bool
		faults  []session.FaultKind
	}{
		"a text":                        {said(`{"text":"x"}`), true, nil},
		"a blank text":                  {said(`{"text":" "}`), false, nil},
		"a thought":                     {said(`{"text":"x","thought":true}`), false, nil},
		"a signature, as a list":        {said(`{"thoughtSignature":[1,-2,127]}`), true, nil},
		"a picture, as a list":          {said(`{"inlineData":{"mimeType":"image/png","data":[-119,80,78,71]}}`), true, nil},
		"what it does not know":         {said(`{"executableCode":{"code":"x"}}`), false, nil},
		"a transcription":               {`"outputTranscription":{"text":"x"}`, false, nil},
		"a question to a person":        {said(`{"functionCall":{"id":"c","name":"adk_request_confirmation","args":{}}}`), false, nil},
		"a request for input":           {said(`{"functionCall":{"id":"c","name":"adk_request_input","args":{}}}`), true, nil},
		"a text that is a number":       {said(`{"text":5}`), true, []session.FaultKind{session.Undecodable}},
		"null for a truth":              {`"partial":null,` + said(`{"text":"x"}`), true, []session.FaultKind{session.Undecodable}},
		"a summary that ends too early": {`"actions":{"compaction":{"startTimestamp":9,"endTimestamp":5,"compactedContent":{"parts":[{"text":"x"}]}}}`, false, []session.FaultKind{session.BadSummary}},
	} {
		t.Run(name, func(t *testing.T) {
			facts, sessions := storetest.Opened(t, kotlinStore(t, [3]string{"e1", "1795400000100", tc.members}))
			s := sessions["s"]
			var faults []session.FaultKind
			for _, f := range s.Faults {
				faults = append(faults, f.Kind)
				if !f.Unloads {
					t.Errorf("adk-kotlin does not load the session: %+v", f)
				}
			}
			it := &s.Items[0]
			if sent := it.OnWire() && it.Flags&session.Unshown == 0; facts.Generation != "K1" || sent != tc.sent || !slices.Equal(faults, tc.faults) {
				t.Errorf("%s: sent %v, faults %v", facts.Generation, sent, s.Faults)
			}
		})
	}
}

// Events of one time come in the order of their ids, whenever they were written.
func TestTiesOfKotlin(t *testing.T) {
	said := `"content":{"role":"model","parts":[{"text":"x"}]}`
	_, sessions := storetest.Opened(t, kotlinStore(t, [3]string{"b", "1795400000100", said}, [3]string{"c", "1795400000100", said}, [3]string{"a", "1795400000100", said}))
	var keys []string
	for _, it := range sessions["s"].Items {
		keys = append(keys, it.Key)
	}
	if got := strings.Join(keys, " "); got != "s/a s/b s/c" {
		t.Errorf("order %s", got)
	}
}

// Of two summaries, the one with the longer span stands for both.
func TestSummariesOfKotlin(t *testing.T) {
	covers := func(from, to, text string) string {
		return fmt.Sprintf(`"actions":{"compaction":{"startTimestamp":%s,"endTimestamp":%s,"compactedContent":{"role":"model","parts":[{"text":"%s"}]}}}`, from, to, text)
	}
	said := `"content":{"role":"model","parts":[{"text":"x"}]}`
	_, sessions := storetest.Opened(t, kotlinStore(t,
		[3]string{"e1", "1795400000100", said}, [3]string{"e2", "1795400000200", covers("1795400000100", "1795400000100", "short")},
		[3]string{"e3", "1795400000300", said}, [3]string{"e4", "1795400000400", covers("1795400000100", "1795400000300", "long")}, [3]string{"e5", "1795400000500", said}))
	var sent []string
	for _, it := range sessions["s"].Items {
		if it.OnWire() || it.Kind == session.Summary && it.Flags&session.Compacted == 0 {
			sent = append(sent, it.Key)
		}
	}
	if got := strings.Join(sent, " "); strings.Count(got, " ") != 1 || !strings.Contains(got, "e4") || !strings.Contains(got, "e5") {
		t.Errorf("sent: %s", got)
	}
}

// A database whose hash of the schema is another one is read, and not repaired.
func TestNewerRoom(t *testing.T) {
	path := kotlinStore(t, [3]string{"e1", "1795400000100", `"content":{"role":"model","parts":[{"functionCall":{"id":"c","name":"t","args":{}}}]}`})
	execute(t, path, "update room_master_table set identity_hash = 'another'")
	plan, receipt, err := repairtest.Repair(path)
	if err == nil || receipt != nil || plan.Findings[0].Rule.ID != "SC002" {
		t.Errorf("%v\n%s", err, told(plan))
	}
}

// The newest event's time stays that of the session: by it a runtime sees that others wrote.
func TestRepairOfKotlin(t *testing.T) {
	path := kotlinStore(t, [3]string{"e1", "1795400000100", `"content":{"role":"model","parts":[{"functionCall":{"id":"c","name":"t","args":{}}}]}`})
	before := dump(t, path)
	plan, receipt, err := repairtest.Repair(path)
	if err != nil || receipt == nil {
		t.Fatalf("%v\n%s", err, told(plan))
	}
	got := query(t, path, "select updateTime, (select max(timestamp) from StorageEvent), (select eventData ->> '$.content.parts[0].functionResponse.id' from StorageEvent order by timestamp desc) from StorageSession")
	if want := []string{"1795400000101", "1795400000101", "c"}; !slices.Equal(got[0], want) {
		t.Errorf("%q, want %q", got[0], want)
	}
	stable(t, path, before, receipt)
}

// TestCorpusOfKotlin reads the database of the corpus, which was made by hand.
func TestCorpusOfKotlin(t *testing.T) {
	data, err := os.ReadFile("../../../../shared/corpus/adk-kotlin/adk_sessions.db")
	if err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/adk-kotlin)")
	}
	path := filepath.Join(t.TempDir(), "adk_sessions.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := storetest.Findings(t, path); len(found) != 1 || !strings.Contains(found[0], "SC101") {
		t.Errorf("found %q", found)
	}
}

//go:build unix

package postgres_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	difference "github.com/google/go-cmp/cmp"
)

// TestPlacesAreNotPrinted: nothing that is said of a row depends on where it lies, which any
// change of it changes.
func TestPlacesAreNotPrinted(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	execute(t, url, "alter table events drop constraint fk_sessions_events", "alter table events drop constraint events_pkey", "alter table sessions drop constraint sessions_pkey",
		"insert into sessions select * from sessions where id = 'tool'",
		"insert into events select * from events where session_id = 'tool'",
		"insert into events (id, app_name, user_id, session_id, timestamp, actions) select '', 'shop', 'u', 'nested', now(), '{}' from generate_series(1, 3)",
		"insert into events (id, app_name, user_id, session_id, timestamp, actions) select 'x' || n, 'shop', 'u', 'gone', now(), '{}' from generate_series(1, 3) n")
	said := func() string {
		out, errors, _ := sessctl(t, "check", "--format", "json", "--severity", "info", url)
		if place := regexp.MustCompile(`#\d{3,}|row \d`).FindString(out); place != "" {
			t.Errorf("a place is printed: %s", place)
		}
		var report struct {
			Findings []struct{ Rule, Session, Key, Message, Fingerprint string }
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatal(err, errors)
		}
		text, _ := json.MarshalIndent(report.Findings, "", " ")
		return string(text)
	}
	before := said()
	for _, want := range []string{`tool#2"`, `nested/#2"`, `3 rows of session`} {
		if !strings.Contains(before, want) {
			t.Errorf("no %q in %s", want, before)
		}
	}
	execute(t, url, "create table t as select * from events", "delete from events", "vacuum events", "insert into events select * from t")
	execute(t, url, "create table other as select * from generate_series(1, 1000)", "insert into sessions select * from sessions limit 0")
	if diff := difference.Diff(before, said()); diff != "" {
		t.Error(diff)
	}
}

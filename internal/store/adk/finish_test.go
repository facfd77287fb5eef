package adk

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// conversation finishes a session of PS documents, one a second, and prints what
// became of each event: "." for one that is sent.
func conversation(events ...string) (string, *session.Session) {
	s, notes := &session.Session{ID: "s"}, &notes{}
	for i, e := range events {
		it := session.Item{Shared: &session.Shared{Table: tableEvents}, Key: fmt.Sprint(i)}
		at := 1000 + i
		r := row{"timestamp": float64(at), "event_data": fmt.Sprintf(`{"timestamp":%d,"author":"a",%s}`, at, e)}
		ps.decodeItem(r.columns, &it, false, notes)
		s.Items = append(s.Items, it)
	}
	notes.finishSession(s)
	var b strings.Builder
	for i := range s.Items {
		b.WriteString(fate(&s.Items[i]))
	}
	return b.String(), s
}

func fate(it *session.Item) string {
	switch {
	case it.Flags.Has(session.Rewound):
		return "R"
	case it.Flags.Has(session.Compacted):
		return "C"
	case it.Kind == session.Summary:
		return "S"
	case it.Kind == session.Other:
		return "-"
	}
	return "."
}

func said(invocation string) string {
	return `"invocation_id":"` + invocation + `","content":{"role":"model","parts":[{"text":"x"}]}`
}

func rewind(to string) string {
	return `"invocation_id":"r","actions":{"rewind_before_invocation_id":"` + to + `"}`
}

func summary(from, to int) string {
	return fmt.Sprintf(`"actions":{"compaction":{"start_timestamp":%d,"end_timestamp":%d,"compacted_content":{"role":"model","parts":[{"text":"sum"}]}}}`, 1000+from, 1000+to)
}

func TestRewind(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []string
		want   string
	}{
		{"back to the second of three", []string{said("1"), said("2"), said("2"), said("3"), rewind("2"), said("4")}, ".RRRR."},
		{"back to the start", []string{said("1"), said("2"), rewind("1")}, "RRR"},
		{"to one that is not there", []string{said("1"), rewind("9"), said("2")}, ".R."},
		{"a rewind that is annulled annuls nothing", []string{said("1"), said("2"), said("3"), rewind("2"), rewind("3")}, "..RRR"},
		{"two rewinds", []string{said("1"), said("2"), rewind("2"), said("3"), rewind("3")}, ".RRRR"},
		{"over a summary", []string{said("1"), said("2"), summary(0, 1), rewind("2")}, ".RRR"},
	} {
		if got, _ := conversation(tc.events...); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestCompaction(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []string
		want   string
		kept   int64
	}{
		{"everything before", []string{said("1"), said("1"), summary(0, 1), said("2")}, "CCS.", 0},
		{"a start in the middle", []string{said("1"), said("1"), said("1"), said("2"), summary(2, 3), said("3")}, "..CCS.", 1},
		{"adk-python sends nothing between a summary and what it covers", []string{said("1"), said("2"), said("3"), summary(0, 1), said("4")}, "CCCS.", 0},
		{"overlapping", []string{said("1"), said("2"), summary(0, 1), said("3"), summary(1, 3), said("4")}, "CCSCS.", 0},
		{"a span that makes no sense covers nothing", []string{said("1"), said("2"), summary(1, 0), said("3")}, "..S.", 1},
	} {
		got, s := conversation(tc.events...)
		if last := s.LastSummary(); got != tc.want || s.Items[last].KeptFrom() != tc.kept {
			t.Errorf("%s: got %s, kept from %d", tc.name, got, s.Items[last].KeptFrom())
		}
	}
}

// TestCompactionOnALocalClock has P0's columns with the clock of a server that is
// five hours and three quarters behind UTC or before it, and a summary in UTC.
func TestCompactionOnALocalClock(t *testing.T) {
	for _, zone := range []int64{0, -20_700, 20_700} {
		s := &session.Session{ID: "s"}
		for i := range 6 {
			s.Items = append(s.Items, session.Item{Key: fmt.Sprint(i), Role: session.User, Time: time.Unix(100_000+int64(i)+zone, 0)})
		}
		s.Items[4].Kind = session.Summary
		notes := &notes{}
		notes.keepNote("4", note{summary: &span{start: time.Unix(100_001, 0), end: time.Unix(100_003, 0), open: true, local: true}})
		notes.finishSession(s)
		got := ""
		for i := range s.Items {
			got += fate(&s.Items[i])
		}
		if got != ".CCCS." {
			t.Errorf("%d seconds from UTC: got %s", zone, got)
		}
	}
}

// TestSpan has the rule of adk-java and of the branches of adk-go (docs/stores/adk.md#what-an-agent-sees): what lies
// within the span, except for the events that the summary says it left out.
func TestSpan(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	c := span{start: at(10), end: at(20), except: []excluded{{"e-1", at(15)}}}
	for _, tc := range []struct {
		at         int64
		invocation string
		want       bool
	}{{9, "", false}, {10, "", true}, {20, "", true}, {21, "", false}, {15, "e-1", false}, {15, "e-2", true}} {
		if got := c.coversItem(&session.Item{Time: at(tc.at), Shared: &session.Shared{Invocation: tc.invocation}}, true); got != tc.want {
			t.Errorf("second %d of %q: %v", tc.at, tc.invocation, got)
		}
	}
}

func TestWaitingCalls(t *testing.T) {
	call := func(id string, waits bool) string {
		ids := `[]`
		if waits {
			ids = `["` + id + `"]`
		}
		return `"long_running_tool_ids":` + ids + `,"content":{"role":"model","parts":[{"function_call":{"id":"` + id + `","name":"f"}}]}`
	}
	result := func(id, status string) string {
		return `"content":{"role":"user","parts":[{"function_response":{"id":"` + id + `","name":"f","response":{"status":"` + status + `"}}}]}`
	}
	for _, tc := range []struct {
		name   string
		events []string
		want   string // of each result
	}{
		{"pending, then final", []string{call("1", true), result("1", "pending"), result("1", "done")}, "pending final"},
		{"three", []string{call("1", true), result("1", "pending"), result("1", "half"), result("1", "done")}, "pending pending final"},
		{"pending alone", []string{call("1", true), result("1", "pending")}, "final"},
		{"no long-running call", []string{call("1", false), result("1", "a"), result("1", "b")}, "final final"},
		{"the id again", []string{call("1", true), result("1", "a"), call("1", true), result("1", "b")}, "final final"},
		{"another call's", []string{call("1", true), result("1", "a"), result("2", "b")}, "final final"},
	} {
		_, s := conversation(tc.events...)
		var got []string
		for i := range s.Items {
			for _, r := range s.Items[i].Results {
				got = append(got, map[bool]string{true: "pending", false: "final"}[r.Pending])
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, got, tc.want)
		}
	}
}

func TestMixedDialects(t *testing.T) {
	const (
		naked  = "2026-11-20 21:40:00.000001"
		zoned  = naked + "+00:00"
		camel  = `{"stateDelta":{},"artifactDelta":{}}`
		pascal = `{"StateDelta":{},"ArtifactDelta":{}}`
	)
	event := func(at, actions string) row { return row{"timestamp": at, "actions": []byte(actions)} }
	document := func(at any, text string) row { return row{"timestamp": at, "event_data": text} }
	for _, tc := range []struct {
		name string
		gen  generation
		rows []row
		want string
	}{
		{"one writer", g2, []row{event(zoned, camel), event(zoned, camel)}, ""},
		{"one writer, the older one throughout", g2, []row{event(zoned, pascal), event(zoned, pascal)}, ""},
		{"an upgrade of adk-go", g2, []row{event(zoned, pascal), event(zoned, camel), event(zoned, camel)}, "1 of 3 events have " + pascalCase},
		{"times of Python", g2, []row{event(zoned, camel), event(naked, camel)}, "1 of 2 events have " + nakedTimes},
		{"pickles", g1, []row{event(zoned, pascal), event(zoned, "\x80\x05N.")}, "1 of 2 events have " + pickles},
		{"a newer adk-go in an older table", g1, []row{event(zoned, pascal), event(zoned, camel)}, "1 of 2 events have " + camelCase},
		{"JSON among pickles", p0, []row{event(naked, "\x80\x05N."), event(naked, camel)}, "1 of 2 events have " + jsonActions},
		{"times of Go", p0, []row{event(naked, "\x80\x05N."), event(zoned, "\x80\x05N.")}, "1 of 2 events have " + zonedTimes},
		{"camel among snakes", p1, []row{document(naked, `{"invocation_id":"1"}`), document(naked, `{"invocationId":"1"}`)}, "1 of 2 events have " + camelMembers},
		{"adk-js among adk-python", p1, []row{document(naked, `{"invocation_id":"1","timestamp":1795210800.000001}`), document(naked, `{"invocation_id":"1","timestamp":1795210800000}`)},
			"1 of 2 events have " + wholeTime},
		{"adk-js alone", p1, []row{document(zoned, `{"invocation_id":"1","timestamp":1795210800000}`), document(zoned, `{"invocation_id":"1","timestamp":1795210800000}`)}, ""},
		{"both in PostgreSQL", p1, []row{document(zoned, `{"invocation_id":"1","timestamp":1795210800.000001}`), document(zoned, `{"invocation_id":"1","timestamp":1795210800000}`)},
			"1 of 2 events have " + wholeTime},
		{"PostgreSQL's times throughout", p1, []row{document(zoned, `{"invocation_id":"1"}`), document(naked+"+00", `{"invocation_id":"1"}`)}, ""},
		{"PostgreSQL's times among others", p1, []row{document(zoned, `{"invocation_id":"1"}`), document(naked, `{"invocation_id":"1"}`)}, "1 of 2 events have " + awareTimes},
		{"texts among numbers", ps, []row{document(1.5, `{"invocation_id":"1"}`), document(naked, `{"invocation_id":"1"}`)}, "1 of 2 events have " + textTimes},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, notes := &session.Session{ID: "s"}, &notes{}
			for i, r := range tc.rows {
				it := session.Item{Shared: &session.Shared{Table: tableEvents}, Key: fmt.Sprint(i)}
				tc.gen.decodeItem(r.columns, &it, false, notes)
				s.Items = append(s.Items, it)
			}
			notes.finishSession(s)
			got := ""
			for _, f := range s.Faults {
				got += f.Detail
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestNotesAreForgotten: memory does not follow the events that nobody asks for again.
func TestNotesAreForgotten(t *testing.T) {
	s, n := &session.Session{ID: "s"}, &notes{}
	for i := range 3 {
		it := session.Item{Shared: &session.Shared{Table: tableEvents}, Key: fmt.Sprint(i)}
		r := row{"timestamp": float64(i), "event_data": `{"author":"a","invocationId":"i"}`}
		ps.decodeItem(r.columns, &it, false, n)
		if n.loadNote(&it).dialect == "" {
			t.Error("the event has no dialect")
		}
		s.Items = append(s.Items, it)
	}
	n.finishSession(s)
	n.byKey.Range(func(key, value any) bool {
		t.Errorf("%v is kept: %+v", key, value)
		return true
	})
}

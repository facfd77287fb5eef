package crush_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/storetest"
)

// said leaves out the reminder that Crush puts before the first message.
func said(r *storetest.Request) []string {
	return slices.DeleteFunc(r.Said(), func(line string) bool { return strings.HasPrefix(line, `user "<system_reminder>`) })
}

// late is a state with a result behind the answer to it, beside what Crush sent.
const late = storetest.Corpus("../../../../shared/cases/reports/crush-late-result-is-sent")

// holds holds what view says of the next request against the last one that is recorded; "What
// now?" was the user's next message.
func holds(t *testing.T, in storetest.Corpus, name, requests string) {
	t.Helper()
	list := in.Requests(t, requests)
	sent := said(&list[len(list)-1])
	if next := sent[len(sent)-1]; !strings.HasPrefix(next, `user "What now?`) {
		t.Fatalf("the last message is %s", next)
	}
	if diff := cmp.Diff(sent[:len(sent)-1], storetest.Foretold(t, in.Copy(t, name), storetest.Say(false))[0]); diff != "" {
		t.Errorf("-sent +view:\n%s", diff)
	}
}

// TestSent holds what view says of the next request against what Crush sent when it
// resumed the session.
func TestSent(t *testing.T) {
	for _, requests := range corpus.Names(t) {
		name, resumed := strings.CutSuffix(requests, "-resumed")
		if resumed || strings.HasSuffix(name, ".repaired") {
			t.Run(requests, func(t *testing.T) { holds(t, corpus, name, requests) })
		}
	}
	for _, name := range late.Names(t) {
		t.Run(name, func(t *testing.T) { holds(t, late, name, name) })
	}
}

// TestWrongPlace: Crush asks only if a message has the other half of a pair, so a result in
// the wrong place, and a second one, reach the provider, also beside a call that it answers.
func TestWrongPlace(t *testing.T) {
	const (
		open  = "delete from messages where parts like '%\"tool_result\"%call_t_0_2%'"
		early = "update messages set created_at = created_at - 60 where parts like '%\"tool_result\"%call_t_0_0%'"
		back  = "delete from messages where parts like '%\"tool_result\"%call_t_0_0%'"
		twice = `insert into messages (id, session_id, role, parts, model, created_at, updated_at)
			select 'another', session_id, role, parts, model, created_at, updated_at from messages where parts like '%"tool_result"%call_t_0_1%'`
	)
	for _, tt := range []struct {
		name, want string
		change     []string
	}{
		{"late", "refused", nil},
		{"late, and a call without a result", "refused", []string{open}},
		{"early", "refused", []string{early}},
		{"twice", "refused", []string{back, twice}},
		{"calls without results alone", "loses", []string{back, open}},
	} {
		path := late.Copy(t, "late-result")
		storetest.Change(t, path, tt.change...)
		if got := storetest.Outlooks(t, path); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestSentAll(t *testing.T) {
	corpus.SentAll(t, said, storetest.Say(false), map[string]string{"compaction/0": "a summary stands for it now"})
	late.SentAll(t, said, storetest.Say(false), nil)
}

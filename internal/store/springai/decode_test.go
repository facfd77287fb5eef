package springai_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

var flagNames = []struct {
	flag session.Flags
	name string
}{
	{session.Archived, "archived"}, {session.SummaryTurn, "summary"}, {session.Blank, "blank"}, {session.BlankText, "blank text"},
	{session.TrailingSpace, "trailing space"}, {session.EmptyCalls, "empty calls"}, {session.NullText, "null text"},
}

// describe describes what an item says, in one line.
func describe(it *session.Item) string {
	parts := []string{it.Kind.String() + " " + it.Role.String()}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	add("agent", it.Agent())
	add("model", it.Model())
	add("branch", it.Branch())
	add("text", fmt.Sprintf("%q", it.Body.Text))
	for _, c := range it.Calls {
		add("call", fmt.Sprintf("%s %s(%s) %d", c.ID, c.Name, c.Args, c.Form))
	}
	for _, r := range it.Results {
		add("result", fmt.Sprintf("%s %s %s null:%t synthetic:%t error:%t", r.CallID, r.Name, r.Text, r.Null, r.Synthetic, r.IsError))
	}
	for _, f := range flagNames {
		if it.Flags.Has(f.flag) {
			parts = append(parts, f.name)
		}
	}
	return strings.Join(parts, " ")
}

var faultNames = map[session.FaultKind]string{
	session.RequiredNull: "RequiredNull", session.BadMetadata: "BadMetadata", session.BadTime: "BadTime", session.Undecodable: "Undecodable",
	session.BadUnicode: "BadUnicode", session.CopiesDiffer: "CopiesDiffer", session.SchemaUnknown: "SchemaUnknown",
	session.OrphanRecord: "OrphanRecord", session.Housekeeping: "Housekeeping",
}

// faults are the faults of a session, one in a line.
func faults(list []session.Fault) []string {
	var all []string
	for _, f := range list {
		line := fmt.Sprintf("%d %s %s: %s", f.Item, faultNames[f.Kind], f.Field, f.Detail)
		if f.Default != nil {
			line += " -> " + *f.Default
		}
		all = append(all, line)
	}
	return all
}

func TestItems(t *testing.T) {
	for _, tt := range []struct {
		name  string
		event springtest.Event
		want  string
	}{
		{"user", springtest.User("hi").On("orch"), `message user branch=orch text="hi"`},
		{"user without text", springtest.Event{Type: "USER", NoText: true}, `message user text="" blank`},
		{"system", springtest.Event{Type: "SYSTEM", Text: "be nice "}, `message system text="be nice " trailing space`},
		{"answer", springtest.Assistant("hi"), `message assistant text="hi"`},
		{"data of a user is passed over", springtest.Event{Type: "USER", Text: "x", Data: "[{"}, `message user text="x"`},
		{"calls", springtest.Calling("a", "b"),
			`message assistant text="" call=a get_weather({"location":"Paris"}) 0 call=b get_weather({"location":"Paris"}) 0`},
		{"calls in another order of members", springtest.Event{Type: "ASSISTANT", Data: ` [{"partial":true,"name":"f","arguments":7,"id":"a","id":"b"}] `},
			`message assistant text="" call=b f(7) 1`},
		{"no arguments", springtest.Event{Type: "ASSISTANT", Data: `[{"id":"a","name":"f","arguments":null}]`},
			`message assistant text="" call=a f() 0`},
		{"broken arguments", springtest.Event{Type: "ASSISTANT", Data: `[{"id":"a","name":"f","arguments":"{"}]`},
			`message assistant text="" call=a f({) 2`},
		{"empty list of calls", springtest.Event{Type: "ASSISTANT", Text: "hi", Data: `[]`}, `message assistant text="hi" empty calls`},
		{"blank data", springtest.Event{Type: "ASSISTANT", Text: " ", Data: ` `},
			`message assistant text=" " blank blank text trailing space`},
		{"responses", springtest.Responding("a", "b"),
			`message tool text="" result=a get_weather {"temp":"22C","call":"a"} null:false synthetic:false error:false` +
				` result=b get_weather {"temp":"22C","call":"b"} null:false synthetic:false error:false`},
		{"response without text", springtest.Event{Type: "TOOL", Data: `[{"id":"a","name":"f"}]`},
			`message tool text="" result=a f  null:true synthetic:false error:false`},
		{"a repair's response", springtest.Event{Type: "TOOL", Data: `[{"id":"a","name":"f","responseData":"[sessctl] none"}]`},
			`message tool text="" result=a f [sessctl] none null:false synthetic:true error:true`},
		{"no responses", springtest.Event{Type: "TOOL"}, `message tool text="" blank`},
		{"archived", springtest.Event{Type: "USER", Text: "x", Archived: true}, `message user text="x" archived`},
		{"summary by its column", springtest.Event{Type: "USER", Text: "x", Synthetic: true}, `message user text="x" summary`},
		{"a summary for its metadata alone", springtest.Event{Type: "USER", Text: "x", Metadata: `{"synthetic":true}`}, `message user text="x"`},
		{"a summary for both", springtest.Event{Type: "USER", Text: "x", Synthetic: true, Metadata: `{"synthetic":true}`}, `message user text="x" summary`},
		{"agent and model", springtest.Event{Type: "ASSISTANT", Text: "x", Metadata: `{"agentName":"res\u0065archer","model":"gpt-5","agent":7}`},
			`message assistant agent=researcher model=gpt-5 text="x"`},
		{"nobody's agent", springtest.Event{Type: "USER", Text: "x", Metadata: `{"agent":"researcher"}`}, `message user text="x"`},
		{"unknown type", springtest.Event{Type: "user", Text: "x"}, `other  text="x"`},
		{"emoji", springtest.Event{Type: "TOOL", Data: `[{"id":"a","name":"f","responseData":"\ud83d\ude00\n\"\\ud83d"}]`},
			"message tool text=\"\" result=a f 😀\n\"\\ud83d null:false synthetic:false error:false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := t.TempDir() + "/sessions.db"
			db, err := springtest.Create(path, springtest.Form{})
			if err != nil {
				t.Fatal(err)
			}
			db.Session("S")
			db.Append("S", tt.event)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s := trees(t, path)[0].Root()
			if diff := cmp.Diff(tt.want, describe(&s.Items[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const (
	event = "update ai_session_event set "
	own   = "update ai_session set "
)

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name      string
		statement string
		want      []string
	}{
		{"none", "", nil},
		{"no owner", own + "user_id = null", []string{"-1 RequiredNull user_id: The session is not found among any user's sessions. -> default-user"}},
		{"no version", own + "event_version = null",
			[]string{"-1 RequiredNull event_version: It never increases, so no compaction is stored. -> 0"}},
		{"no creation", own + "created_at = null", []string{"-1 RequiredNull created_at: The session cannot be loaded. -> 2026-05-04 09:00:01.253000"}},
		{"bad creation", own + "created_at = 'today'",
			[]string{"-1 BadTime created_at: it is not in the form 2026-02-03 09:56:40 -> 2026-05-04 09:00:01.253000"}},
		{"bad end", own + "expires_at = '0001-01-01 00:00:00'", []string{"-1 BadTime expires_at: its year is 1"}},
		{"an end that is an empty text, as NULL is in a CSV file", own + "expires_at = ''", nil},
		{"seconds", event + "timestamp = 1770000000 where rowid = 2",
			[]string{"1 BadTime timestamp: read as milliseconds, its year is 1970 -> 2026-05-04 09:00:01.253000"}},
		{"no time", event + "timestamp = null where rowid = 1",
			[]string{"0 RequiredNull timestamp: The session cannot be loaded. -> 2026-05-04 09:00:02.256000"}},
		{"metadata of the session", own + "metadata = '{'", []string{"-1 BadMetadata metadata: it is not a JSON object -> {}"}},
		{"metadata of an event", event + "metadata = '[1]' where rowid = 1", []string{"0 BadMetadata metadata: it is not a JSON object -> {}"}},
		{"null as metadata", event + "metadata = 'null' where rowid = 1",
			[]string{"0 BadMetadata metadata: it is null, on which the runtime fails -> {}"}},
		{"no metadata", event + "metadata = null", nil},
		{"archived is NULL", event + "archived = null where rowid = 1",
			[]string{"0 RequiredNull archived: The event is not sent any more, as if it were archived. -> false"}},
		{"archived is a word", event + "archived = 'maybe' where rowid = 1", []string{"0 BadMetadata archived: it is neither true nor false"}},
		{"synthetic is NULL", event + "synthetic = null where rowid = 1",
			[]string{"0 RequiredNull synthetic: Queries without summaries omit the event, too. -> false"}},
		{"type is NULL", event + "message_type = null where rowid = 1",
			[]string{"0 Undecodable message_type: it is not USER, ASSISTANT, SYSTEM or TOOL, in capital letters"}},
		{"G12 arguments that are no text", event + `message_data = '[{"id":"a","name":"f","arguments":{}}]' where rowid = 2`,
			[]string{"1 Undecodable message_data: it is not a list of calls or responses; the runtime goes on with an empty one"}},
		{"G12 no list", event + `message_data = '{}' where rowid = 2`,
			[]string{"1 Undecodable message_data: it is not a list of calls or responses; the runtime goes on with an empty one"}},
		{"G14 metadata only", event + `metadata = '{"synthetic":true}' where rowid = 1`,
			[]string{"0 CopiesDiffer synthetic: metadata.synthetic is true and the column is not: queries go by the column, the program by the metadata"}},
		{"G14 column against metadata", event + `metadata = '{"synthetic":false}', synthetic = 1 where rowid = 1`,
			[]string{"0 CopiesDiffer synthetic: the column is true and metadata.synthetic is false: the runtime uses the column"}},
		{"G14 column only", event + `synthetic = 1 where rowid = 1`, nil},
		{"G14 text in metadata", event + `metadata = '{"synthetic":"true"}' where rowid = 1`,
			[]string{"0 BadMetadata metadata: its member synthetic is neither true nor false, on which the program fails"}},
		{"G14 text in metadata and column", event + `metadata = '{"synthetic":"true"}', synthetic = 1 where rowid = 1`,
			[]string{"0 CopiesDiffer synthetic: the column is true and metadata.synthetic is neither true nor false: the runtime uses the column"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := t.TempDir() + "/sessions.db"
			db, err := springtest.Create(path, springtest.Form{Loose: true})
			if err != nil {
				t.Fatal(err)
			}
			db.Session("S")
			db.Append("S", springtest.User("hi"), springtest.Assistant("hi"))
			if tt.statement != "" {
				db.ChangeRow(tt.statement)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, faults(trees(t, path)[0].Root().Faults)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOrder reads what two compactions left (docs/stores/spring-ai-session.md#the-known-ways-to-damage-a-session) in the order of the library.
func TestOrder(t *testing.T) {
	path := built(t, t.TempDir(), "f5", springtest.Form{})
	s := trees(t, path)[0].Root()
	var texts, flags []string
	for i := range s.Items {
		texts = append(texts, s.Items[i].Body.Text)
		flags = append(flags, fmt.Sprint(s.Items[i].Flags.Has(session.Archived))[:1])
	}
	if got := strings.Join(texts, " ") + " " + strings.Join(flags, ""); got != "m1 m2 s1 m3 m4 s2 m5 m6 tttttfff" {
		t.Errorf("got %s", got)
	}
}

// TestOrderNumbers reads a session of more than nine events, whatever type its
// numbers have.
func TestOrderNumbers(t *testing.T) {
	for _, kind := range []string{"BIGINT", "TEXT", "REAL", "BLOB"} {
		path := t.TempDir() + "/sessions.db"
		db, err := springtest.Create(path, springtest.Form{Plain: true})
		if err != nil {
			t.Fatal(err)
		}
		db.Session("S")
		for i := range 12 {
			db.Append("S", springtest.User(fmt.Sprint(i)))
		}
		db.Exec("CREATE TABLE other AS SELECT *, cast(seq AS " + kind + ") AS number FROM ai_session_event ORDER BY id DESC")
		db.Exec("DROP TABLE ai_session_event")
		db.Exec("ALTER TABLE other DROP COLUMN seq")
		db.Exec("ALTER TABLE other RENAME COLUMN number TO seq")
		db.Exec("ALTER TABLE other RENAME TO ai_session_event")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s := trees(t, path)[0].Root()
		for i := range s.Items {
			if s.Items[i].Body.Text != fmt.Sprint(i) || s.Items[i].Position != int64(i+1) {
				t.Errorf("%s: at %d stands %q, %d", kind, i, s.Items[i].Body.Text, s.Items[i].Position)
			}
		}
	}
}

// TestTimes reads the forms in which times are stored.
func TestTimes(t *testing.T) {
	const want = "2026-02-03 09:56:40.123"
	for _, stored := range []any{
		"2026-02-03 09:56:40.123", "2026-02-03 09:56:40.123000", "2026-02-03T09:56:40.123", "2026-02-03T09:56:40.123Z",
		"2026-02-03 10:56:40.123+01", "2026-02-03 10:56:40.123+01:00", "2026-02-03T10:56:40.123+0100", "2026-02-03 10:56:40.123 +01:00",
		int64(1770112600123), []byte("2026-02-03 09:56:40.123"), 1770112600123.0, "1770112600123",
	} {
		path := built(t, t.TempDir(), "healthy", springtest.Form{})
		db := plain(t, path)
		if _, err := db.Exec("update ai_session_event set timestamp = ?", stored); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s := trees(t, path)[0].Root()
		if got := s.Items[0].Time.UTC().Format("2006-01-02 15:04:05.999"); got != want || len(s.Faults) > 0 {
			t.Errorf("%v: got %s, %v", stored, got, faults(s.Faults))
		}
	}
}

// TestStoreFaults are those of tables and of events without a session.
func TestStoreFaults(t *testing.T) {
	for _, tt := range []struct {
		name, statement, want string
		readOnly              bool
	}{
		{"as a release has it", "", "", false},
		{"a column too many", "alter table ai_session_event add column color text", `not read: column "color" of ai_session_event. A repair is safe`, false},
		{
			"a column too many that counts", "alter table ai_session_event add column turn integer; update ai_session_event set turn = 1",
			`sessctl does not know what column "turn" of ai_session_event means for its rows`, true,
		},
		{"a column too few", "alter table ai_session drop column expires_at", "ai_session lacks expires_at", true},
		{"half migrated", "alter table ai_session_event drop column archived", "ai_session_event lacks archived", true},
		{"G18", "delete from ai_session", `of session "S", which does not exist`, false},
		{"version", "update ai_session set event_version = 2", "event_version is lower than the number of messages in 1 of the sessions", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := built(t, t.TempDir(), "healthy", springtest.Form{})
			if tt.statement != "" {
				change(t, path, tt.statement)
			}
			facts := opened(t, path)
			got := strings.Join(faults(facts.Faults), "\n")
			if !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("got %s", got)
			}
			if (facts.ReadOnly != "") != tt.readOnly {
				t.Errorf("read only: %q", facts.ReadOnly)
			}
		})
	}
}

// TestGenerations tells the generations apart, and how seq is given out.
func TestGenerations(t *testing.T) {
	for _, tt := range []struct {
		form       springtest.Form
		generation string
		renumbers  bool
		readOnly   string
	}{
		{springtest.Form{}, "0.6.0", true, ""},
		{springtest.Form{Upper: true, Words: true}, "0.6.0", true, ""},
		{springtest.Form{Plain: true}, "0.6.0", false, ""},
		{springtest.Form{Unnamed: true}, "0.6.0", false, "each seq must be unique"},
		{springtest.Form{Copied: true, Loose: true, Plain: true}, "0.6.0", false, ""},
		{springtest.Form{ByTime: true}, "0.1.0", false, ""},
	} {
		facts := opened(t, built(t, t.TempDir(), "healthy", tt.form))
		if facts.Generation != tt.generation || facts.Renumbers != tt.renumbers || !strings.HasPrefix(facts.ReadOnly, tt.readOnly) ||
			(facts.ReadOnly == "") != (tt.readOnly == "") {
			t.Errorf("%+v: generation %s, renumbers %t, read only %q", tt.form, facts.Generation, facts.Renumbers, facts.ReadOnly)
		}
		if !slices.Equal([]string{facts.BranchModel, facts.PrefixReaders}, []string{"path", ""}) || !facts.LikeFilter || !facts.RootSummaries || facts.ForeignText {
			t.Errorf("%+v", facts)
		}
	}
}

// TestDeletedHistory: where a compaction deleted messages, the counter of writes tells.
func TestDeletedHistory(t *testing.T) {
	for name, tt := range map[string]struct {
		form    springtest.Form
		writes  int // of 6 messages
		summary bool
		told    bool
	}{
		"all are there":             {springtest.Form{ByTime: true}, 6, false, false},
		"a repair counted on":       {springtest.Form{ByTime: true}, 9, false, false},
		"most are gone":             {springtest.Form{ByTime: true}, 41, false, true},
		"a summary":                 {springtest.Form{ByTime: true}, 9, true, true},
		"a summary, counted anew":   {springtest.Form{ByTime: true}, 0, true, false},
		"archived, and not deleted": {springtest.Form{}, 41, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := built(t, t.TempDir(), "healthy", tt.form)
			change(t, path, fmt.Sprint("update ai_session set event_version = ", tt.writes))
			if tt.summary {
				change(t, path, "update ai_session_event set synthetic = true where message_content in ('weather?', 'thanks')")
			}
			told := slices.ContainsFunc(trees(t, path)[0].Root().Faults, func(f session.Fault) bool { return f.Kind == session.HistoryDeleted })
			if told != tt.told {
				t.Errorf("told: %t", told)
			}
		})
	}
}

package canonical_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

const sessionP = `{"type":"session","id":"P"}`

var digest = session.DigestOf[string]

func TestReadItem(t *testing.T) {
	tests := []struct {
		name, line string
		want       session.Item // without row, position, meaning and raw bytes
	}{
		{"user", `{"type":"item","session":"P","kind":"message","role":"user","agent":"root","text":"q"}`,
			session.Item{Role: session.User, Text: digest("q"), Body: &session.Body{Text: "q"}}},
		{"everything a message can have", `{"type":"item","session":"P","kind":"message","role":"assistant","agent":"a","branch":"r.a","invocation":"i","time":"2026-03-02T10:00:00.000000001+01:00","text":"t","reasoning":"r","implicit":true,"archived":true,"synthetic":true,"unfinished":true,"skipped":true}`,
			session.Item{Role: session.Assistant, Shared: &session.Shared{Agent: "a", Branch: "r.a", Invocation: "i"}, Text: digest("t"),
				Time:   time.Date(2026, 3, 2, 9, 0, 0, 1, time.UTC),
				Flags:  session.Implicit | session.Archived | session.Synthetic | session.Unfinished | session.Skipped,
				Blocks: []session.Block{{Kind: session.ReasoningBlock, Text: digest("r")}, {}},
				Body:   &session.Body{Text: "t", Reasoning: "r"}}},
		{"null is absent", `{"type":"item","session":"P","kind":"message","role":"assistant","text":null,"time":null,"branch":null,"calls":null,"media":null,"blocks":null,"signature":null,"empty_calls":null}`,
			session.Item{Role: session.Assistant, Flags: session.Blank, Body: &session.Body{}}},
		{"developer", `{"type":"item","session":"P","kind":"message","role":"developer","text":"x"}`,
			session.Item{Role: session.System, Text: digest("x"), Body: &session.Body{Text: "x"}}},
		{"blank", `{"type":"item","session":"P","kind":"message","role":"assistant","text":" \u3000\n","reasoning":"r"}`,
			session.Item{Role: session.Assistant, Flags: session.Blank | session.BlankText | session.TrailingSpace, Text: digest(" \u3000\n"),
				Blocks: []session.Block{{Kind: session.ReasoningBlock, Text: digest("r")}, {Blank: true}}, Body: &session.Body{Text: " \u3000\n", Reasoning: "r"}}},
		{"media", `{"type":"item","session":"P","kind":"message","role":"user","media":true}`,
			session.Item{Role: session.User, Blocks: []session.Block{{Kind: session.MediaBlock}}, Body: &session.Body{}}},
		{"known delegation", `{"type":"item","session":"P","kind":"message","role":"assistant","calls":[{"id":"T","name":"transfer_task","args":"{\"agent\":\"w\",\"task\":\"do\"}"}]}`,
			session.Item{Role: session.Assistant, Body: &session.Body{}, Calls: []session.Call{{ID: "T", Name: "transfer_task", Args: `{"agent":"w","task":"do"}`,
				Delegation: &session.Delegation{Agent: "w", Task: digest("do"), Blocking: true}}}}},
		{"given delegation", `{"type":"item","session":"P","kind":"message","role":"assistant","calls":[{"id":"T","name":"my_tool","args":"{\"request\":\"do\"}","delegation":{"agent":"w","child":"C","blocking":false,"task":"do"}}]}`,
			session.Item{Role: session.Assistant, Body: &session.Body{}, Calls: []session.Call{{ID: "T", Name: "my_tool", Args: `{"request":"do"}`,
				Delegation: &session.Delegation{Agent: "w", Task: digest("do"), Child: "C"}}}}},
		{"delegation completed from the arguments", `{"type":"item","session":"P","kind":"message","role":"assistant","calls":[{"id":"T","name":"my_tool","args":{"subagent_type":"w","prompt":"do"},"delegation":{}}]}`,
			session.Item{Role: session.Assistant, Body: &session.Body{}, Calls: []session.Call{{ID: "T", Name: "my_tool", Args: `{"subagent_type":"w","prompt":"do"}`,
				Delegation: &session.Delegation{Agent: "w", Task: digest("do"), Blocking: true}}}}},
		{"known tool that delegates nothing", `{"type":"item","session":"P","kind":"message","role":"assistant","calls":[{"id":"T","name":"task","args":"","delegation":null}]}`,
			session.Item{Role: session.Assistant, Body: &session.Body{}, Calls: []session.Call{{ID: "T", Name: "task"}}}},
		{"background delegation", `{"type":"item","session":"P","kind":"message","role":"assistant","calls":[{"id":"T","name":"run_background_agent","args":"{"}]}`,
			session.Item{Role: session.Assistant, Body: &session.Body{}, Calls: []session.Call{{ID: "T", Name: "run_background_agent", Args: "{", Form: session.ArgsBroken, Delegation: &session.Delegation{}}}}},
		{"result", `{"type":"item","session":"P","kind":"message","role":"tool","agent":"a","results":[{"call":"T","name":"n","text":"r","error":true,"pending":true}]}`,
			session.Item{Role: session.Tool, Shared: &session.Shared{Agent: "a"}, Text: digest("r"), Body: &session.Body{},
				Results: []session.Result{{CallID: "T", Name: "n", Text: "r", Digest: digest("r"), IsError: true, Pending: true}}}},
		{"placeholders, given and recognised", `{"type":"item","session":"P","kind":"message","role":"tool","results":[{"call":"A","text":"x","synthetic":true},{"call":"B","text":"No result provided"}]}`,
			session.Item{Role: session.Tool, Body: &session.Body{}, Results: []session.Result{
				{CallID: "A", Text: "x", Digest: digest("x"), Synthetic: true},
				{CallID: "B", Text: "No result provided", Digest: digest("No result provided"), Synthetic: true}}}},
		{"sub-session", `{"type":"item","session":"P","kind":"sub_session","child":"P"}`,
			session.Item{Kind: session.SubSession, Shared: &session.Shared{Child: "P"}, Body: &session.Body{}}},
		{"sub-session that is gone", `{"type":"item","session":"P","kind":"sub_session","child":"X"}`,
			session.Item{Kind: session.SubSession, Shared: &session.Shared{Child: "X"}, Flags: session.Dangling | session.Skipped, Body: &session.Body{}}},
		{"sub-session that has items and no line", `{"type":"item","session":"X","kind":"sub_session","child":"P"}` + "\n" + `{"type":"item","session":"P","kind":"sub_session","child":"X"}`,
			session.Item{Kind: session.SubSession, Shared: &session.Shared{Child: "X"}, Flags: session.Dangling | session.Skipped, Body: &session.Body{}}},
		{"summary", `{"type":"item","session":"P","kind":"summary","text":"s","kept_from":3,"branch":"r"}`,
			session.Item{Kind: session.Summary, Shared: &session.Shared{Branch: "r", KeptFrom: 3}, Text: digest("s"), Body: &session.Body{Text: "s"}}},
		{"other", `{"type":"item","session":"P","kind":"other","raw":{"error":1}}`,
			session.Item{Kind: session.Other, Body: &session.Body{}}},
		{"token branch", `{"type":"item","session":"P","kind":"message","role":"user","text":"q","branch":{"tokens": [1, 3]}}`,
			session.Item{Role: session.User, Shared: &session.Shared{Branch: `{"tokens":[1,3]}`}, Text: digest("q"), Body: &session.Body{Text: "q"}}},
		{"fork branch", `{"type":"item","session":"P","kind":"message","role":"user","text":"q","branch":{"active_forks":{"1":[[0],3]}}}`,
			session.Item{Role: session.User, Shared: &session.Shared{Branch: `{"active_forks":{"1":[[0],3]}}`}, Text: digest("q"), Body: &session.Body{Text: "q"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := readOne(t, sessionP, tt.line)
			if f := showFaults(s.Faults); f != "" {
				t.Errorf("faults:\n%s", f)
			}
			got := s.Items[0]
			if !strings.HasSuffix(tt.line, string(got.Body.Raw)) {
				t.Errorf("raw bytes %s", got.Body.Raw)
			}
			diff := cmp.Diff(tt.want, got,
				treetest.AlikeShared, cmpopts.IgnoreFields(session.Shared{}, "Table"), cmpopts.IgnoreFields(session.Item{}, "Key", "Meaning", "Size"),
				cmpopts.IgnoreFields(session.Body{}, "Raw"), cmpopts.EquateEmpty())
			if diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRowsAndPositions(t *testing.T) {
	item := func(id string) string {
		return `{"type":"item","session":"` + id + `","kind":"message","role":"user","text":"q"}` + "\n"
	}
	// B's items come before B's line, and C is interleaved.
	text := header + `{"type":"session","id":"A"}` + "\n" + item("A") + item("B") +
		`{"type":"session","id":"B"}` + "\n" + item("A") + `{"type":"session","id":"C"}` + "\n" + item("C") + item("B")
	want := map[string][]string{"A": {"0", "2"}, "B": {"1", "4"}, "C": {"3"}}
	for _, tree := range outlines(t, openStream(t, text)) {
		s := tree.Root()
		for i, it := range s.Items {
			if it.Table() != "items" || it.Key != want[s.ID][i] || it.Position != int64(i) || it.Body != nil {
				t.Errorf("item %d of %s: %+v", i, s.ID, it)
			}
		}
		if len(s.Items) != len(want[s.ID]) {
			t.Errorf("session %s has %d items", s.ID, len(s.Items))
		}
	}
}

// The outline keeps no texts, and can be read again after it was handed out.
func TestTreesTwice(t *testing.T) {
	st := openStream(t, header+sessionP+"\n"+
		`{"type":"item","session":"P","kind":"message","role":"assistant","text":"t","calls":[{"id":"A","name":"n","args":"{}"}],"results":[{"call":"A","text":"r"}]}`)
	first, second := outlines(t, st), filled(t, st)
	it := first[0].Root().Items[0]
	if it.Body != nil || it.Calls[0].Args != "" || it.Results[0].Text != "" {
		t.Errorf("the outline keeps texts: %+v", it)
	}
	it = second[0].Root().Items[0]
	if it.Body.Text != "t" || it.Calls[0].Args != "{}" || it.Results[0].Text != "r" {
		t.Errorf("the body lacks texts: %+v", it)
	}
	if string(second[0].Root().Raw) != sessionP {
		t.Errorf("the session's raw bytes are %s", second[0].Root().Raw)
	}
}

func TestTask(t *testing.T) {
	first := func(role, text string) string {
		return `{"type":"item","session":"P","kind":"message","role":"` + role + `","text":"` + text + `"}`
	}
	tests := []struct {
		name, session, item, want string
	}{
		{"user message", sessionP, first("user", "do it"), "do it"},
		{"system message", sessionP, first("system", "do it"), "do it"},
		{"tagged", sessionP, first("system", `Team.\n<task>\ndo\nit\n</task>\nmore`), "do\nit"},
		{"quotes the closing tag", sessionP, first("user", `<task>\nwrite\n</task>\nlast\n</task>`), "write\n</task>\nlast"},
		{"tag that does not end", sessionP, first("system", `<task>\ndo`), "<task>\ndo"},
		{"assistant first", sessionP, first("assistant", "do it"), ""},
		{"no item", sessionP, "", ""},
		{"given", `{"type":"session","id":"P","task":"that"}`, first("user", "do it"), "that"},
		{"given as none", `{"type":"session","id":"P","task":""}`, first("user", "do it"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := readOne(t, tt.session, tt.item).Task; got != digest(tt.want) {
				t.Errorf("the task is not %q", tt.want)
			}
		})
	}
}

// Items mean the same exactly when they say the same.
func TestMeaning(t *testing.T) {
	base := `"kind":"message","role":"assistant","agent":"a","text":"t","reasoning":"r","calls":[{"id":"A","name":"n","args":"{}"}],"results":[{"call":"A","text":"x"}]`
	item := func(members string) session.Digest {
		return readOne(t, sessionP, `{"type":"item","session":"P",`+members+`}`).Items[0].Meaning
	}
	same := item(base)
	for _, members := range []string{
		base + `,"time":"2026-03-02T09:00:00Z"`,
		base + `,"raw":{"usage":1}`,
		base + `,"unknown":1`,
		strings.Replace(base, `"text":"t"`, `"text":"\u0074"`, 1),
	} {
		if item(members) != same {
			t.Errorf("%s means something else", members)
		}
	}
	seen := map[session.Digest]string{same: base}
	for _, change := range []string{
		`message→summary`, `assistant→tool`, `assistant→narrator`, `assistant→singer`, `"a"→"b"`, `"t"→"u"`, `"r"→"s"`,
		`"A","name"→"B","name"`, `"n"→"m"`, `{}→{ }`, `"call":"A"→"call":"B"`, `"x"→"y"`, `"x"→"x","error":true`,
		`"role"→"media":true,"role"`,
	} {
		from, to, _ := strings.Cut(change, "→")
		members := strings.Replace(base, from, to, 1)
		d := item(members)
		if other, ok := seen[d]; ok {
			t.Errorf("%s means the same as %s", members, other)
		}
		seen[d] = members
	}
}

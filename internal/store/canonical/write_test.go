package canonical_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

// A stream that is read and written is the same bytes: unknown members, large
// numbers, escapes, white space within lines, and damage that names its session.
const odd = `{"type":"header","format":"sessctl.canonical/1","kind":"k","new":{"a":12345678901234567890}}
{"type":"session","id":"P","x_new":[1e400,"\u00e9"],"title":"t","raw":{"n":1.0}}
{ "type":"item", "session":"P", "kind":"message","role":"user","text":"\u003cq\u003e","x_new":12345678901234567890 }
{"type":"item","session":"P","kind":"message","role":"assistant","calls":[{"id":"A","name":"n","args":{"a":1},"x":1}],"results":[{"call":"A","text":"","y":2}]}
{"type":"item","session":"P","kind":"message","role":"user","text":"a","text":"b"}
{"type":"item","session":"P","kind":"message","role":"user","text":5}
{"type":"item","session":"P","kind":"picture","raw":{"k":1,"k":2}}
{"type":"item","session":"P","kind":"sub_session","child":"gone"}
`

func TestSameBytes(t *testing.T) {
	text := odd + "{\"type\":\"item\",\"session\":\"P\",\"kind\":\"message\",\"role\":\"user\",\"text\":\"\xff\"}\n"
	if got := export(t, openStream(t, text), canonical.WriteOptions{}); got != text {
		t.Errorf("got\n%swant\n%s", got, text)
	}
}

// Redaction decodes and encodes lines: members that it does not know survive,
// with their values hidden.
func TestUnknownMembersSurviveEncoding(t *testing.T) {
	got := export(t, openStream(t, odd), canonical.WriteOptions{Redact: true})
	for _, want := range []string{
		`"new":{"a":11111111111111111111}`, `"x_new":[11111,"xx"]`, `"x_new":11111111111111111111`, `"x":1`, `"y":1`, `"raw":{"n":111}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// exported writes one item of another store and returns its line.
func exported(t *testing.T, it session.Item) string {
	t.Helper()
	tree := &session.Tree{Sessions: []*session.Session{{ID: "P", Items: []session.Item{it}}}}
	lines := strings.Split(hashLine(t, canonical.Header{}, []*session.Tree{tree}, canonical.WriteOptions{}), "\n")
	return lines[2]
}

func TestStoredRecord(t *testing.T) {
	deep := strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999)
	tests := []struct{ name, raw, want string }{
		{"JSON", `{"id": 12345678901234567890, "s":"\u00e9\/<", "f":1.50}`, `,"raw":{"id":12345678901234567890,"s":"\u00e9\/<","f":1.50}}`},
		{"over several lines", "{\n\t\"a\": 1\n}", `,"raw":{"a":1}}`},
		{"none", "", `"text":"q"}`},
		{"no JSON", "oops", `,"raw_base64":"b29wcw=="}`},
		{"two values", "1,2", `,"raw_base64":"MSwy"}`},
		{"doubled name", `{"a":1,"a":2}`, `,"raw_base64":"` + base64.StdEncoding.EncodeToString([]byte(`{"a":1,"a":2}`)) + `"}`},
		{"no UTF-8", "\"\xff\"", `,"raw_base64":"Iv8i"}`},
		{"as deep as it fits", deep, `,"raw":` + deep + `}`},
		{"deeper", "[" + deep + "]", `,"raw_base64":"` + base64.StdEncoding.EncodeToString([]byte("["+deep+"]")) + `"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := session.Item{Role: session.User, Body: &session.Body{Text: "q", Raw: []byte(tt.raw)}}
			if got := exported(t, it); !strings.HasSuffix(got, tt.want) {
				t.Errorf("line %.200s", got)
			}
		})
	}
}

func TestDelegationIsWritten(t *testing.T) {
	tests := []struct {
		name string
		call session.Call
		want string
	}{
		{"task in the usual argument", session.Call{Name: "f", Args: `{"task":"do"}`, Delegation: &session.Delegation{Agent: "w", Task: digest("do"), Blocking: true}},
			`"delegation":{"agent":"w","blocking":true}}`},
		{"task in another argument", session.Call{Name: "f", Args: `{"x":{"request":"d\u006f"}}`, Delegation: &session.Delegation{Task: digest("do"), Child: "C"}},
			`"delegation":{"agent":"","child":"C","blocking":false,"task":"do"}}`},
		{"task that is nowhere", session.Call{Name: "f", Args: `{"x":1}`, Delegation: &session.Delegation{Task: digest("do")}},
			`"delegation":{"agent":"","blocking":false}}`},
		{"no task", session.Call{Name: "task", Args: `{"task":"do"}`, Delegation: &session.Delegation{}},
			`"delegation":{"agent":"","blocking":false,"task":""}}`},
		{"known tool that delegates nothing", session.Call{Name: "task", Args: `{}`}, `"delegation":null}`},
		{"ordinary tool", session.Call{Name: "f", Args: `{}`}, `"args":"{}"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := exported(t, session.Item{Role: session.Assistant, Calls: []session.Call{tt.call}, Body: &session.Body{}})
			if !strings.Contains(got, tt.want) {
				t.Errorf("line %s, want %s", got, tt.want)
			}
		})
	}
}

// Bytes that are not UTF-8 cannot be in JSON. The writer says how many lines
// that changed.
func TestReplaced(t *testing.T) {
	var out strings.Builder
	w, err := canonical.NewWriter(&out, canonical.Header{}, canonical.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bad := "a\xffb"
	s := &session.Session{ID: "P", Title: bad, Items: []session.Item{
		{Role: session.User, Body: &session.Body{Text: bad, Raw: []byte("{\"t\":\"" + bad + "\"}")}},
		{Role: session.Assistant, Shared: &session.Shared{Branch: bad}, Body: &session.Body{}, Calls: []session.Call{{Args: bad, Delegation: &session.Delegation{Agent: bad}}}},
		{Role: session.User, Body: &session.Body{Text: "good"}},
	}}
	if err := errors.Join(w.WriteSession(s), w.Flush()); err != nil {
		t.Fatal(err)
	}
	if w.Replaced() != 3 {
		t.Errorf("%d lines replaced, want 3", w.Replaced())
	}
	st := openStream(t, out.String())
	if f := showFaults(append(st.Facts().Faults, outlines(t, st)[0].Root().Faults...)); f != "" {
		t.Errorf("faults: %s", f)
	}
	if !strings.Contains(out.String(), base64.StdEncoding.EncodeToString([]byte("{\"t\":\""+bad+"\"}"))) {
		t.Errorf("the stored bytes are lost: %s", out.String())
	}
}

func TestWriterWantsBodies(t *testing.T) {
	w, err := canonical.NewWriter(&strings.Builder{}, canonical.Header{}, canonical.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = w.WriteSession(&session.Session{ID: "P", Items: []session.Item{{Key: "7", Role: session.User}}})
	if err == nil || err.Error() != "item 7 of session P cannot be written: its body was not loaded" {
		t.Errorf("error %v", err)
	}
	st := openStream(t, odd)
	w, err = canonical.NewWriter(&strings.Builder{}, canonical.HeaderOf(st), canonical.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err = w.WriteSession(outlines(t, st)[0].Root()); err == nil {
		t.Error("an outline was written")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriterReportsErrors(t *testing.T) {
	w, err := canonical.NewWriter(fullDisk{}, canonical.Header{}, canonical.WriteOptions{})
	if err == nil {
		err = w.Flush()
	}
	if err == nil || err.Error() != "no space left" {
		t.Errorf("error %v", err)
	}
}

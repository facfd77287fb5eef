package canonical_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/canonical"
)

const private = `{"type":"header","format":"sessctl.canonical/1","kind":"k","note":"SECRET"}
{"type":"session","id":"P","app":"app","user":"SECRET","title":"SECRET plan","agent":"root","created":"SECRET","task":"SECRET","raw":{"cwd":"/SECRET"},"note":"SECRET"}
{"type":"item","session":"P","kind":"message","role":"user","time":"2026-03-02T09:00:00Z","text":"a SECRET","raw":"SECRET"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","branch":"root","invocation":"i","text":" \n","reasoning":"SECRET é","calls":[{"id":"T1","name":"transfer_task","args":"{\"agent\": \"worker\", \"task\": \"SECRET\\nline\", \"n\": -42.5e1, \"deep\": [{\"SECRET\\u0021\": true}]}","note":"SECRET"},{"id":"T2","name":"my_tool","args":"not JSON SECRET","delegation":{"agent":"w","task":"SECRET","note":"SECRET"}}]}
{"type":"item","session":"P","kind":"sub_session","child":"C"}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"T1","name":"transfer_task","text":"SECRET result","note":"SECRET"},{"call":"T2","text":"No result provided"}]}
{"type":"item","session":"P","kind":"summary","text":"SECRET sum"}
{"type":"item","session":"P","kind":"SECRET kind","role":"SECRET","branch":["SECRET"],"raw_base64":"SECRETSE"}
{"type":"item","session":"P","kind":"message","role":"SECRET","text":"q","time":"SECRET"}
{"type":"item","session":"P","kind":"message","role":"user","text":["SECRET"]}
{"type":"session","id":"C","parent":"P","title":{"a":"SECRET"}}
{"type":"item","session":"C","kind":"message","role":"system","text":"SECRET team\n<task>\nSECRET\nline\n</task>\nSECRET"}
{"type":"item","session":"C","kind":"message","role":"user","text":"SECRET
`

const redacted = `{"type":"header","format":"sessctl.canonical/1","kind":"k","note":"xxxxxx"}
{"type":"session","id":"P","app":"app","user":"xxxxxx","title":"xxxxxxxxxxx","agent":"root","created":"xxxxxx","task":"xxxxxx","raw":{"cwd":"xxxxxxx"},"note":"xxxxxx"}
{"type":"item","session":"P","kind":"message","role":"user","time":"2026-03-02T09:00:00Z","text":"xxxxxxxx","raw":"xxxxxx"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","branch":"root","invocation":"i","text":"  ","reasoning":"xxxxxxxxx","calls":[{"id":"T1","name":"transfer_task","args":"{\"agent\":\"xxxxxa\",\"task\":\"xxxxxxxxxxa\",\"n\":1111111,\"deep\":[{\"SECRET\\u0021\":true}]}         ","delegation":{"agent":"worker","blocking":true},"note":"xxxxxx"},{"id":"T2","name":"my_tool","args":"xxxxxxxxxxxxxxx","delegation":{"agent":"w","blocking":true,"task":"xxxxxx","note":"xxxxxx"}}]}
{"type":"item","session":"P","kind":"sub_session","child":"C"}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"T1","name":"transfer_task","text":"xxxxxxxxxxxxx","note":"xxxxxx"},{"call":"T2","text":"xxxxxxxxxxxxxxxxxx","synthetic":true}]}
{"type":"item","session":"P","kind":"summary","text":"xxxxxxxxxx"}
{"type":"item","session":"P","kind":"xxxxxxxxxxb","role":"xxxxxx","raw_base64":"xxxxxxxx"}
{"type":"item","session":"P","kind":"message","role":"xxxxxx","time":"xxxxxx","text":"x"}
{"type":"item","session":"P","kind":"other","raw_base64":"` + "RAW78" + `"}
{"type":"session","id":"C"}
{"type":"item","session":"C","kind":"message","role":"system","text":"xxxxxxxxxxx <task>\nxxxxxxxxxxa\n</task>xxxxxxa"}
{"type":"item","session":"C","kind":"other","raw_base64":"` + "RAW73" + `"}
`

// Everything that was said goes, every length and every key stays: the keys are
// the only place where the word is left.
func TestRedact(t *testing.T) {
	got := export(t, openStream(t, private), canonical.WriteOptions{Redact: true})
	want := strings.NewReplacer("RAW78", strings.Repeat("x", 4*26), "RAW73", strings.Repeat("x", 4*25)).Replace(redacted)
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		if i >= len(gotLines) || i >= len(wantLines) || gotLines[i] != wantLines[i] {
			t.Fatalf("line %d is\n%s\nall:\n%s", i+1, gotLines[min(i, len(gotLines)-1)], got)
		}
	}
	if n := strings.Count(got, "SECRET"); n != 1 {
		t.Errorf("SECRET is left %d times", n)
	}
	for i, line := range gotLines[:len(gotLines)-1] {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d is not valid JSON: %s", i+1, line)
		}
	}
}

// What is redacted once more stays as it is in form and length.
func TestRedactTwice(t *testing.T) {
	once := export(t, openStream(t, private), canonical.WriteOptions{Redact: true})
	twice := export(t, openStream(t, once), canonical.WriteOptions{Redact: true})
	if len(once) != len(twice) {
		t.Errorf("%d bytes, then %d", len(once), len(twice))
	}
}

// Texts stay equal or different, also when there are many of one length.
func TestRedactKeepsEquality(t *testing.T) {
	texts := []string{"yes", "yep", "yes", "word", strings.Repeat("a", 50), strings.Repeat("b", 50), "x", "{", "1"}
	var b strings.Builder
	b.WriteString(header + sessionP + "\n")
	for _, text := range texts {
		line, err := json.Marshal(map[string]any{"type": "item", "session": "P", "kind": "message", "role": "user", "text": text})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	st := openStream(t, export(t, openStream(t, b.String()), canonical.WriteOptions{Redact: true}))
	items := outlines(t, st)[0].Root().Items
	for i := range texts {
		for j := range texts {
			if (texts[i] == texts[j]) != (items[i].Meaning == items[j].Meaning) {
				t.Errorf("%q and %q", texts[i], texts[j])
			}
		}
	}
}

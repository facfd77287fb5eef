package canonical_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

// Damage is reported with its line, and everything else is read.
func TestFaults(t *testing.T) {
	const before = sessionP + "\n" // line 2
	const good = `{"type":"item","session":"P","kind":"message","role":"user","text":"q"}`
	item := func(members string) string {
		return before + `{"type":"item","session":"P",` + members + `}` + "\n" + good
	}
	tests := []struct {
		name, lines string
		items       int    // of session P
		want        string // faults of the stream, then those of P
	}{
		{"none", before + good, 1, ""},
		{"no JSON", before + "oops\n" + good, 1,
			"Undecodable line lines/3: line 3: invalid character 'o' at start of value\n"},
		{"no object", before + "[1]\n" + good, 1, "Undecodable line lines/3: line 3: no JSON object\n"},
		{"cut off before its session is known", before + `{"type":"item","ses` + "\n" + good, 1,
			"Undecodable line lines/3: line 3: unexpected EOF after offset 19\n"},
		{"cut off behind it", before + good + "\n" + `{"type":"item","session":"P","kind":"message","text":"hel`, 2,
			"Undecodable line items/1: line 4: unexpected EOF within \"/text\" after offset 57\n"},
		{"something behind the object", before + good + "x\n" + good, 2,
			"Undecodable line items/0: line 3: invalid character 'x' after top-level value after offset 71\n"},
		{"wrong type", item(`"kind":"message","role":"user","text":5`), 2,
			"Undecodable line items/0: line 3: \"/text\" holds a number, expected a string\n"},
		{"wrong type further in", item(`"kind":"message","role":"assistant","calls":[{"id":"A"},{"id":{}}]`), 2,
			"Undecodable line items/0: line 3: \"/calls/1/id\" holds an object, expected a string\n"},
		{"fraction", item(`"kind":"summary","text":"s","kept_from":1.5`), 2,
			"Undecodable line items/0: line 3: \"/kept_from\" holds a number, expected a whole number\n"},
		{"doubled name", item(`"kind":"message","role":"user","text":"a","text":"b"`), 2,
			"Undecodable line items/0: line 3: duplicate object member name \"text\"\n"},
		{"doubled name in raw", item(`"kind":"message","role":"user","text":"a","raw":{"k":1,"k":2}`), 2,
			"Undecodable line items/0: line 3: duplicate object member name \"k\" within \"/raw\"\n"},
		{"no UTF-8", item("\"kind\":\"message\",\"role\":\"user\",\"text\":\"a\xff\""), 2,
			"BadUnicode line items/0: line 3: invalid UTF-8 within \"/text\" after offset 69\n"},
		{"half a surrogate pair", item(`"kind":"message","role":"user","text":"\ud83d"`), 2,
			"BadUnicode line items/0: line 3: invalid surrogate pair within \"/text\" after offset 68\n"},
		{"unknown kind", item(`"kind":"picture"`), 2,
			"UnknownKind picture items/0: line 3: the kind \"picture\" is not message, sub_session, summary or other\n"},
		{"no kind", item(`"role":"user"`), 2,
			"UnknownKind  items/0: line 3: the kind \"\" is not message, sub_session, summary or other\n"},
		{"no UTF-8, and a doubled name", item("\"kind\":\"message\",\"role\":\"user\",\"text\":\"a\",\"text\":\"a\xff\""), 2,
			"Undecodable line items/0: line 3: duplicate object member name \"text\"\n"},
		{"half a surrogate pair in a reference", item(`"kind":"sub_session","child":"P","raw":"\ud83d"`), 2,
			"BadUnicode line items/0: line 3: invalid surrogate pair within \"/raw\" after offset 69\n"},
		{"session line that is no UTF-8", "{\"type\":\"session\",\"id\":\"P\",\"title\":\"\xff\"}\n" + good, 1,
			"BadUnicode line sessions/P: line 2: invalid UTF-8 within \"/title\" after offset 36\n"},
		{"unknown block", item(`"kind":"message","role":"user","text":"q","blocks":[{"type":"widget"}]`), 2,
			"UnknownPart widget items/0: line 3: the type of block \"widget\" is not text, reasoning, call, result or media\n"},
		{"block of no call", item(`"kind":"message","role":"assistant","calls":[{"id":"A"}],"blocks":[{"type":"call","nth":1}]`), 2,
			"UnknownPart call items/0: line 3: block 0 is not one of the item's calls, or is listed twice\n"},
		{"block listed twice", item(`"kind":"message","role":"tool","results":[{"call":"A"}],"blocks":[{"type":"result"},{"type":"result"}]`), 2,
			"UnknownPart result items/0: line 3: block 1 is not one of the item's results, or is listed twice\n"},
		{"block of a wrong form", item(`"kind":"message","role":"user","blocks":[{"type":"text","nth":"1"}]`), 2,
			"Undecodable line items/0: line 3: \"/blocks/0/nth\" holds a string, expected a whole number\n"},
		{"unknown role", item(`"kind":"message","role":"narrator","text":"q"`), 2,
			"UnknownPart narrator items/0: line 3: the role \"narrator\" is not user, assistant, tool or system\n"},
		{"bad time", item(`"kind":"message","role":"user","text":"q","time":"yesterday"`), 2,
			"BadTime time items/0: line 3: \"yesterday\" is not an RFC 3339 time\n"},
		{"number as time", item(`"kind":"message","role":"user","text":"q","time":1700000000`), 2,
			"BadTime time items/0: line 3: \"1700000000\" is not an RFC 3339 time\n"},
		{"long time", item(`"kind":"message","role":"user","text":"q","time":"` + strings.Repeat("é", 90) + `"`), 2,
			"BadTime time items/0: line 3: \"" + strings.Repeat("é", 40) + "…\" is not an RFC 3339 time\n"},
		{"bad branch", item(`"kind":"message","role":"user","text":"q","branch":7`), 2,
			"Undecodable branch items/0: line 3: branch: neither a string nor {\"tokens\":[…]} nor {\"active_forks\":{…}}\n"},
		{"bad delegation", item(`"kind":"message","role":"assistant","calls":[{"id":"A","name":"task","args":"","delegation":{"child":1}}]`), 2,
			"Undecodable delegation items/0: line 3: delegation: \"/child\" holds a number, expected a string\n"},
		{"unknown type", before + `{"type":"memo"}` + "\n" + good, 1,
			"UnknownKind memo lines/3: line 3: the type \"memo\" is not session, item or fault\n"},
		{"damage of the store", before + `{"type":"fault","session":"X","table":"t","key":"3","count":2,"detail":"rows 3 and 4 are lost"}` + "\n" + good, 1,
			"StoreDamaged  t/3: rows 3 and 4 are lost\n"},
		{"damage without words", before + `{"type":"fault"}` + "\n" + good, 1,
			"StoreDamaged  lines/3: line 3: the stream lacks something, but does not say what\n"},
		{"damage of a wrong form", before + `{"type":"fault","detail":7}` + "\n" + good, 1,
			"Undecodable line lines/3: line 3: \"/detail\" holds a number, expected a string\n" +
				"StoreDamaged  lines/3: line 3: the stream lacks something, but does not say what\n"},
		{"second header", before + header + good, 1,
			"Undecodable type lines/3: line 3: a second header, which is ignored: one stream has one header\n"},
		{"second session line", before + sessionP + "\n" + good, 1,
			"Undecodable id lines/3: line 3: the session \"P\" is already on line 2; this one is ignored\n"},
		{"session without id", before + `{"type":"session"}` + "\n" + good, 1,
			"Undecodable id lines/3: line 3: a session without an id\n"},
		{"unknown session", before + good + "\n" + `{"type":"item","session":"X","kind":"message"}` + "\n" + `{"type":"item","session":"X","kind":"message"}`, 1,
			"Undecodable session items/1: line 4: an item of session \"X\", which no line declares (items: 2)\n"},
		{"item without a session", before + `{"type":"item","kind":"message"}` + "\n" + good, 1,
			"Undecodable session items/0: line 3: an item of session \"\", which no line declares (items: 1)\n"},
		{"session line of a wrong form", `{"type":"session","id":"P","title":[]}` + "\n" + good, 1,
			"Undecodable line sessions/P: line 2: \"/title\" holds a list, expected a string\n"},
		{"session with bad times", `{"type":"session","id":"P","created":"0","updated":1}` + "\n" + good, 1,
			"BadTime created sessions/P: line 2: \"0\" is not an RFC 3339 time\n" +
				"BadTime updated sessions/P: line 2: \"1\" is not an RFC 3339 time\n"},
		{"parent of itself", `{"type":"session","id":"P","parent":"P"}` + "\n" + good, 1, "ParentCycle  sessions/P: P → P\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := openStream(t, header+tt.lines)
			s := filled(t, st)[0].Root()
			if diff := cmp.Diff(tt.want, showFaults(append(st.Facts().Faults, s.Faults...))); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if len(s.Items) != tt.items {
				t.Errorf("%d items, want %d", len(s.Items), tt.items)
			}
			for _, f := range s.Faults {
				if f.Item >= 0 && s.ItemRef(f.Item) != f.Ref {
					t.Errorf("fault %+v does not point to its item", f)
				}
			}
		})
	}
}

// What can be understood of a damaged line is used.
func TestDamagedLineIsUsed(t *testing.T) {
	s := readOne(t, sessionP,
		"{\"type\":\"item\",\"session\":\"P\",\"kind\":\"message\",\"role\":\"tool\",\"results\":[{\"call\":\"A\",\"text\":\"\xff\"}]}",
		`{"type":"item","session":"P","kind":"message","role":"user","text":[]}`)
	if it := s.Items[0]; it.Role != session.Tool || it.Results[0].CallID != "A" || it.Results[0].Text != "\ufffd" {
		t.Errorf("item with bad UTF-8: %+v", it)
	}
	if it := s.Items[1]; it.Kind != session.Other || it.OnWire() {
		t.Errorf("item of a wrong form: %+v", it)
	}
}

// Trees are closed under the references that items have, whatever a damaged line
// names first or last.
func TestDamagedReferences(t *testing.T) {
	const sessions = `{"type":"session","id":"P"}` + "\n" + `{"type":"session","id":"C"}` + "\n" + `{"type":"session","id":"D"}` + "\n"
	for _, members := range []string{
		`"kind":"sub_session","child":"C","child":"D"`,
		`"kind":"message","kind":"sub_session","child":"C"`,
		`"kind":"sub_session","kind":"message","role":"user","child":"C"`,
		`"kind":"sub_session","child":"C"}{`,
		`"kind":"sub_session","child":7`,
	} {
		trees := outlines(t, openStream(t, header+sessions+`{"type":"item","session":"P",`+members+`}`))
		it := trees[0].Root().Items[0]
		if len(trees) != 3 || it.Kind == session.SubSession || len(trees[0].Root().Faults) == 0 {
			t.Errorf("%s: %d trees, item %+v", members, len(trees), it)
		}
	}
}

func TestVeryDeep(t *testing.T) {
	deep := strings.Repeat("[", 1_000_000)
	for _, raw := range []string{deep, deep + strings.Repeat("]", len(deep))} {
		s := readOne(t, sessionP, `{"type":"item","session":"P","kind":"other","raw":`+raw+`}`)
		if len(s.Faults) != 1 || !strings.HasPrefix(s.Faults[0].Detail, "line 3: exceeded max depth") {
			t.Errorf("faults: %s", showFaults(s.Faults))
		}
	}
}

package canonical_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

func TestBlocks(t *testing.T) {
	sig, r := digest("sig"), digest("r")
	two := `"calls":[{"id":"A","name":"a","args":""},{"id":"B","name":"b","args":""}]`
	tests := []struct {
		name, members string
		want          []session.Block
	}{
		{"nothing to tell", `"role":"assistant","text":"t",` + two, nil},
		{"an empty list is none", `"role":"assistant","text":"t","blocks":[]`, nil},
		{"reasoning, in the usual order", `"role":"assistant","text":"t","media":true,"reasoning":"r",` + two,
			[]session.Block{{Kind: session.ReasoningBlock, Text: r}, {}, {Kind: session.MediaBlock}, {Kind: session.CallBlock}, {Kind: session.CallBlock, Nth: 1}}},
		{"signed", `"role":"assistant","reasoning":"r","signature":"sig"`, []session.Block{{Kind: session.ReasoningBlock, Text: r, Signature: sig}}},
		{"unsigned", `"role":"assistant","reasoning":"r","signature":""`, []session.Block{{Kind: session.ReasoningBlock, Text: r, Unsigned: true}}},
		{"a signature without a text", `"role":"assistant","signature":"sig"`, []session.Block{{Kind: session.ReasoningBlock, Signature: sig}}},
		{"ids of calls", `"role":"assistant","calls":[{"id":"A","name":"a","args":"","item_id":"fc_1","with":"rs_1"},{"id":"B","name":"b","args":"","signature":""}]`,
			[]session.Block{{Kind: session.CallBlock, ID: "fc_1", With: "rs_1"}, {Kind: session.CallBlock, Nth: 1, Unsigned: true}}},
		{"an order of its own", `"role":"assistant","text":" ","blocks":[{"type":"call","nth":1},{"type":"text"},{"type":"call","nth":0}],` + two,
			[]session.Block{{Kind: session.CallBlock, Nth: 1}, {Blank: true}, {Kind: session.CallBlock}}},
		{"numbers that are not given", `"role":"assistant","blocks":[{"type":"call"},{"type":"call"}],` + two,
			[]session.Block{{Kind: session.CallBlock}, {Kind: session.CallBlock, Nth: 1}}},
		{"what the list leaves out comes behind it", `"role":"assistant","text":"t","blocks":[{"type":"reasoning","id":"rs_1"}],` + two,
			[]session.Block{{Kind: session.ReasoningBlock, ID: "rs_1"}, {}, {Kind: session.CallBlock}, {Kind: session.CallBlock, Nth: 1}}},
		{"the list is completed", `"role":"assistant","reasoning":"r","signature":"sig","blocks":[{"type":"call","id":"fc_2"},{"type":"reasoning","id":"rs_1"}],
			"calls":[{"id":"A","name":"a","args":"","item_id":"fc_1","with":"rs_1"}]`,
			[]session.Block{{Kind: session.CallBlock, ID: "fc_2", With: "rs_1"}, {Kind: session.ReasoningBlock, ID: "rs_1", Text: r, Signature: sig}}},
		{"the text of several blocks is not that of the first", `"role":"assistant","reasoning":"r","blocks":[{"type":"reasoning","signature":"sig"},{"type":"reasoning","unsigned":true}]`,
			[]session.Block{{Kind: session.ReasoningBlock, Signature: sig}, {Kind: session.ReasoningBlock, Unsigned: true}}},
		{"media", `"role":"user","media":true,"blocks":[{"type":"media","name":"image","width":9000,"height":10,"cached":true}]`,
			[]session.Block{{Kind: session.MediaBlock, Name: "image", Width: 9000, Height: 10, Cached: true}}},
		{"a blank text among others", `"role":"user","text":"t","blocks":[{"type":"text","blank":true},{"type":"text"}]`, []session.Block{{Blank: true}, {}}},
		{"unknown", `"role":"user","text":"t","blocks":[{"type":"widget"},{"type":"unknown"}]`,
			[]session.Block{{Kind: session.UnknownBlock, Name: "widget"}, {Kind: session.UnknownBlock, Name: "unknown"}, {}}},
		{"a call that is not there", `"role":"assistant","blocks":[{"type":"call","nth":2},{"type":"call","nth":-1}],` + two,
			[]session.Block{{Kind: session.UnknownBlock, Name: "call"}, {Kind: session.UnknownBlock, Name: "call"}, {Kind: session.CallBlock}, {Kind: session.CallBlock, Nth: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := strings.ReplaceAll(`{"type":"item","session":"P","kind":"message",`+tt.members+`}`, "\n", "")
			if diff := cmp.Diff(tt.want, readOne(t, sessionP, line).Items[0].Blocks); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestContent(t *testing.T) {
	tests := []struct {
		name, members string
		flags         session.Flags
		size          int64
	}{
		{"text", `"role":"user","text":"aé"`, 0, 3},
		{"white space at the end", `"role":"assistant","text":"a\n"`, session.TrailingSpace, 2},
		{"white space beside a call", `"role":"assistant","text":" ","calls":[{"id":"A","name":"a","args":"{}"}]`, session.BlankText | session.TrailingSpace, 3},
		{"all that counts", `"role":"assistant","text":"ab","reasoning":"abc","signature":"abcd","calls":[{"id":"A","name":"a","args":"{}"}],"results":[{"call":"A","text":"abc"}]`, 0, 10},
		{"a size that is given", `"role":"user","text":"a","media":true,"size":90000`, 0, 90000},
		{"null", `"role":"user","text":null`, session.Blank | session.NullText, 0},
		{"null beside media", `"role":"user","text":null,"media":true`, 0, 0},
		{"null beside a result", `"role":"tool","text":null,"results":[{"call":"A","text":"a"}]`, 0, 1},
		{"null of an assistant", `"role":"assistant","text":null,"calls":[{"id":"A","name":"a","args":null}]`, 0, 0},
		{"null of an assistant that says nothing", `"role":"assistant","text":null`, session.Blank, 0},
		{"no text", `"role":"user"`, session.Blank, 0},
		{"an empty list of calls", `"role":"assistant","text":"a","calls":[]`, 0, 1},
		{"an empty list of calls that counts", `"role":"assistant","text":"a","empty_calls":true`, session.EmptyCalls, 1},
		{"only a block that nobody knows", `"role":"user","blocks":[{"type":"widget"}]`, 0, 0},
		{"only reasoning", `"role":"assistant","reasoning":"r"`, session.Blank, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := readOne(t, sessionP, `{"type":"item","session":"P","kind":"message",`+tt.members+`}`).Items[0]
			if it.Flags != tt.flags || it.Size != tt.size {
				t.Errorf("flags %b, size %d; want %b and %d", it.Flags, it.Size, tt.flags, tt.size)
			}
		})
	}
}

func TestModelServerAndForms(t *testing.T) {
	s := readOne(t, `{"type":"session","id":"P","thinking":false,"unstored":true}`,
		`{"type":"item","session":"P","kind":"message","role":"assistant","model":"m","calls":[{"id":"A","name":"a","args":"[","server":true},{"id":"srvtoolu_1","name":"a","args":[1]},{"id":"B","name":"a","args":""}],`+
			`"results":[{"call":"A","text":null,"server":true},{"call":"srvtoolu_1","text":""},{"call":"B"}]}`)
	if s.Thinking != session.No || !s.Unstored {
		t.Errorf("thinking %d, unstored %t", s.Thinking, s.Unstored)
	}
	it := s.Items[0]
	if it.Model() != "m" {
		t.Errorf("model %q", it.Model())
	}
	for i, want := range []session.Call{
		{ID: "A", Name: "a", Args: "[", Form: session.ArgsBroken, Server: true},
		{ID: "srvtoolu_1", Name: "a", Args: "[1]", Form: session.ArgsValue, Server: true},
		{ID: "B", Name: "a"},
	} {
		if it.Calls[i] != want {
			t.Errorf("call %d: %+v, want %+v", i, it.Calls[i], want)
		}
	}
	for i, want := range []session.Result{{CallID: "A", Null: true, Server: true}, {CallID: "srvtoolu_1", Server: true}, {CallID: "B"}} {
		if it.Results[i] != want {
			t.Errorf("result %d: %+v, want %+v", i, it.Results[i], want)
		}
	}
	if thinks := readOne(t, `{"type":"session","id":"P","thinking":true}`).Thinking; thinks != session.Yes {
		t.Errorf("thinking %d", thinks)
	}
	if thinks := readOne(t, `{"type":"session","id":"P","thinking":null}`).Thinking; thinks != session.Unsaid {
		t.Errorf("thinking %d", thinks)
	}
}

// Twins say the same, whoever signed it; a block that nobody knows says
// something.
func TestMeaningOfBlocks(t *testing.T) {
	const item = `{"type":"item","session":"P","kind":"message","role":"assistant","text":"t","reasoning":"r"`
	items := readOne(t, sessionP, item+`}`, item+`,"model":"m","signature":"s","blocks":[{"type":"text"}]}`,
		item+`,"media":true}`, item+`,"blocks":[{"type":"media","name":"image"}]}`, item+`,"blocks":[{"type":"widget"}]}`).Items
	if items[0].Meaning != items[1].Meaning || items[2].Meaning != items[3].Meaning {
		t.Error("the same message means something else")
	}
	if items[0].Meaning == items[2].Meaning || items[0].Meaning == items[4].Meaning {
		t.Error("media or an unknown block mean nothing")
	}
}

// An export has the signatures of the store's records, or names for them.
func TestExportOfSignatures(t *testing.T) {
	body := func(raw string) *session.Body { return &session.Body{Reasoning: "r", Raw: []byte(raw)} }
	block := func(signature string) []session.Block {
		return []session.Block{{Kind: session.ReasoningBlock, Text: digest("r"), Signature: digest(signature)}}
	}
	s := &session.Session{ID: "P", Items: []session.Item{
		{Role: session.Assistant, Blocks: block("one"), Body: body(`{"sig":"one"}`)},
		{Role: session.Assistant, Blocks: block("two"), Body: body("")},
		{Role: session.Assistant, Blocks: block("three"), Body: body("no JSON")},
		{Role: session.Assistant, Blocks: block("two"), Body: body("{}")},
	}}
	text := hashLine(t, canonical.Header{}, []*session.Tree{{Sessions: []*session.Session{s}}}, canonical.WriteOptions{})
	items := filled(t, openStream(t, text))[0].Root().Items
	for i, want := range []string{"one", "signature 1", "signature 2", "signature 1"} {
		if got := items[i].Blocks[0].Signature; got != digest(want) {
			t.Errorf("the signature of item %d is not %q in\n%s", i, want, text)
		}
	}
}

func TestRedactedBlocks(t *testing.T) {
	const line = `{"type":"item","session":"P","kind":"message","role":"assistant","model":"m","text":"SECRET \n","signature":"SECRET","calls":[{"id":"A","name":"a","args":"","item_id":"fc_1","with":"rs_1","signature":"","server":true}],` +
		`"blocks":[{"type":"reasoning","id":"rs_1","signature":"SECRET"},{"type":"SECRET"},{"type":"media","name":"image","width":5,"note":"SECRET"},{"type":"media","name":"SECRET"}]}`
	const want = `{"type":"item","session":"P","kind":"message","role":"assistant","model":"m","text":"xxxxxx  ","signature":"xxxxxx","calls":[{"id":"A","name":"a","args":"","item_id":"fc_1","with":"rs_1","signature":"","server":true}],` +
		`"blocks":[{"type":"reasoning","id":"rs_1","signature":"xxxxxx"},{"type":"xxxxxx"},{"type":"media","name":"image","width":5,"note":"xxxxxx"},{"type":"media","name":"xxxxxx"}]}`
	got := export(t, openStream(t, header+sessionP+"\n"+line), canonical.WriteOptions{Redact: true})
	if !strings.HasSuffix(got, want+"\n") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

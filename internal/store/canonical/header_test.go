package canonical_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

func TestDetect(t *testing.T) {
	tests := []struct {
		name, text string
		sure       store.Confidence
		generation string
	}{
		{"header", header, store.Certain, "1"},
		{"members in any order", `{"kind":"x","format":"sessctl.canonical/1","type":"header","new":[1]}`, store.Certain, "1"},
		{"byte order mark, blank lines, CRLF", "\xef\xbb\xbf\r\n \r\n" + strings.TrimSpace(header) + "\r\n", store.Certain, "1"},
		{"later version", `{"type":"header","format":"sessctl.canonical/2"}`, store.Maybe, "2"},
		{"version that is none", `{"type":"header","format":"sessctl.canonical/x"}`, store.No, ""},
		{"version zero", `{"type":"header","format":"sessctl.canonical/0"}`, store.No, ""},
		{"format of something else", `{"type":"header","format":"other/1"}`, store.No, ""},
		{"no header", `{"type":"session","id":"P"}`, store.No, ""},
		{"no object", `[1]`, store.No, ""},
		{"plain text", "some notes\n", store.No, ""},
		{"empty", "", store.No, ""},
		{"one endless line", strings.Repeat(" ", 2<<20) + header, store.No, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := canonical.Kind.Detect(context.Background(), source(tt.text))
			if d.Sure != tt.sure || d.Generation != tt.generation {
				t.Errorf("detected %+v", d)
			}
		})
	}
	if d := canonical.Kind.Detect(context.Background(), &store.Source{}); d.Sure != store.No {
		t.Errorf("without a stream: %+v", d)
	}
}

func TestOpenRefuses(t *testing.T) {
	const expected = `, where {"type":"header","format":"sessctl.canonical/1"} is expected`
	tests := []struct{ name, text, want string }{
		{"empty", " \n", "s.ndjson is not a canonical stream: it is empty"},
		{"no header", "\n" + `{"type":"session","id":"P"}`, `s.ndjson is not a canonical stream: line 2 has the type "session"`},
		{"unknown format", `{"type":"header","format":"other/1"}`, `s.ndjson is not a canonical stream: line 1 has the format "other/1"`},
		{"no format", `{"type":"header"}`, `s.ndjson is not a canonical stream: line 1 has the format ""`},
		{"no JSON", `notes`, `s.ndjson is not a canonical stream: line 1 is not a line of a stream (invalid character 'o' in literal null (expecting 'u') after offset 1)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := canonical.Kind.Open(context.Background(), source(tt.text), store.Options{})
			if problem.ClassOf(err) != problem.Unreadable {
				t.Fatalf("error %v", err)
			}
			if got := err.Error(); got != tt.want+expected {
				t.Errorf("got  %s\nwant %s", got, tt.want+expected)
			}
		})
	}
	_, err := canonical.Kind.Open(context.Background(), &store.Source{Path: "-"}, store.Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "standard input is not a canonical stream") {
		t.Errorf("without a stream: %v", err)
	}
}

func TestFacts(t *testing.T) {
	st := openStream(t, `{"type":"header","format":"sessctl.canonical/1","kind":"docker-agent","branch_model":"session","summaries":"root","writer":"dead","model":"m-1"}
{"type":"session","id":"A"}
{"type":"session","id":"B","model":"m-2"}`)
	f := st.Facts()
	if f.Kind != "canonical" || f.Title != "canonical stream" || f.Generation != "1" ||
		f.Writer != session.WriterDead || !f.ChildrenClosed || f.ReadOnly != "" || f.Bytes == 0 || f.Path != "s.ndjson" {
		t.Errorf("facts %+v", f)
	}
	h := canonical.HeaderOf(st)
	if h.Kind != "docker-agent" || h.BranchModel != "session" || h.Summaries != "root" || h.Model != "m-1" {
		t.Errorf("header %+v", h)
	}
	trees := outlines(t, st)
	if a, b := trees[0].Root().Model, trees[1].Root().Model; a != "m-1" || b != "m-2" {
		t.Errorf("models %q and %q", a, b)
	}
	plain := openStream(t, header).Facts()
	if plain.Writer != session.WriterUnknown || plain.ChildrenClosed || plain.Faults != nil {
		t.Errorf("facts of a bare header %+v", plain)
	}
	if !openStream(t, `{"type":"header","format":"sessctl.canonical/1","children_closed":true}`).Facts().ChildrenClosed {
		t.Error("children_closed is not read")
	}
	reusing := openStream(t, `{"type":"header","format":"sessctl.canonical/1","reuses_children":true}`)
	if plain.ReusesChildren || !reusing.Facts().ReusesChildren || !canonical.HeaderOf(reusing).ReusesChildren {
		t.Error("reuses_children is not read as it is")
	}
	agent := openStream(t, `{"type":"header","format":"sessctl.canonical/1","kind":"docker-agent"}`).Facts()
	if !agent.ChildrenClosed || !agent.ChildPrologue || agent.Name != "docker agent" || agent.Sanitiser == nil || agent.NoOutput == "" {
		t.Errorf("facts of an export from docker agent %+v", agent)
	}
}

func TestLaterVersion(t *testing.T) {
	st := openStream(t, `{"type":"header","format":"sessctl.canonical/7"}`+"\n"+`{"type":"session","id":"P"}`)
	if f := st.Facts(); f.Generation != "7" || !strings.Contains(f.ReadOnly, "version 7") ||
		len(f.Faults) != 1 || f.Faults[0].Kind != session.SchemaUnknown {
		t.Errorf("facts %+v", f)
	}
	if len(outlines(t, st)) != 1 {
		t.Error("the sessions are not read")
	}
}

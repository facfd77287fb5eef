package canonical_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

// rewrite is a stream with its trees as change leaves them; nil tells of no change at all.
// Items keep their keys meanwhile, and the journal leads back.
func rewrite(t fataler, text string, change func(*session.Tree)) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "stream-*")
	must(t, err)
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "in.ndjson")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	ed, err := canonical.Kind.Edit(context.Background(), &store.Source{Path: path})
	must(t, err)
	must(t, ed.Begin(context.Background()))
	var ids []string
	for _, tree := range outlines(t, openStream(t, text)) {
		for _, s := range tree.Sessions {
			ids = append(ids, s.ID)
		}
	}
	before, after := readIn(t, ed, ids), readIn(t, ed, ids)
	for i, tree := range after {
		if change != nil {
			change(tree)
			must(t, ed.Write(context.Background(), &store.Change{Before: before[i], After: tree}))
		}
	}
	if want, got := keysOf(after, nil), keysOf(readIn(t, ed, ids), knownIn(before)); want != got {
		t.Fatalf("the items have the keys\n%s, not\n%s", got, want)
	}
	journal, err := ed.Journal()
	must(t, err)
	must(t, ed.Commit(context.Background()))
	out, err := os.ReadFile(path)
	must(t, err)
	must(t, ed.Begin(context.Background()))
	must(t, ed.Revert(context.Background(), journal))
	must(t, ed.Commit(context.Background()))
	must(t, ed.Close())
	if again, err := os.ReadFile(path); err != nil || string(again) != text {
		t.Fatalf("the undo leads to\n%s (%v)", again, err)
	}
	return string(out)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func readIn(t fataler, ed store.Editor, ids []string) []*session.Tree {
	t.Helper()
	st, err := ed.Read(context.Background(), ids)
	must(t, err)
	defer func() { must(t, st.Close()) }()
	return filled(t, st)
}

// knownIn are the keys of all items.
func knownIn(trees []*session.Tree) map[string]bool {
	known := map[string]bool{}
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			for i := range s.Items {
				known[s.Items[i].Key] = true
			}
		}
	}
	return known
}

// keysOf lists the keys of items by session: those that are known, where that is given, else
// those of whole items that were stored.
func keysOf(trees []*session.Tree, known map[string]bool) string {
	var list []string
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			keys := s.ID + ":"
			for i := range s.Items {
				if it := &s.Items[i]; known[it.Key] || known == nil && it.Table() != "" && !strings.Contains(it.Key, "#") {
					keys += " " + it.Key
				}
			}
			list = append(list, keys)
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

func nothing(*session.Tree) {}

// A stream in which nothing changed is written as the same bytes, whatever
// stands in it: blank lines, line ends, damage, lines of no session, sessions
// whose lines are interleaved.
func TestUnchangedStreamIsTheSameBytes(t *testing.T) {
	tests := map[string]string{
		"odd":            odd,
		"no line end":    strings.TrimSuffix(odd, "\n"),
		"Windows":        "\xef\xbb\xbf" + strings.ReplaceAll(odd, "\n", " \r\n"),
		"blank lines":    "\n\n" + strings.ReplaceAll(odd, "\n", "\n\t\n"),
		"of no session":  odd + "oops\n{\"type\":\"item\",\"session\":\"Q\",\"kind\":\"other\"}\n{\"type\":\"new\"}\n" + odd,
		"broken":         odd + `{"type":"item","session":"P","kind":"message","text":"` + "\n",
		"not UTF-8":      odd + "{\"type\":\"item\",\"session\":\"P\",\"kind\":\"message\",\"role\":\"user\",\"text\":\"\xff\"}\n",
		"session behind": header + itemOf("P", "a") + sessionOf("P") + itemOf("P", "b"),
		"interleaved":    header + sessionOf("P") + sessionOf("Q") + itemOf("Q", "a") + itemOf("P", "b") + itemOf("Q", "c"),
		"two parents":    header + "{\"type\":\"session\",\"id\":\"A\",\"parent\":\"B\"}\n{\"type\":\"session\",\"id\":\"B\",\"parent\":\"A\"}\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			for _, change := range []func(*session.Tree){nil, nothing} {
				if got := rewrite(t, text, change); got != text {
					t.Errorf("got\n%q\nwant\n%q", got, text)
				}
			}
		})
	}
}

func TestUnchangedExportIsTheSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := hashLine(t, canonical.Header{Kind: "other"}, group(drawStore(t)), canonical.WriteOptions{})
		if got := rewrite(t, text, nothing); got != text {
			t.Fatalf("got\n%s\nwant\n%s", got, text)
		}
	})
}

// Items in any order and any session of the stream are read back in it.
func TestItemsGoAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := hashLine(t, canonical.Header{Kind: "other"}, group(drawStore(t)), canonical.WriteOptions{})
		want := map[string][]string{}
		out := rewrite(t, text, func(tree *session.Tree) {
			var items []session.Item
			for _, s := range tree.Sessions {
				items = append(items, s.Items...)
				s.Items = nil
			}
			if len(items) > 1 {
				items = rapid.Permutation(items).Draw(t, "order")
			}
			for _, it := range items {
				s := rapid.SampledFrom(tree.Sessions).Draw(t, "session")
				s.Items = append(s.Items, it)
			}
			for _, s := range tree.Sessions {
				want[s.ID] = saidIn(s)
			}
		})
		for _, tree := range filled(t, openStream(t, out)) {
			for _, s := range tree.Sessions {
				if got := saidIn(s); strings.Join(got, "\n") != strings.Join(want[s.ID], "\n") {
					t.Fatalf("session %s says\n%q, not\n%q\n%s", s.ID, got, want[s.ID], out)
				}
			}
		}
	})
}

func saidIn(s *session.Session) []string {
	var list []string
	for i := range s.Items {
		list = append(list, showItem(&s.Items[i])+s.Items[i].Body.Reasoning+s.Items[i].Child())
	}
	return list
}

func sessionOf(id string) string { return `{"type":"session","id":"` + id + `"}` + "\n" }

func itemOf(id, text string) string {
	return `{"type":"item","session":"` + id + `","kind":"message","role":"user","text":"` + text + `"}` + "\n"
}

// Only what the model has otherwise changes in a line.
func TestChangedLines(t *testing.T) {
	const p = `{"type":"session","id":"P","title":"t","x":[1e400]}` + "\n"
	two := `{"type":"item","session":"P","kind":"message","role":"tool","results":[{"call":"A","text":"a\/","x":1.0}, {"call":"B","text":"b","y":2}],"z":[1.50, "é"]}` + "\n"
	tests := []struct {
		name, lines, want string
		change            func(*session.Session)
	}{
		{"agent", p + two, p + strings.Replace(two, "\"]}\n", `"],"agent":"root"}`+"\n", 1), func(s *session.Session) { s.Items[0].Own().Agent = "root" }},
		{"first result", p + two, p + strings.Replace(two, `{"call":"A","text":"a\/","x":1.0}, `, "", 1), func(s *session.Session) { s.Items[0].Results = s.Items[0].Results[1:] }},
		{"last result", p + two, p + strings.Replace(two, `, {"call":"B","text":"b","y":2}`, "", 1), func(s *session.Session) { s.Items[0].Results = s.Items[0].Results[:1] }},
		{"title and parent", p, `{"type":"session","id":"P","title":"new","x":[1e400],"parent":"Q"}` + "\n", func(s *session.Session) { s.Title, s.Parent = "new", "Q" }},
		{"line that breaks off", p + `{"type":"item","session":"Q","kind`, p + `{"type":"item","session":"Q","kind`, nothingOf},
		{"kept_from", p + `{"type":"item","session":"P","kind":"summary","text":"s","kept_from":3.0e0}`, p + `{"type":"item","session":"P","kind":"summary","text":"s","kept_from":1}`,
			func(s *session.Session) { s.Items[0].Own().KeptFrom = 1 }},
		{"item without its line end goes", p + two + strings.TrimSpace(itemOf("P", "a")), p + two, func(s *session.Session) { s.Items = s.Items[:1] }},
		{"item behind the last line", p + strings.TrimSpace(two), p + two + `{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"C","text":"c","synthetic":true}],"synthetic":true}` + "\n",
			func(s *session.Session) {
				s.Items = append(s.Items, session.Item{Role: session.Tool, Shared: &session.Shared{Agent: "root"}, Flags: session.Synthetic, Body: &session.Body{},
					Results: []session.Result{{CallID: "C", Text: "c", Synthetic: true}}})
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rewrite(t, header+tt.lines, func(tree *session.Tree) { tt.change(tree.Root()) })
			if got != header+tt.want {
				t.Errorf("got\n%swant\n%s", got, header+tt.want)
			}
		})
	}
}

func nothingOf(*session.Session) {}

// Of two results that are alike each goes where it was sent, with what only its line says.
func TestPartsThatAreAlike(t *testing.T) {
	const line = `{"type":"item","session":"P","kind":"message","role":"tool","results":[%s]}` + "\n"
	first, second := `{"call":"A","text":"a","x":1}`, `{"call":"A","text":"a","x":2}`
	for n, want := range []string{fmt.Sprintf(line+line, second, first), fmt.Sprintf(line+line, first, second)} {
		got := rewrite(t, header+sessionOf("P")+fmt.Sprintf(line, first+","+second), func(tree *session.Tree) {
			s := tree.Root()
			part := s.Items[0]
			part.Key += fmt.Sprintf("#results/%d", n)
			part.Body = &session.Body{Raw: part.Body.Raw}
			part.Results, s.Items[0].Results = part.Results[n:n+1], slices.Delete(slices.Clone(part.Results), n, n+1)
			s.Items = append(s.Items, part)
		})
		if want = header + sessionOf("P") + want; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

// The part of an item that was split off says its result only, and what it got since.
func TestPartOfALine(t *testing.T) {
	line := `{"type":"item","session":"P","kind":"message","role":"tool","text":"both","calls":[{"id":"C","name":"n","args":""}],"results":[{"call":"A","text":"a"},{"call":"B","text":"b","y":2.0}],"raw":{"n":1.0}}`
	got := rewrite(t, header+sessionOf("P")+line, func(tree *session.Tree) {
		s := tree.Root()
		part := s.Items[0]
		part.Key += "#results/1"
		part.Calls, part.Body = nil, &session.Body{Raw: part.Body.Raw}
		part.Results = part.Results[1:]
		part.Own().Branch = "orch"
		s.Items[0].Results = s.Items[0].Results[:1]
		s.Items = append(s.Items, part)
	})
	want := header + sessionOf("P") + strings.Replace(line, `,{"call":"B","text":"b","y":2.0}`, "", 1) + "\n" +
		`{"type":"item","session":"P","kind":"message","role":"tool","text":"","calls":[],"results":[{"call":"B","text":"b","y":2.0}],"raw":{"n":1.0},"branch":"orch"}` + "\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestAnEditorRefusesWhatItDoesNotKnow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.ndjson")
	must(t, os.WriteFile(path, []byte(strings.Replace(header, "/1", "/2", 1)+sessionOf("P")), 0o600))
	if _, err := canonical.Kind.Edit(t.Context(), &store.Source{Path: path}); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("error %v", err)
	}
	must(t, os.WriteFile(path, []byte(odd), 0o600))
	ed, err := canonical.Kind.Edit(t.Context(), &store.Source{Path: path})
	must(t, err)
	defer func() { must(t, ed.Close()) }()
	must(t, ed.Begin(t.Context()))
	tree := filled(t, openStream(t, odd))[0]
	for want, c := range map[string]*store.Change{
		"was not loaded":           {Before: outlines(t, openStream(t, odd))[0], After: outlines(t, openStream(t, odd))[0]},
		"has no such value":        {Before: tree, After: tree, Sets: []session.Edit{{Op: session.Set, Ref: tree.Root().Ref(), Field: "state"}}},
		"missing after the repair": {Before: tree, After: &session.Tree{}},
	} {
		if err := ed.Write(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// A plan names items by their places, so that nothing is changed where another program puts
// something before them.
func TestAStreamThatAnotherProgramChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.ndjson")
	must(t, os.WriteFile(path, []byte(odd), 0o600))
	ed, err := canonical.Kind.Edit(t.Context(), &store.Source{Path: path})
	must(t, err)
	defer func() { must(t, ed.Close()) }()
	must(t, os.WriteFile(path, []byte(strings.Replace(odd, header, header+sessionOf("new")+itemOf("new", "a"), 1)), 0o600))
	if _, err := ed.Read(t.Context(), []string{"P"}); problem.ClassOf(err) != problem.Busy {
		t.Errorf("error %v", err)
	}
}

// A stream that can only seek is copied like a file, and a copy has the owner of the stream.
func TestACopyOfAStreamThatOnlySeeks(t *testing.T) {
	src := source(odd)
	src.Stream = struct{ io.ReadSeeker }{src.Stream}
	st, err := canonical.Kind.Open(context.Background(), src, store.Options{})
	must(t, err)
	path := filepath.Join(t.TempDir(), "copy.ndjson")
	var copied int64
	made, err := st.(store.Copier).Copy(t.Context(), path, func(done int64) { copied = done })
	must(t, err)
	if got, err := os.ReadFile(made.Path); err != nil || string(got) != odd || copied != int64(len(odd)) {
		t.Errorf("%d bytes: %s (%v)", copied, got, err)
	}
	if _, err := st.(store.Copier).Copy(t.Context(), path, nil); err == nil {
		t.Error("a file was overwritten")
	}
}

func TestSums(t *testing.T) {
	twin := `"kind":"message","role":"user","text":"a","x":1}` + "\n"
	text := header + sessionOf("P") + sessionOf("Q") + `{"type":"item","session":"P",` + twin + `{"type":"item","session":"Q",` + twin + itemOf("Q", "b")
	sums := sumsOf(t, text, "P", "Q", "R")
	if sums["P"].Items["0"] != sums["Q"].Items["1"] || sums["Q"].Items["1"] == sums["Q"].Items["2"] || len(sums["Q"].Items) != 2 {
		t.Errorf("items %v", sums)
	}
	if sums["R"].Record != "" || sums["P"].Record == sums["Q"].Record || len(sums["P"].Record) != 64 {
		t.Errorf("records %v", sums)
	}
	later := sumsOf(t, strings.Replace(text, `"b"`, `"c"`, 1), "P", "Q")
	if later["P"].Record != sums["P"].Record || later["Q"].Record == sums["Q"].Record {
		t.Errorf("records %v", later)
	}
}

func sumsOf(t *testing.T, text string, sessions ...string) map[string]store.Sum {
	t.Helper()
	sums, err := openStream(t, text).(store.Summer).Sums(t.Context(), sessions)
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func TestPrologue(t *testing.T) {
	tests := []struct{ name, tool, args, title, task string }{
		{"transfer", "transfer_task", `{"agent":"w","task":"do","expected_output":"it"}`, "Transferred task", "do\n</task>\n\n<expected_output>\nit\n</expected_output>"},
		{"another tool", "Task", `{"prompt":"do"}`, "Sub-session of Task", "do\n</task>"},
		{"no JSON", "transfer_task", `do it`, "Transferred task", "do it\n</task>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			title, items := canonical.Kind.Prologue(&session.Call{Name: tt.tool, Args: tt.args, Delegation: session.DelegationFor(tt.tool, tt.args)})
			if title != tt.title || len(items) != 2 || !strings.HasSuffix(items[0].Body.Text, "<task>\n"+tt.task) {
				t.Errorf("title %q, items %+v", title, items)
			}
			if items[0].Role != session.System || items[1].Role != session.User || items[1].Body.Text != "Please proceed." ||
				!items[1].Flags.Has(session.Implicit|session.Synthetic) || items[0].Flags != session.Synthetic {
				t.Errorf("items %+v", items)
			}
		})
	}
}

// The testdata of the command is written as the same bytes.
func TestRewriteOfFiles(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/healthy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	if got := rewrite(t, string(text), nothing); got != string(text) {
		t.Errorf("got\n%s", got)
	}
}

package loom_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
)

// outputs are those of the call and of the result of the only step of main.
func outputs(t *testing.T, w *loomtest.Workspace, s loomtest.Step) (call, result []session.Output) {
	t.Helper()
	w.Step("main", s)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	main := sessions(t, openWorkspace(t, w.Folder))["main"]
	return main.Items[0].Outputs(), main.Items[1].Outputs()
}

func TestOutcomes(t *testing.T) {
	found := func(path, real string) session.Output { return session.Output{Path: path, Real: real, Bytes: 5} }
	missing := func(path string) session.Output { return session.Output{Path: path} }
	outside := func(path string) session.Output { return session.Output{Path: path, Outside: true} }
	tests := []struct {
		name  string
		write func(w *loomtest.Workspace)
		ref   string
		want  session.Output
	}{
		{"from the agent's folder", func(w *loomtest.Workspace) { w.Output("main", "a.json", "hello") }, "outputs/a.json", found("outputs/a.json", "main/outputs/a.json")},
		{"from the workspace", func(w *loomtest.Workspace) { w.Output("main", "a.json", "hello") }, "main/outputs/a.json", found("main/outputs/a.json", "main/outputs/a.json")},
		{"from above it", func(w *loomtest.Workspace) { w.Output("main", "a.json", "hello") }, "workspace/main/outputs/a.json", found("workspace/main/outputs/a.json", "main/outputs/a.json")},
		{"from above it, without the agent", func(w *loomtest.Workspace) { w.Output("main", "a.json", "hello") }, "workspace/outputs/a.json", found("workspace/outputs/a.json", "main/outputs/a.json")},
		{"another agent's", func(w *loomtest.Workspace) { w.Output("child", "a.json", "hello") }, "../child/outputs/a.json", found("../child/outputs/a.json", "child/outputs/a.json")},
		{"the agent's own comes first", func(w *loomtest.Workspace) { w.File("a", "hello"); w.File("main/a", "hello") }, "a", found("a", "main/a")},
		{"missing", nil, "outputs/a.json", missing("outputs/a.json")},
		{"a folder", nil, "history", missing("history")},
		{"below a file", func(w *loomtest.Workspace) { w.File("main/a", "hello") }, "a/b", missing("a/b")},
		{"up and out", nil, "../../../etc/passwd", outside("../../../etc/passwd")},
		{"up and in again", func(w *loomtest.Workspace) { w.File("main/a", "hello") }, "../main/./x/../a", missing("../main/./x/../a")},
		{"through what is missing, out", nil, "x/../../../y", outside("x/../../../y")},
		{"absolute", nil, "/etc/passwd", outside("/etc/passwd")},
		{"of a URL", nil, "file:///etc/passwd", outside("file:///etc/passwd")},
		{"a link in the folder", func(w *loomtest.Workspace) { w.File("b", "hello"); w.Link("../b", "main/a") }, "a", found("a", "b")},
		{"a chain of links", func(w *loomtest.Workspace) {
			w.Output("child", "a", "hello")
			w.Link("../child", "main/peer")
			w.Link("peer/outputs", "main/theirs")
		}, "theirs/a", found("theirs/a", "child/outputs/a")},
		{"a link out", func(w *loomtest.Workspace) { w.Link("../../outside", "main/a") }, "a", outside("a")},
		{"an absolute link out", func(w *loomtest.Workspace) { w.Link("/etc/passwd", "main/a") }, "a", outside("a")},
		{"a chain out", func(w *loomtest.Workspace) { w.Link("/", "main/b"); w.Link("b", "main/a") }, "a/etc/passwd", outside("a/etc/passwd")},
		{"a link to a device", func(w *loomtest.Workspace) { w.Link("/dev/zero", "main/a") }, "a", outside("a")},
		{"a loop", func(w *loomtest.Workspace) { w.Link("b", "main/a"); w.Link("a", "main/b") }, "a", missing("a")},
		{"a link to itself", func(w *loomtest.Workspace) { w.Link("a/a", "main/a") }, "a", missing("a")},
		{"a link to nothing", func(w *loomtest.Workspace) { w.Link("gone", "main/a") }, "a", missing("a")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := loomtest.Create(filepath.Join(t.TempDir(), "workspace"))
			w.File("../outside", "hello")
			w.Agent("main")
			if tt.write != nil {
				tt.write(w)
			}
			_, got := outputs(t, w, loomtest.Step{Outcome: tt.ref})
			if diff := cmp.Diff([]session.Output{tt.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Absolute paths that lead into the folder are in it, also where the folder itself is
// reached through a link.
func TestAbsolutePathsIntoTheFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "real")
	w := loomtest.Create(folder)
	w.Output("main", "a", "hello")
	w.Link(filepath.Join(folder, "main", "outputs", "a"), "main/linked")
	w.Step("main", loomtest.Step{Outcome: filepath.Join(folder, "main", "outputs", "a")})
	w.Step("main", loomtest.Step{Outcome: "linked"})
	w.Step("main", loomtest.Step{Outcome: folder + "/../real/main/outputs/a"})
	w.Step("main", loomtest.Step{Outcome: folder + "-other/a"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, link} {
		s := sessions(t, openWorkspace(t, path))["main"]
		for i, want := range []string{"main/outputs/a", "main/outputs/a", "main/outputs/a", ""} {
			if o := s.Items[2*i+1].Outputs()[0]; o.Real != want || o.Outside != (want == "") {
				t.Errorf("%s, step %d: %+v", path, i+1, o)
			}
		}
	}
}

// Agents, histories, steps and captures may be absolute links, as outputs may.
func TestAbsoluteLinksInTheFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "workspace")
	w := loomtest.Create(folder)
	w.Spawn("main", "child", "g")
	w.File("elsewhere/steps/step_001.json", `{"id":"step_001","tool_name":"a"}`)
	w.File("elsewhere/bus", `{"type":"agent.result","parent_id":"main","child_id":"child","result":"r"}`)
	w.Link(filepath.Join(folder, "elsewhere/steps"), "elsewhere/all")
	w.Link(filepath.Join(folder, "elsewhere/all/step_001.json"), "main/history/step_002.json")
	w.Link(filepath.Join(folder, "elsewhere/all"), "elsewhere/agent/history")
	w.Link(filepath.Join(folder, "elsewhere/agent"), "child")
	w.Link(filepath.Join(folder, "elsewhere/bus"), "bus.jsonl")
	w.Link(filepath.Join(folder, "gone"), "gone-too")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := openWorkspace(t, folder)
	all := sessions(t, o)
	if got, want := show(all["child"]), "steps: step_001 a()\nobservations: <step_001 \"\"\nanswers: assistant \"r\"\n"; got != want {
		t.Errorf("child\n%swant\n%s", got, want)
	}
	want := "steps: step_001 agent:spawn({\"child_id\":\"child\"}) of child waits=true\nresults: <step_001 \"r\"\nsteps: step_001 a()\nobservations: <step_001 \"\"\n"
	if got := show(all["main"]); got != want || o.Facts().Incomplete != "" {
		t.Errorf("main\n%swant\n%sincomplete: %q", got, want, o.Facts().Incomplete)
	}
	if got := all["child"].Workspace; got != "elsewhere/agent" {
		t.Errorf("the child's folder is %s", got)
	}
}

// Two names are two agents, whatever is in them, and one of text is called so by others.
func TestNamesThatLookAlike(t *testing.T) {
	w := loomtest.Create(t.TempDir())
	for _, name := range []string{"a\xff", `"a\xff"`, `"\"a\\xff\""`, `"x"`, "`x`", "\"", "a\ufffd"} {
		w.Step(name, loomtest.Step{Observation: name})
	}
	w.Spawn("main", `"x"`, "g")
	if err := w.Close(); err != nil {
		t.Skipf("this file system has no such names: %v", err)
	}
	all := sessions(t, openWorkspace(t, w.Folder))
	if len(all) != 8 {
		t.Errorf("%d agents", len(all))
	}
	d := all["main"].Items[0].Calls[0].Delegation
	if child := all[d.Child]; child == nil || child.Items[1].Results[0].Text != `"x"` {
		t.Errorf("the child is %q", d.Child)
	}
	for _, id := range []string{"`x`", "\"", "a\ufffd", `"a\xff"`} {
		if all[id] == nil {
			t.Errorf("no agent is called %s", id)
		}
	}
}

func TestArguments(t *testing.T) {
	own := []session.Output{{Path: "a", Real: "main/a", Bytes: 5}}
	out := []session.Output{{Path: "/etc/passwd", Outside: true}}
	tests := []struct {
		name, tool string
		args       any
		want       []session.Output
	}{
		{"path", "x", map[string]any{"path": "a"}, own},
		{"file_path", "x", map[string]any{"file_path": "a"}, own},
		{"file", "x", map[string]any{"file": "a"}, own},
		{"another member", "x", map[string]any{"query": "a"}, nil},
		{"no text", "x", map[string]any{"path": []string{"a"}}, nil},
		{"no object", "x", "a", nil},
		{"missing", "fs:read_file", map[string]any{"path": "b"}, nil},
		{"outside, by a tool for files", "fs:read_file", map[string]any{"path": "/etc/passwd"}, out},
		{"a path of something else", "http:get", map[string]any{"path": "/etc/passwd"}, nil},
		{"a URL of a file", "x", map[string]any{"url": "file:///etc/passwd"}, out},
		{"another URL", "x", map[string]any{"url": "https://example.org/a"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := loomtest.Create(filepath.Join(t.TempDir(), "workspace"))
			w.File("main/a", "hello")
			call, result := outputs(t, w, loomtest.Step{Tool: tt.tool, Args: tt.args})
			if diff := cmp.Diff(tt.want, call); diff != "" || result != nil {
				t.Errorf("%s, of the result %v", diff, result)
			}
		})
	}
}

func TestDigestsInNames(t *testing.T) {
	tests := []struct {
		name  string
		write func(w *loomtest.Workspace) string
		wrong bool
	}{
		{"as Loom writes it", func(w *loomtest.Workspace) string { return w.Offloaded("web", "page", "txt", "text") }, false},
		{"changed", func(w *loomtest.Workspace) string {
			name := w.Offloaded("web", "page", "txt", "text")
			w.File(name, "other")
			return name
		}, true},
		{"in outputs", func(w *loomtest.Workspace) string {
			return w.Output("main", "page_0123456789abcdef.txt", "text")
		}, true},
		{"no digest", func(w *loomtest.Workspace) string { return w.Output("main", "page_0123456789ABCDEF.txt", "text") }, false},
		{"a name elsewhere", func(w *loomtest.Workspace) string {
			w.File("main/page_0123456789abcdef.txt", "text")
			return "page_0123456789abcdef.txt"
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := loomtest.Create(t.TempDir())
			_, got := outputs(t, w, loomtest.Step{Outcome: tt.write(w)})
			if len(got) != 1 || got[0].Hash != tt.wrong || got[0].Real == "" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

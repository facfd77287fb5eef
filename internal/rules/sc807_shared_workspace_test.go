package rules_test

import (
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// atWork are two workers that root asked at once; both write a file.
const atWork = `
P agent=root
  user at=0
  root T1>ann(search) T2>bob(collect) at=1
  sub A
  sub B
  root <T1 "found it" at=20
  root <T2 "got it" at=21
  root "done" at=22
A<P agent=ann
  system(search) at=2
  ann a1:write_file({"path":"notes.md"}) at=3
  ann <a1 at=4
  ann "found it" at=10
B<P agent=bob
  system(collect) at=2
  bob b1:write_file({"path":"notes.md"}) at=5
  bob <b1 at=6
  bob "got it" at=11`

// workspaces gives the sessions of a tree their folders: "A work/ann B work/bob".
func workspaces(of map[string]string) func(*session.Tree) {
	return func(tree *session.Tree) {
		for id, folder := range of {
			tree.Session(id).Workspace = folder
		}
	}
}

// output gives an item a file.
func output(tree *session.Tree, id string, item int, o session.Output) {
	it := &tree.Session(id).Items[item]
	it.SetOutputs(append(it.Outputs(), o))
}

// args gives the first call of an item its arguments.
func args(tree *session.Tree, id string, item int, text string) {
	tree.Session(id).Items[item].Calls[0].Args = text
}

func TestSC807FilesThatToolsWrite(t *testing.T) {
	rename := func(id string, item int, text string) func(*session.Tree) {
		return func(tree *session.Tree) { args(tree, id, item, text) }
	}
	shared := &rules.Isolation{Shared: []string{"common"}}
	runCases(t, []ruleCase{
		{
			name: "two workers at once write one file", only: "SC807", tree: atWork,
			want: "SC807 warning B.1 see A.1",
			says: `"bob" (B) and "ann" (A) both write "notes.md". They were running at the same time, so the last one wins`,
		},
		{name: "a folder that is the agent's own", only: "SC807", tree: atWork, tweak: rename("B", 1, `{"path":"bob/notes.md"}`)},
		{
			name: "the same file by another way", only: "SC807", tree: atWork, tweak: rename("B", 1, `{"file_path":"./x/../notes.md"}`),
			want: "SC807 warning B.1 see A.1",
		},
		{
			name: "by a URL", only: "SC807", tree: atWork,
			tweak: func(tree *session.Tree) {
				args(tree, "A", 1, `{"path":"/srv/notes.md"}`)
				args(tree, "B", 1, `{"url":"file:///srv/notes.md"}`)
			},
			want: "SC807 warning B.1 see A.1",
		},
		{name: "a page of the web is no file", only: "SC807", tree: atWork, tweak: func(tree *session.Tree) {
			args(tree, "A", 1, `{"url":"https://example.org/a"}`)
			args(tree, "B", 1, `{"url":"https://example.org/a"}`)
		}},
		{name: "the same name in folders that the calls name as their own", only: "SC807", tree: atWork, tweak: func(tree *session.Tree) {
			args(tree, "A", 1, `{"path":"notes.md","cwd":"/srv/a"}`)
			args(tree, "B", 1, `{"path":"notes.md","cwd":"/srv/b"}`)
		}},
		{name: "arguments that do not parse", only: "SC807", tree: atWork, tweak: rename("B", 1, `{"path":`)},
		{name: "a file that both read", only: "SC807", tree: atWork, tweak: func(tree *session.Tree) {
			tree.Session("A").Items[1].Calls[0].Name, tree.Session("B").Items[1].Calls[0].Name = "read_file", "read_file"
		}},
		{name: "one reads what the other writes: there is no workspace that says whose it is", only: "SC807", tree: atWork, tweak: func(tree *session.Tree) {
			tree.Session("B").Items[1].Calls[0].Name = "read_file"
		}},
		{name: "a write that failed", only: "SC807", tree: atWork, tweak: func(tree *session.Tree) {
			tree.Session("B").Items[2].Results[0].IsError = true
		}},
		{
			name: "a tool of a server", only: "SC807", tree: atWork,
			tweak: func(tree *session.Tree) { tree.Session("B").Items[1].Calls[0].Name = "mcp__files__write-file" },
			want:  "SC807 warning B.1 see A.1",
		},
		{name: "a folder that every agent may use", only: "SC807", tree: atWork, limit: shared, tweak: func(tree *session.Tree) {
			args(tree, "A", 1, `{"path":"common/notes.md"}`)
			args(tree, "B", 1, `{"path":"common/notes.md"}`)
		}},
		{
			name: "one after the other: the file was handed on", only: "SC807",
			tree: `
P agent=root
  user at=0
  root T1>ann(search) at=1
  sub A
  root <T1 "found it" at=10
  root T2>bob(collect) at=11
  sub B
  root <T2 "got it" at=20
A<P agent=ann
  ann a1:write_file({"path":"notes.md"}) at=3
  ann <a1 at=4
  ann "found it" at=9
B<P agent=bob
  bob b1:edit_file({"path":"notes.md"}) at=12
  bob <b1 at=13
  bob "got it" at=19`,
		},
		{
			name: "a caller waits while its child writes", only: "SC807",
			tree: `
P agent=root
  user at=0
  root r1:write_file({"path":"notes.md"}) at=1
  root <r1 at=2
  root T1>ann(search) at=3
  sub A
  root <T1 "found it" at=10
  root r2:edit_file({"path":"notes.md"}) at=11
  root <r2 at=12
A<P agent=ann
  ann a1:write_file({"path":"notes.md"}) at=4
  ann <a1 at=5
  ann "found it" at=9`,
		},
		{
			name: "a caller goes on beside its child", only: "SC807",
			tree: `
P agent=root
  user at=0
  root T1>>ann(search) at=1
  root <T1 "started" at=2
  root r1:write_file({"path":"notes.md"}) at=3
  root <r1 at=6
  sub A
A<P agent=ann
  ann a1:write_file({"path":"notes.md"}) at=4
  ann <a1 at=5
  ann "found it" at=9`,
			want: "SC807 warning A.0 see P.3",
		},
	})
}

func TestSC807Branches(t *testing.T) {
	const side = `
P
  user at=0 run=i1
  ann a1:write_file({"path":"notes.md"}) branch=par.ann run=i1 at=1
  bob b1:write_file({"path":"notes.md"}) branch=par.bob run=i1 at=2
  ann <a1 branch=par.ann run=i1 at=3
  bob <b1 branch=par.bob run=i1 at=4`
	branches := func(s *session.Store) { s.BranchModel, s.ForeignText = "path", true }
	runCases(t, []ruleCase{
		{
			name: "two branches side by side", only: "SC807", tree: side, store: branches,
			want: "SC807 warning P.2 see P.1", says: `the agent on branch "par.bob" and the agent on branch "par.ann" both write "notes.md"`,
		},
		{
			name: "a branch below the other, whose agent waits", only: "SC807", store: branches, tree: side,
			tweak: func(tree *session.Tree) {
				for _, i := range []int{1, 3} {
					tree.Root().Items[i].Own().Branch = "par"
				}
			},
		},
		{
			name: "in one run and in the next", only: "SC807", store: branches,
			tree: `
P
  user at=0 run=i1
  ann a1:write_file({"path":"notes.md"}) branch=par.ann run=i1 at=1
  ann <a1 branch=par.ann run=i1 at=3
  user at=4 run=i2
  ann "again" branch=par.ann run=i2 at=5
  bob b1:write_file({"path":"notes.md"}) branch=par.bob run=i2 at=6
  bob <b1 branch=par.bob run=i2 at=7
  ann "done" branch=par.ann run=i2 at=8`,
		},
	})
}

// bothPut lets the results of both workers refer to one file.
func bothPut(file string) func(*session.Tree) {
	return func(tree *session.Tree) {
		for _, id := range []string{"A", "B"} {
			output(tree, id, 2, session.Output{Path: file, Real: file})
		}
	}
}

// reads lets a further call of B name a file that results of the sessions were put into.
func reads(file string, sessions ...string) func(*session.Tree) {
	return func(tree *session.Tree) {
		for _, id := range sessions {
			output(tree, id, 2, session.Output{Path: file, Real: file})
		}
		output(tree, "B", 3, session.Output{Path: file, Real: file})
		it := &tree.Session("B").Items[3]
		it.Calls = []session.Call{{ID: "b9", Name: "fs:read_file"}}
	}
}

func TestSC807Workspaces(t *testing.T) {
	own := workspaces(map[string]string{"P": "main", "A": "ann", "B": "bob"})
	with := func(tweaks ...func(*session.Tree)) func(*session.Tree) {
		return func(tree *session.Tree) {
			own(tree)
			for _, tweak := range tweaks {
				tweak(tree)
			}
		}
	}
	crossing := func(tree *session.Tree) { args(tree, "B", 1, `{"path":"../ann/outputs/plan.md"}`) }
	runCases(t, []ruleCase{
		{name: "each has its own, and the same name in each", only: "SC807", tree: atWork, tweak: own},
		{
			name: "one workspace for two", only: "SC807", tree: atWork,
			tweak: workspaces(map[string]string{"P": "main", "A": "ann", "B": "ann/"}),
			want:  "SC807 warning B see A.-1\nSC807 warning B.1 see A.1",
			says:  `the workspace "ann" of "bob" (B) is also that of "ann" (A). Each can read and overwrite what the other keeps there`,
		},
		{
			name: "one within another", only: "SC807", tree: atWork,
			tweak: workspaces(map[string]string{"P": "main", "A": "main/ann", "B": "bob"}),
			want:  "SC807 warning A see P.-1", says: `the workspace "main/ann" of "ann" (A) is inside that of "root" (P). Each can read and overwrite what the other keeps there`,
		},
		{name: "names that begin alike", only: "SC807", tree: atWork, tweak: workspaces(map[string]string{"P": "main", "A": "main2", "B": "bob"})},
		{
			name: "shared on purpose", only: "SC807", tree: atWork, limit: &rules.Isolation{Shared: []string{"common"}},
			tweak: workspaces(map[string]string{"P": "common", "A": "common", "B": "bob"}),
		},
		{
			name: "two runs of one agent have its workspace", only: "SC807",
			tree: `
P agent=root
  user
  root T1>ann(search) T2>ann(collect)
  sub A
  sub B
  root <T1
  root <T2
A<P agent=ann
  ann "a"
B<P agent=ann
  ann "b"`,
			tweak: workspaces(map[string]string{"P": "main", "A": "ann", "B": "ann"}),
		},
		{
			name: "a file of a sibling", only: "SC807", tree: atWork, tweak: with(crossing),
			want: "SC807 warning B.1 see A.-1", says: `"bob" (B) uses "ann/outputs/plan.md" in the workspace of "ann" (A)`,
		},
		{
			name: "one that only reads it", only: "SC807", tree: atWork,
			tweak: with(crossing, func(tree *session.Tree) { tree.Session("B").Items[1].Calls[0].Name = "read_file" }),
			want:  "SC807 warning B.1 see A.-1",
		},
		{name: "the task names the file", only: "SC807", tree: atWork, tweak: with(crossing, func(tree *session.Tree) {
			tree.Session("B").Items[0].Body.Text = "go on with outputs/plan.md of ann"
		})},
		{name: "the call names the file", only: "SC807", tree: atWork, tweak: with(crossing, func(tree *session.Tree) {
			tree.Root().Items[1].Calls[1].Args = "go on with plan.md"
		})},
		{
			name: "the parent fetches what the result names", only: "SC807", tree: atWork + `
`, tweak: with(func(tree *session.Tree) {
				tree.Root().Items[4].Results[0].Text = "see outputs/plan.md"
				output(tree, "P", 6, session.Output{Path: "../ann/outputs/plan.md", Real: "ann/outputs/plan.md"})
			}),
		},
		{
			name: "the parent fetches what nobody named", only: "SC807", tree: atWork, tweak: with(func(tree *session.Tree) {
				output(tree, "P", 6, session.Output{Path: "../ann/outputs/plan.md", Real: "ann/outputs/plan.md"})
			}),
			want: "SC807 warning P.6 see A.-1",
		},
		{name: "without texts nobody knows what was handed on", only: "SC807", tree: atWork, tweak: with(func(tree *session.Tree) {
			output(tree, "P", 6, session.Output{Path: "../ann/outputs/plan.md", Real: "ann/outputs/plan.md"})
			for _, s := range tree.Sessions {
				for i := range s.Items {
					s.Items[i].Body = nil
				}
			}
		})},
		{
			name: "outputs at the same place outside of both", only: "SC807", tree: atWork, tweak: with(bothPut("cache/page.txt")),
			want: "SC807 warning B.2 see A.2",
		},
		{name: "outputs that are named after their content", only: "SC807", tree: atWork, tweak: with(bothPut("cache/page_0123456789abcdef.txt"))},
		{
			name: "a result of another agent outside of both", only: "SC807", tree: atWork, tweak: with(reads("cache/page_0123456789abcdef.txt", "A")),
			want: "SC807 warning B.3 see A.-1",
			says: `"bob" (B) uses "page_0123456789abcdef.txt", which holds a result of "ann" (A). Nothing that it was told names this file`,
		},
		{name: "one that it has itself, too", only: "SC807", tree: atWork, tweak: with(reads("cache/page_0123456789abcdef.txt", "A", "B"))},
		{name: "one that its task names", only: "SC807", tree: atWork, tweak: with(reads("cache/page_0123456789abcdef.txt", "A"), func(tree *session.Tree) {
			tree.Session("B").Items[0].Body.Text = "summarize page_0123456789abcdef.txt"
		})},
		{name: "one that came later", only: "SC807", tree: atWork, tweak: with(reads("cache/page_0123456789abcdef.txt", "A"), func(tree *session.Tree) {
			tree.Session("A").Items[2].Time = tree.Session("B").Items[3].Time.Add(time.Second)
		})},
		{
			name: "one in a shared folder", only: "SC807", tree: atWork, limit: &rules.Isolation{Shared: []string{"cache"}},
			tweak: with(reads("cache/page_0123456789abcdef.txt", "A")),
		},
		{
			name: "out of the folder of all", only: "SC807", tree: atWork, tweak: with(func(tree *session.Tree) {
				output(tree, "A", 3, session.Output{Path: "../../etc/passwd", Outside: true})
			}),
			want: "SC807 warning A.3", says: `refers to "../../etc/passwd", outside the folder`,
		},
		{name: "out of it into a shared one", only: "SC807", tree: atWork, limit: &rules.Isolation{Shared: []string{"/srv/inputs"}}, tweak: with(func(tree *session.Tree) {
			output(tree, "A", 3, session.Output{Path: "/srv/inputs/list.csv", Outside: true})
		})},
	})
}

package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// busy is a child that makes n calls of a tool, a second apart.
func busy(n int, tool string) string {
	var b strings.Builder
	b.WriteString(`
P agent=root
  user at=0
  root T1>worker(do it) at=1
  sub C
  root <T1 "done" at=30
C<P agent=worker
  system(do it) at=1`)
	for i := range n {
		fmt.Fprintf(&b, "\n  worker w%d:%s({\"path\":\"out%d.md\"}) at=%d\n  worker <w%d at=%d", i, tool, i, 2+i, i, 2+i)
	}
	b.WriteString("\n  worker \"done\" at=29")
	return b.String()
}

func TestSC821Limits(t *testing.T) {
	says := func(item, n int) func(*session.Tree) {
		return func(tree *session.Tree) { tree.Session("C").Items[item].Body.Text = strings.Repeat("x", n) }
	}
	size := func(n int64, blocks ...session.Block) func(*session.Tree) {
		return func(tree *session.Tree) {
			it := &tree.Session("C").Items[1]
			it.Body, it.Size, it.Blocks = nil, n, blocks
		}
	}
	late := func(tree *session.Tree) {
		tree.Root().Items[3].Time = tree.Root().Items[1].Time.Add(62 * time.Second)
	}
	file := func(bytes int64) func(*session.Tree) {
		return func(tree *session.Tree) {
			output(tree, "C", 1, session.Output{Path: "a", Real: "worker/a", Bytes: bytes})
			output(tree, "C", 1, session.Output{Path: "a", Real: "worker/a", Bytes: bytes})
		}
	}
	runCases(t, []ruleCase{
		{name: "as many steps as there may be", only: "SC821", tree: busy(20, "shell")},
		{
			name: "one more", only: "SC821", tree: busy(21, "shell"),
			want: "SC821 info C.41 see P.1",
			says: `"worker" (C) takes 21 steps, more than the limit of 20. The limit is set by isolation: max-steps in .sessctl.yaml`,
		},
		{
			name: "another limit", only: "SC821", tree: busy(3, "shell"), limit: &rules.Isolation{MaxSteps: 1},
			want: "SC821 info C.3,5 see P.1",
		},
		{name: "no limits", only: "SC821", tree: busy(30, "write_file"), limit: &rules.Isolation{}, tweak: says(1, 1<<20)},
		{name: "a large message", only: "SC821", tree: busy(1, "shell"), tweak: says(3, 8003)},
		{
			name: "a message that is too large", only: "SC821", tree: busy(1, "shell"), tweak: says(3, 8004),
			want: "SC821 info C.3 see P.1", says: `"worker" (C) has 1 message of more than 2000 tokens, the largest about 2001. The limit is set by isolation: max-tokens-per-step`,
		},
		{name: "one that is too large, without texts", only: "SC821", tree: busy(1, "shell"), tweak: size(8004), want: "SC821 info C.1 see P.1"},
		{name: "an image is no text", only: "SC821", tree: busy(1, "shell"), tweak: size(1<<20, session.Block{Kind: session.MediaBlock})},
		{name: "the task is no step", only: "SC821", tree: busy(1, "shell"), tweak: says(0, 90_000)},
		{
			name: "many files", only: "SC821", tree: busy(11, "write_file"),
			want: "SC821 info C.21 see P.1", says: `"worker" (C) writes 11 files, more than the limit of 10. The limit is set by isolation: max-output-files in .sessctl.yaml`,
		},
		{name: "many files that are read", only: "SC821", tree: busy(11, "read_file")},
		{name: "a large file, twice", only: "SC821", tree: busy(1, "write_file"), tweak: file(999_999)},
		{
			name: "a file that is too large", only: "SC821", tree: busy(1, "write_file"), tweak: file(1_000_000),
			want: "SC821 info C.1 see P.1", says: `"worker" (C) writes 1000000 bytes of files, which must stay below 1000000. The limit is set by isolation: max-output-bytes`,
		},
		{
			name: "a long delegation", only: "SC821", tree: busy(1, "shell"), tweak: late,
			want: "SC821 info C see P.1", says: `"worker" (C) takes 1m2s, more than the limit of 1m0s. The limit is set by isolation: timeout in .sessctl.yaml`,
		},
		{name: "one that names its own time: SC813", only: "SC821", tree: busy(1, "shell"), tweak: func(tree *session.Tree) {
			late(tree)
			tree.Root().Items[1].Calls[0].Delegation.Timeout = time.Second
		}},
		{name: "one that waited for a person", only: "SC821", tree: `
P agent=root
  user at=0
  root T1>worker(do it)=C at=1
  root <T1? "waiting" at=2
  root a1:ask() at=3
  root <T1 "done" at=1000
C agent=worker
  user "do it" at=1
  worker w1() at=1
  worker <w1 at=999
  worker "done" at=999`},
		{name: "one that waited for a person, of which no result is stored", only: "SC821", tree: `
P agent=root
  user at=0
  root T1>worker(do it)=C at=1
  root a1:ask() at=3
  root <T1 "done" at=1000
C agent=worker
  user "do it" at=1
  worker w1() at=1
  worker <w1 at=999
  worker "done" at=999`, tweak: func(tree *session.Tree) {
			items := tree.Root().Items
			items[1].Calls[0].Delegation.Apart, items[1].Calls[0].Delegation.Run = true, "r"
			items[2].Calls[0].Question = session.Question{Child: "C", Run: "r"}
		}},
		{
			name: "one that nobody waits for, by its own times", only: "SC821",
			tree: `
P agent=root
  user at=0
  root T1>>worker(do it) at=1
  root <T1 "started" at=2
  sub C
C<P agent=worker
  system(do it) at=3
  worker w1() at=3
  worker <w1 at=60
  worker "done" at=90`,
			want: "SC821 info C see P.1", says: "takes 1m27s",
		},
		{name: "a root is no child", only: "SC821", limit: &rules.Isolation{MaxSteps: 1}, tree: `
P
  user
  root a()
  root <a
  root b()
  root <b`},
	})
}

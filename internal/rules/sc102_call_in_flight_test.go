package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC102CallInFlight(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the last call while another process has the store open",
			tree: `
P
  user
  root c1()`,
			store: alive,
			want:  `SC102 info P.1`,
			says:  "docker-agent (pid 4711) has the store open",
		},
		{
			name: "the last call when nobody can tell whether the runtime lives",
			tree: `
P
  user
  root c1()`,
			store: unknown,
			want:  `SC102 warning P.1`,
			says:  "--assume-dead",
		},
		{
			name: "one of several at the end",
			tree: `
P
  user
  root c1() c2()
  root <c1`,
			store: alive,
			want:  `SC102 info P.1`,
		},
		{
			name: "a result that waits for approval, even when the writer is dead",
			tree: `
P
  user
  root c1()
  root <c1?`,
			want: `SC102 info P.1`,
			says: "call c1 (shell) is still running or waiting for approval. Its recorded result says so",
		},
		{
			name: "a delegation at the end, although its child holds an answer",
			tree: `
P
  root T1>worker(do it)
  sub C
C<P
  system(do it)
  worker "done"`,
			store: alive,
			want:  `SC102 info P.0`,
		},
		{
			name: "what waits for approval is an info although nobody can tell whether the runtime lives",
			tree: `
P
  user
  root c1()
  root <c1?`,
			store: unknown,
			want:  `SC102 info P.1`,
		},
		{
			name: "behind a result that stands in a message of the user",
			tree: `
P
  user
  root c1() c2()
  root <c1`,
			store: alive,
			tweak: inUserItems(2),
			want:  `SC102 info P.1`,
		},
		{
			name: "a child that runs has its own last call in flight",
			tree: `
P
  root T1>worker(do it)
  sub C
C<P
  system(do it)
  worker c1()`,
			store: alive,
			want: `
				SC102 info P.0
				SC102 info C.1`,
		},
		{
			name: "a call with other content behind it is not in flight",
			tree: `
P
  user
  root c1()
  user`,
			store: alive,
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.1`,
		},
		{
			name: "what waited for approval in the middle of a session is over",
			tree: `
P
  user
  root c1()
  root <c1?
  user
  root "ok"`,
		},
	})
}

// waits makes the calls of an item long-running ones, and asked calls that a person was
// asked about.
func waits(item int) func(*session.Tree) {
	return eachCall(item, func(c *session.Call) { c.Waits = true })
}

func asked(item int) func(*session.Tree) {
	return eachCall(item, func(c *session.Call) { c.Asked = true })
}

func eachCall(item int, fn func(*session.Call)) func(*session.Tree) {
	return func(tree *session.Tree) {
		for n := range tree.Root().Items[item].Calls {
			fn(&tree.Root().Items[item].Calls[n])
		}
	}
}

// TestSC102CallsThatSomebodyOutsideAnswers: a call that is sent without a result is
// refused, whoever may still answer it; what says that nobody will has to be allowed.
func TestSC102CallsThatSomebodyOutsideAnswers(t *testing.T) {
	const (
		last  = "P\n  user\n  root c1()"
		fixed = "\nlossless with waiting: insert placeholder c1 by root in P after P.1"
	)
	runCases(t, []ruleCase{
		{name: "the runtime is gone", tree: last, tweak: waits(1), want: "SC102 warning P.1" + fixed, says: "A request before the answer is sent without its result"},
		{name: "nobody can tell", tree: last, tweak: waits(1), store: unknown, want: "SC102 warning P.1", says: "--assume-dead"},
		{name: "the runtime is alive", tree: last, tweak: waits(1), store: alive, want: "SC102 info P.1", says: "docker-agent (pid 4711)"},
		{name: "turns ago", tree: last + "\n  user\n  root \"ok\"\n  user", tweak: waits(1), want: "SC102 warning P.1" + fixed},
		{
			name: "one of two, beside the other's result", tree: "P\n  user\n  root c1() c2()\n  root <c2\n  user", tweak: waits(1),
			want: "SC102 warning P.1\nlossless with waiting: insert placeholder c1 by root in P after P.2",
		},
		{name: "a response for now is an answer", tree: "P\n  user\n  root c1()\n  root <c1\n  user", tweak: waits(1)},
		{name: "an answer much later", tree: "P\n  user\n  root c1()\n  root \"hm\"\n  root <c1\n  user", tweak: waits(1), store: shared},
		{name: "of a runtime that leaves such calls out", tree: last, tweak: waits(1), store: func(s *session.Store) {
			s.Writer, s.Loses = session.WriterDead, map[string]string{"SC101": "leaves the call out"}
		}, want: "SC102 info P.1" + fixed},
		{name: "a person was asked", tree: last, tweak: asked(1), want: "SC102 info P.1" + fixed, says: "A person was asked to approve it"},
		{name: "a person was asked, and the user went on", tree: last + "\n  user", tweak: asked(1), want: "SC102 warning P.1" + fixed},
		{name: "a call without an id has no result that could name it", tree: last, tweak: eachCall(1, func(c *session.Call) { c.Waits, c.ID = true, "" }), want: "SC102 warning P.1\nSC204 error P.1\nmanual:"},
		{name: "what a summary covers", tree: "P\n  user\n  root c1()\n  user\n  summary \"so far\"\n  user", tweak: waits(1), want: "SC102 info P.1"},
	})
}

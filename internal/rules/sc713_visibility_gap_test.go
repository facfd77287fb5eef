package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// retells is a store whose reader shows agents what others said as texts.
func retells(s *session.Store) { s.BranchModel, s.ForeignText = "path", true }

func TestSC713VisibilityGap(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a second parallel group in full paths",
			tree: `
P agents=root,a,c
  a branch=root.par1.a
  c branch=root.par2.c`,
			want: `SC713 info P.0 see P.1`,
			says: `agents that ran on "root.par2.c" cannot see 1 earlier event on "root.par1.a"`,
		},
		{
			name:  "a sequence of three parallel groups",
			store: retells,
			tree: `
P
  user run=1
  a branch=p1.a run=1
  b branch=p1.b run=1
  d branch=p2.d run=1
  c branch=p2.c run=1
  f branch=p3.f run=1
  r run=1`,
			want: `SC713 info P.1,2,3,4 see P.5`,
			says: `agents that ran on "p2.c", "p2.d" and "p3.f" cannot see 4 earlier events on "p1.a", "p1.b", "p2.c" and "p2.d"`,
		},
		{
			name:  "reducers of nested groups",
			store: retells,
			tree: `
P
  user run=1
  a branch=fin.g1.abc.a run=1
  d branch=fin.g2.def.d run=1
  b branch=fin.g1.abc.b run=1
  r1 branch=fin.g1 run=1
  r2 branch=fin.g2 run=1
  a branch=fin.g1.abc.a run=1
  r3 run=1`,
			want: `SC713 info P.1,2,3 see P.4 see P.6 see P.5`,
		},
		{
			name: "reducers in a store where a parent is not meant to see them",
			tree: `
P
  user
  a branch=orch.researcher.summarizer
  b branch=orch.researcher
  c branch=orch.writer`,
		},
		{
			name: "a sequence within a branch of a parallel group, again and again",
			tree: `
P
  user
  a branch=p.seq.q1.a
  x branch=p.other
  b branch=p.seq.q2.b
  a branch=p.seq.q1.a`,
			want: `SC713 info P.1,3 see P.4`,
		},
		{
			name:  "a parallel group that a loop runs again, with something between",
			store: retells,
			tree: `
P
  user run=1
  l run=1
  a branch=p.a run=1
  b branch=p.b run=1
  l run=1
  a branch=p.a run=1
  b branch=p.b run=1`,
			want: `SC713 info P.2,3 see P.5 see P.6`,
			says: `agents that ran on "p.a" and "p.b" cannot see 2 earlier events on "p.a" and "p.b"`,
		},
		{
			name:  "a nested group that runs again behind an agent of its own branch",
			store: retells,
			tree: `
P
  user run=1
  l branch=p.l run=1
  a branch=p.l.q.a run=1
  x branch=p.x run=1
  b branch=p.l.q.b run=1
  l branch=p.l run=1
  b branch=p.l.q.b run=1`,
			want: `SC713 info P.2,4 see P.5 see P.6`,
		},
		{
			name:  "a parallel group that goes on behind what the user said and posted",
			store: retells,
			tree: `
P
  l C1:ask() run=1
  a branch=p.a run=1
  user run=1
  - <C1 run=1
  b branch=p.b run=1`,
			only: "SC713",
		},
		{
			name: "branches side by side, whatever the order",
			tree: `
P
  user
  a branch=p.a
  b branch=p.b
  c branch=p.q.q.c
  d branch=p.q.q.d`,
		},
		{
			name: "groups in full paths that ran at the same time, or with single agents between them",
			tree: `
P
  user
  a branch=root.par1.a
  c branch=root.par2.c
  b branch=root.par1.b
  d branch=root.d
  e branch=root.e`,
		},
		{
			name: "other runs, and what no reader shows",
			tree: `
P
  user run=1
  a branch=p1.a run=1
  a branch=p1.a run=2 archived
  a branch=p1.a run=2 blank
  user branch=p1.a run=2
  b branch=p2.b run=2`,
		},
		{
			name:  "runs of nodes and tools, and labels with a dot too many",
			store: retells,
			tree: `
P
  user
  a branch=wf@1.a@1
  b branch=wf@2.b@1
  wf branch=wf@1
  tr branch=p.q.tr@1
  q branch=p.q`,
		},
		{
			name: "token sets",
			tree: `
P
  user
  a branch={"tokens":[1]}
  b branch={"tokens":[2]}`,
		},
	})
}

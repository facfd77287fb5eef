package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC812SharedMemory(t *testing.T) {
	const chat = `
P
  user
  ann "I say this"
  bob "and I that"
  ann "well"`
	branches := func(s *session.Store) { s.BranchModel = "path" }
	runCases(t, []ruleCase{
		{
			name: "two agents in one turn", only: "SC812", tree: chat,
			want: "SC812 warning P.2,3", says: `"ann" and "bob" speak in one session`,
		},
		{name: "a store whose reader goes by branches", only: "SC812", tree: chat, store: branches},
		{
			name: "a branch each", only: "SC812",
			tree: `
P
  user
  ann "I say this" branch=ann
  bob "and I that" branch=bob
  ann "well" branch=ann`,
		},
		{
			name: "a scope each", only: "SC812",
			tree: `
P
  user
  ann "I say this"
  bob "and I that" scope=T1
  ann "well"`,
		},
		{
			name: "a handoff", only: "SC812",
			tree: `
P
  user
  ann h1:handoff()
  ann <h1
  bob "I go on"`,
		},
		{
			name: "a handoff by a tool that is named after the agent", only: "SC812",
			tree: `
P
  user
  ann h1:transfer_to_bob()
  ann <h1
  bob "I go on"`,
		},
		{
			name: "the user asks another one", only: "SC812",
			tree: `
P
  user
  ann "done"
  user
  bob "done too"`,
		},
		{
			name: "what the runtime says for the user changes nobody", only: "SC812",
			tree: `
P
  user
  ann "done"
  user implicit
  bob "done too"`,
			want: "SC812 warning P.3",
		},
		{
			name: "the one that was asked answers in its caller's place: SC831", only: "SC812",
			tree: `
P agent=root
  user
  root T1>ann(search)
  sub A
  root <T1 "found it"
  ann "here it is"
A<P agent=ann
  system(search)
  ann "found it"`,
		},
		{
			name: "steps of the parent are SC804", only: "SC812",
			tree: `
P
  user "q"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system(do it)
  root "I look" c1(ls)
  root <c1 "a.txt"
  worker "done"`,
		},
		{
			name: "steps of the child are SC805", only: "SC812",
			tree: `
P agent=root
  user
  root T1>>ann(search)
  root <T1 "started"
  ann "found it"
  sub A
  root "here it is"
A<P agent=ann
  system(search)
  ann "found it at last"`,
		},
		{
			name: "steps of a sibling are SC810", only: "SC812",
			tree: siblings + `
  system(collect) at=12
  ann "I look" s1() at=13
  bob "got it" at=19`,
		},
		{
			name: "leaks are told as such", only: "SC812",
			tree: `
P agent=root
  user
  root T1>ann(search)
  ann "found it"
  sub A
  root <T1 "found it"
  root "here it is"
A<P agent=ann
  system(search)
  ann "found it"`,
		},
	})
}

package rules_test

import "testing"

func TestSC719StrayChildRoot(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a root that is titled and begins like a child",
			tree: `
C "Transferred task"
  system(do it)
  user implicit
  worker "done"`,
			want: `SC719 warning C`,
			says: `the session "Transferred task" begins like a sub-session but has no parent`,
		},
		{
			name: "a background task",
			tree: `
C "Background agent task"
  system(do it)
  user implicit
  worker "done"`,
			want: `SC719 warning C`,
		},
		{
			name: "a skill",
			tree: `
C "Skill: review"
  system "what the skill says"
  user "body" implicit
  root "done"`,
			want: `SC719 warning C`,
		},
		{
			name: "an item refers to it: that is proof, and SC715",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C "Transferred task"
  system(do it)
  user implicit
  worker "done"`,
			want: `
				SC715 warning C see P.1
				lossless: set C parent_id=P`,
		},
		{
			name: "the store says that an agent's call started it, and no session has the call",
			tree: `
C delegated
  user "do it"
  worker "done"`,
			want: `SC719 info C`,
			says: "a call of another agent started this session, and that call is not stored. Its conversation was deleted, or is stored elsewhere",
		},
		{
			name: "a session has the call",
			tree: `
P
  root T1>worker(do it)=C
  root <T1=C
  root "fine"
C delegated
  user "do it"
  worker "done"`,
		},
		{
			name: "a session of that title which a person began",
			tree: `
C "Transferred task"
  user
  root "ok"`,
		},
		{
			name: "a beginning of that kind under another title",
			tree: `
C "Optimize my Dockerfile"
  system(do it)
  user implicit
  worker "done"`,
		},
	})
}

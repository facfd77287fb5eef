package replay_test

import "testing"

func TestCompareKnowsWhatARepairDid(t *testing.T) {
	failed := `
P
  user
  root T1>worker(do it)
  root <T1! "failed"
C<P
  worker "I work" w1() unfinished
  worker <w1 unfinished
  worker "half" unfinished`
	rebuilt := `
P
  user
  root T1>worker(do it)
  sub N
  root <T1! "failed"
N<P
  system(do it) synthetic
  user implicit synthetic
  worker "I work" w1()`
	runComparisons(t, []compareCase{
		{
			name:     "a stand-in for a result",
			recorded: "P\n  user\n  root s1()\n  user \"again\"",
			stored:   "P\n  user\n  root s1()\n  root <s1~ synthetic\n  user \"again\"",
		},
		{
			name: "a stand-in for a result that the recording stopped before", recorded: "P\n  user\n  root c1>root(do it)\nC<P\n  root c1() unfinished\n  root <c1 \"[\" unfinished",
			stored: "P\n  user\n  root c1>root(do it)\n  root <c1~ \"[sessctl]\" synthetic\n  user \"again\"",
			want:   "lost R:C.0\nlost R:C.1",
		},
		{name: "a child that was rebuilt", recorded: failed, stored: rebuilt},
		{
			name: "what differs in it is told", recorded: failed, stored: edited(rebuilt, `"I work" w1()`, `"I slept" w1()`),
			want: `altered R:C.0 as N.2 text`,
		},
		{
			name: "a child of another task is not the one", recorded: failed, stored: edited(rebuilt, `system(do it)`, `system(do more)`),
			want: `
foreign P.2
lost R:C.0
lost R:C.1
lost R:C.2`,
		},
	})
}

// taken is a run in which the result of a silent child took over its row.
const taken = `
P
  user
  root T1>worker(do it) T2>alpha(do more)
  sub C
  root <T1 "look"
  sub D
  root <T2 "done"
  root "fine"
C<P
  system(do it)
  worker "look" w1()
  worker <w1
D<P
  system(do more)
  alpha "done"`

func TestCompareOfDamageBesideLeaks(t *testing.T) {
	leaky := edited(edited(taken, "  sub C\n  root <T1 \"look\"", "  worker \"look\" w1()\n  worker <T1 \"look\"\n  sub C"), "  sub D\n", "  alpha \"done\"\n  sub D\n")
	runComparisons(t, []compareCase{
		{
			name: "the calls are lost", recorded: taken, stored: edited(leaky, "  root T1>worker(do it) T2>alpha(do more)\n", ""),
			want: `
lost R:P.1 behind P.0
altered R:P.3 as P.2 agent`,
		},
		{
			name: "and so is what a child said: it stands elsewhere", recorded: taken,
			stored: edited(edited(leaky, "  root T1>worker(do it) T2>alpha(do more)\n", ""), "  system(do it)\n  worker \"look\" w1()", "  system(do it)"),
			want: `
lost R:P.1 behind P.0
altered R:P.3 as P.2 agent
misplaced R:C.1 as P.1`,
		},
		{
			name: "a stranger speaks", recorded: taken, stored: edited(leaky, "  worker <T1", "  root \"inserted\"\n  worker <T1"),
			want: `
P.1 T1 → C at 5, answered 4, leaked 2=C.1
P.1 T2 → D at 7, answered 8, leaked 6=D.1
foreign P.3
altered R:P.3 as P.4 agent`,
		},
		{
			name: "the first of two results is lost, and one that leaked has another name",
			recorded: `
P
  user
  root T1>worker(do it) T2>alpha(do more)
  root <T1! "failed"
  sub D
  root <T2 "done"
C<P
  worker w1() unfinished
  worker <w1 "found" unfinished
  worker "ok" unfinished
D<P
  system(do more)
  alpha "done"`,
			stored: `
P
  user
  root T1>worker(do it) T2>alpha(do more)
  worker w1()
  beta <w1 "found"
  alpha "done"
  sub D
  root <T2 "done"
D<P
  system(do more)
  alpha "done"`,
			want: `
P.1 T1 → none, until 7, leaked 2 3
P.1 T2 → D at 5, answered 6, leaked 4=D.1
lost R:P.2 behind P.1
lost R:C.2`,
		},
		{
			name: "of two equal results the one that can have taken over a row",
			recorded: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1 "fine"
C<P
  system(do it)
  worker c1>beta(part)
  sub D
  worker <c1 "found"
  worker "fine"
D<C
  system(part)
  beta c1>alpha(search)
  sub E
  beta <c1 "found"
E<D
  system(search)
  alpha "found"`,
			stored: `
P
  user
  root T1>worker(do it)
  worker c1>beta(part)
  gamma <c1 "found"
  worker "fine"
  sub C
  root <T1 "fine"
C<P
  system(do it)
  worker c1>beta(part)
  sub D
  worker <c1 "found"
  worker "fine"
D<C
  system(part)
  beta c1>alpha(search)
  sub E
  beta <c1 "found"
E<D
  system(search)
  alpha "found"`,
			want: `P.1 T1 → C at 5, answered 6, leaked 2=C.1 3=C.3 4=C.4`,
		},
		{
			name: "a result that took over a row, of a child that had the same answer for the same id",
			recorded: `
P
  user
  root c1>worker(do it)
  sub C
  root <c1 "found"
C<P
  system(do it)
  worker c1>beta(part)
  sub D
  worker <c1 "found"
D<C
  system(part)
  beta "found"`,
			stored: `
P
  user
  root c1>worker(do it)
  worker c1>beta(part)
  beta "found"
  worker <c1 "found"
  sub C
C<P
  system(do it)
  worker c1>beta(part)
  sub D
  worker <c1 "found"
D<C
  system(part)
  beta "found"`,
			want: `
P.1 c1 → C at 5, answered 4, leaked 2=C.1 3/2=D.1
altered R:P.3 as P.4 agent`,
		},
		{
			name:     "the same ids are no pair where another agent makes other calls",
			recorded: "P\n  user\n  root \"a\" c1:read(x)\n  root <c1\n  root \"fine\"",
			stored:   "P\n  user\n  worker \"b\" c1:write(y)\n  root \"fine\"",
			want: `
foreign P.1
lost R:P.1 behind P.0
lost R:P.2 behind P.0`,
		},
		{
			name:     "the same call under another name is one",
			recorded: "P\n  user\n  root \"a\" c1:read(x)\n  root \"fine\"", stored: "P\n  user\n  worker \"b\" c1:read(x)\n  root \"fine\"",
			want: `altered R:P.1 as P.1 agent, text`,
		},
	})
}

package rules_test

import (
	"strings"
	"testing"
)

func TestSC717ChildTranscriptLost(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "an answered delegation with an empty child",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
  root "fine"
C<P agent=worker`,
			want: `SC717 warning C see P.0`,
			says: "call T1 (transfer_task) was answered",
		},
		{
			name: "a child with nothing but a summary",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
  root "fine"
C<P
  summary "so far"`,
			want: `SC717 warning C see P.0`,
		},
		{
			name: "a child that holds its task only, as one that ended in reasoning",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1 "(no output)"
  root "fine"
C<P
  system(do it)
  user implicit`,
		},
		{
			name: "what leaked into the parent is not lost: SC702",
			tree: `
P
  root T1>worker(do it)
  worker "done"
  sub C
  root <T1
C<P agent=worker`,
			want: `
				SC702 error P.1
				lossless: move P.1 to C at start`,
		},
		{
			name: "an unanswered delegation may still fill its child",
			tree: `
P
  root T1>worker(do it)
  sub C
C<P agent=worker`,
			store: alive,
			want:  `SC102 info P.0`,
		},
		{
			name: "a background child may be empty until it ends",
			tree: `
P
  root B1>>worker(do it)=C
  root <B1
  sub C
  root "fine"
C<P agent=worker`,
		},
	})
}

func TestSC717SubSessionsThatOnlyARecordingHas(t *testing.T) {
	nested := strings.Replace(delegated, "worker \"looking\" c1()\n  worker <c1", "worker \"looking\" W1>grand(sub)\n  sub G\n  worker <W1", 1) + `
G<C
  system(sub)
  user implicit
  grand "found"`
	parent := func(run string) string { return lacking(run[:strings.Index(run, "C<P")], "sub C") }
	unfinished := `
P
  user
  root T1>worker(do it)
  root <T1! "it failed"
C<P
  worker "looking" unfinished`
	runCompared(t, []comparedCase{
		{
			name: "it completed, and the store has nothing of it", recorded: delegated, stored: parent(delegated),
			want: "SC717 warning P.1",
			says: `sub-session C of "worker" is in the recording and not in the store. "root" started it with call T1 (transfer_task) (line 2). The recording has 5 items of it`,
		},
		{
			name: "what is below it is lost with it", recorded: nested, stored: parent(nested),
			want: "SC717 warning P.1", says: "The recording has 6 items of it, and 1 sub-session below it",
		},
		{
			name: "the reference is left", recorded: delegated, stored: strings.Replace(parent(delegated), "  root <T1", "  sub -\n  root <T1", 1),
			want: "SC717 warning P.1",
		},
		{
			name: "the session is left", recorded: delegated, stored: delegated[:strings.Index(delegated, "C<P")] + "C<P",
			want: "SC717 warning C see P.1",
		},
		{
			name: "the call is lost as well, and the reference is left", recorded: delegated,
			stored: strings.Replace(lacking(parent(delegated), "root T1>"), "  root <T1", "  sub -\n  root <T1", 1),
			want:   "SC717 warning P\nSC728 error P.0",
		},
		{
			name: "one that never completed", recorded: unfinished, stored: unfinished[:strings.Index(unfinished, "C<P")],
			want: "SC717 info P.1", says: "It never completed, so a runtime may have had nothing to store, and the recording is all that is left of it",
		},
		{name: "one that never completed and is stored", recorded: unfinished, stored: unfinished},
	})
}

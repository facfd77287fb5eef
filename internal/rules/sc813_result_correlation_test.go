package rules_test

import (
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

func TestSC813ResultCorrelation(t *testing.T) {
	const tree = `
P agent=root
  user at=0
  root T1>worker(do it) at=1
  sub C
  root <T1 "done" at=100
C<P agent=worker
  worker "done"`
	delegation := func(tree *session.Tree) *session.Delegation { return tree.Root().Items[1].Calls[0].Delegation }
	result := func(tree *session.Tree) *session.Result { return &tree.Root().Items[3].Results[0] }
	tied := func(call, answer string) func(*session.Tree) {
		return func(tree *session.Tree) {
			delegation(tree).Correlation, result(tree).Correlation = call, answer
		}
	}
	given := func(d time.Duration) func(*session.Tree) {
		return func(tree *session.Tree) { delegation(tree).Timeout = d }
	}
	const two = `
P agent=root
  user at=0
  root T1>worker(do it) at=1
  root <T1 "done" at=100
  root T2>worker(do that) at=101
  root <T2 "done" at=102`
	runCases(t, []ruleCase{
		{
			name: "another correlation", only: "SC813", tree: tree, tweak: tied("k1", "k2"),
			want: "SC813 warning P.3 see P.1", says: `the result of call T1 (transfer_task) has the correlation "k2", but the call has "k1". It may belong to another delegation`,
		},
		{name: "the same", only: "SC813", tree: tree, tweak: tied("k1", "k1")},
		{name: "one that only the call has", only: "SC813", tree: tree, tweak: tied("k1", "")},
		{
			name: "another child", only: "SC813", tree: tree,
			tweak: func(tree *session.Tree) {
				delegation(tree).Child, result(tree).Child = "C", "D"
			},
			want: "SC813 warning P.3 see P.1", says: "the result of call T1 (transfer_task) names session D, but the call started C. It may belong to another delegation",
		},
		{
			name: "too late", only: "SC813", tree: tree, tweak: given(time.Minute),
			want: "SC813 warning P.3 see P.1", says: "the result of call T1 (transfer_task) came too late, after 1m39s. The call gave it 1m0s",
		},
		{name: "in time", only: "SC813", tree: tree, tweak: given(2 * time.Minute)},
		{name: "by less than stored times tell", only: "SC813", tree: tree, tweak: given(98500 * time.Millisecond)},
		{name: "a store without time limits", only: "SC813", tree: tree},
		{name: "an error may say that the time was over", only: "SC813", tree: tree, tweak: func(tree *session.Tree) {
			given(time.Minute)(tree)
			result(tree).IsError = true
		}},
		{
			name: "the usual limit, where other calls name theirs", only: "SC813", tree: two,
			tweak: func(tree *session.Tree) { tree.Root().Items[3].Calls[0].Delegation.Timeout = time.Minute },
			want:  "SC813 warning P.2 see P.1", says: "the result of call T1 (transfer_task) came too late, after 1m39s. The limit (isolation: timeout in .sessctl.yaml) is 1m0s",
		},
		{
			name: "the result behind an approval is looked at, and not the time of the person", only: "SC813",
			tree: `
P agent=root
  user at=0
  root T1>worker(do it) at=1
  root <T1? "waiting" at=2
  root a1:ask() at=3
  root <T1 "done" at=1000`,
			tweak: func(tree *session.Tree) {
				d := tree.Root().Items[1].Calls[0].Delegation
				d.Timeout, d.Correlation = time.Minute, "k1"
				tree.Root().Items[4].Results[0].Correlation = "k2"
			},
			want: "SC813 warning P.4 see P.1", says: `the result of call T1 (transfer_task) has the correlation "k2", but the call has "k1". It may belong to another delegation`,
		},
		{
			name: "no usual limit", only: "SC813", tree: two, limit: &rules.Isolation{},
			tweak: func(tree *session.Tree) { tree.Root().Items[3].Calls[0].Delegation.Timeout = time.Minute },
		},
	})
}

package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// comparedCase is a stored tree beside the recording of its run, and everything
// that all rules together find in what differs.
type comparedCase struct {
	name             string // a sentence
	recorded, stored string // in the notation of treetest; a recorded item's line is its number there
	store            func(*session.Store)
	differ           func(*replay.Comparison) // changes what replay.Compare says
	want             string                   // in the form of describe, "" for nothing
	says             string                   // a part of the first finding's message
}

func runCompared(t *testing.T, cases []comparedCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			stored := treetest.Tree(t, tc.stored)
			compared := replay.Compare(recordedTree(t, tc.recorded), stored, &session.Runtime{NoOutput: "(no output)"})
			if tc.differ != nil {
				tc.differ(compared)
			}
			store := &session.Store{Writer: session.WriterDead, Children: session.Children{ChildrenClosed: true}}
			if tc.store != nil {
				tc.store(store)
			}
			found := compare(store, stored, compared, catalogue.All)
			if diff := cmp.Diff(lines(tc.want), lines(describe([]*session.Tree{stored}, found))); diff != "" {
				t.Errorf("want (-), got (+):\n%s%s", diff, messages(found))
			}
			if tc.says != "" && (len(found) == 0 || !strings.Contains(found[0].Message, tc.says)) {
				t.Errorf("the first finding should say %q:\n%s", tc.says, messages(found))
			}
		})
	}
}

func recordedTree(t *testing.T, notation string) *session.Tree {
	t.Helper()
	tree := treetest.Tree(t, notation)
	for _, s := range tree.Sessions {
		for i := range s.Items {
			s.Items[i].Own().Table = "events"
		}
	}
	return tree
}

// compare runs the rules that compare.
func compare(store *session.Store, stored *session.Tree, compared *replay.Comparison, chosen []*rules.Rule) []*rules.Finding {
	var found []*rules.Finding
	pass := rules.NewComparisonPass(catalogue.All, store, stored, compared, (&ruleCase{}).judge(), func(f *rules.Finding) { found = append(found, f) })
	for _, r := range chosen {
		if r.Scope&rules.PerComparison != 0 {
			pass.Run(r)
		}
	}
	return found
}

// delegated is the recording of a run with one delegation.
const delegated = `
P
  user
  root T1>worker(do it)
  sub C
  root <T1 "done"
  root "all done"
C<P
  system(do it)
  user implicit
  worker "looking" c1()
  worker <c1
  worker "done"`

func TestAStoreThatIsAsRecordedHasNoFinding(t *testing.T) {
	runCompared(t, []comparedCase{
		{name: "word for word", recorded: delegated, stored: delegated},
		{
			name: "damage that the run itself left is no difference", recorded: "P\n  user\n  root c1()\n  user\n  root \"ok\"",
			stored: "P\n  user\n  root c1()\n  user\n  root \"ok\"",
		},
	})
}

// TestRulesOfCheckTellADifferenceWhereTheyFindIt: under their own id, and the new
// rules are silent then.
func TestRulesOfCheckTellADifferenceWhereTheyFindIt(t *testing.T) {
	runCompared(t, []comparedCase{
		{
			name: "a lost result", recorded: "P\n  user\n  root c1()\n  root <c1\n  root \"ok\"",
			stored: "P\n  user\n  root c1()\n  root \"ok\"",
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.1`,
			says: "call c1 (shell) has no result. The recording has the result of call c1 (line 3)",
		},
		{
			name: "and another call of the same id, which never had one", recorded: "P\n  user\n  root c1()\n  user\n  root c1()\n  root <c1\n  root \"ok\"",
			stored: "P\n  user\n  root c1()\n  user\n  root c1()\n  root \"ok\"",
			want: `
				SC101 error P.3
				lossless: insert placeholder c1 by root in P after P.3`,
		},
		{
			name: "in a child that is over, it is lost all the same", recorded: delegated, stored: lacking(delegated, "worker <c1"),
			want: `SC101 error C.2`,
		},
		{
			name: "the result of a delegation whose child holds the answer", recorded: delegated, stored: lacking(delegated, `root <T1 "done"`),
			want: `
				SC716 error P.1 see C.4
				lossless: insert result T1 from C.4 in P after P.2`,
			says: "The recording has the result of call T1 (line 4)",
		},
		{
			name: "a lost reference", recorded: delegated, stored: lacking(delegated, "sub C"),
			want: `
				SC705 warning C see P.1
				lossless: insert sub C in P after P.1`,
			says: "The recording has the reference to sub-session C (line 3)",
		},
		{
			name: "a result with the child's name", recorded: delegated, stored: strings.Replace(delegated, "root <T1", "worker <T1", 1),
			want: `
				SC720 info P.3
				lossless: set P.3 agent_name=root`,
		},
	})
}

// TestWhatLeakedIsSaidByTheLeakRulesAlone, also when the recording has more of the
// child than what leaked.
func TestWhatLeakedIsSaidByTheLeakRulesAlone(t *testing.T) {
	failed := `
P
  user
  root T1>worker(do it)
  root <T1! "it failed"
C<P
  worker "looking" c1() unfinished
  worker <c1 unfinished
  worker "almost" unfinished`
	runCompared(t, []comparedCase{
		{
			name: "copies", recorded: delegated, stored: strings.Replace(delegated, "  sub C", "  worker \"looking\" c1()\n  worker \"done\"\n  sub C", 1),
			want: `
				SC701 error P.2,3
				kept: remove P.2 twin C.2; remove P.3 twin C.4`,
		},
		{
			name: "sole copies of a child that was never stored", recorded: failed, stored: `
P
  user
  root T1>worker(do it)
  worker "looking" c1()
  worker "almost"
  root <T1! "it failed"`,
			want: `
				SC703 error P.2,3
				lossless: create new1 below P for T1 of P.1; move P.2 to new1 at start; move P.3 to new1 after P.2; insert sub new1 in P after P.1`,
			says: "This is the only copy in the store, and the recording has 1 item more of that sub-session",
		},
	})
}

// TestWhoTellsDoesNotDependOnTheRulesThatRun: a rule that was not asked leaves its
// findings to nobody.
func TestWhoTellsDoesNotDependOnTheRulesThatRun(t *testing.T) {
	stored := treetest.Tree(t, lacking(delegated, "worker <c1"))
	compared := replay.Compare(recordedTree(t, delegated), stored, &session.Runtime{NoOutput: "(no output)"})
	if found := compare(&session.Store{Writer: session.WriterDead}, stored, compared, []*rules.Rule{catalogue.FindRule("SC728")}); len(found) > 0 {
		t.Errorf("SC101 has this one:\n%s", messages(found))
	}
}

// TestNoFindingAboutADifferenceHoldsWhatWasSaid: names and places only.
func TestNoFindingAboutADifferenceHoldsWhatWasSaid(t *testing.T) {
	stored := treetest.Tree(t, `
P
  user "secret A"
  root "secret B" think(secret C)
  user "secret D"`)
	recorded := recordedTree(t, `
P
  user "secret A"
  root "secret E" think(secret F)
  root "secret G" c1:shell(secret H)
  root <c1 "secret I"
  user "secret D"
C<P
  worker "secret J"`)
	found := compare(&session.Store{Writer: session.WriterDead}, stored, replay.Compare(recorded, stored, &session.Runtime{NoOutput: "(no output)"}), catalogue.All)
	if len(found) < 2 || strings.Contains(messages(found), "secret") {
		t.Errorf("%d findings:\n%s", len(found), messages(found))
	}
}

// lacking is a tree without the lines that begin so.
func lacking(notation string, items ...string) string {
	kept := slices.DeleteFunc(strings.Split(notation, "\n"), func(line string) bool {
		return slices.ContainsFunc(items, func(item string) bool { return strings.HasPrefix(strings.TrimSpace(line), item) })
	})
	return strings.Join(kept, "\n")
}

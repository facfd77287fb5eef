package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// oddRule is the id of a rule that only these tests have.
const oddRule = "SC499"

// minding is a profile that minds the odd rule as told.
func minding(name string, level rules.Severity) *rules.Profile {
	return &rules.Profile{
		Name: name, Levels: map[string]rules.Severity{oddRule: level},
		Errors: map[string]string{oddRule: name + " refuses message {message}"},
	}
}

var (
	strictAPI  = minding("strict", rules.Error)
	pickyAPI   = minding("picky", rules.Warning)
	relaxedAPI = minding("relaxed", rules.Info)
	silentAPI  = &rules.Profile{Name: "silent"}
)

// oneByOne is a rule that asks each profile, as those do whose findings differ
// from profile to profile.
func oneByOne(severity rules.Severity) *rules.Rule {
	return &rules.Rule{ID: oddRule, Severity: severity, Profiled: true, Scope: rules.PerTree, Run: func(p *rules.Pass) {
		for _, s := range p.Subjects {
			for i := range s.Items {
				for _, profile := range s.Profiles {
					p.Report(rules.Finding{
						Defect: rules.Defect{
							Severity:      severity,
							Message:       "it is odd",
							Profile:       profile,
							ProviderError: profile.ErrorText(oddRule, rules.Said{Message: i}),
							Place:         session.Place{Item: i},
						},
						Session: s.Session, Ref: s.ItemRef(i),
					})
				}
			}
		}
	}}
}

// forAll is a rule that leaves it to the pass to ask the profiles.
func forAll(severity rules.Severity, profiled bool) *rules.Rule {
	return &rules.Rule{ID: oddRule, Severity: severity, Profiled: profiled, Scope: rules.PerTree, Run: func(p *rules.Pass) {
		for _, s := range p.Subjects {
			for i := range s.Items {
				p.Report(rules.Finding{Defect: rules.Defect{Severity: severity, Message: "it is odd", Place: session.Place{Item: i}}, Session: s.Session, Ref: s.ItemRef(i)})
			}
		}
	}}
}

func judgedBy(t *testing.T, r *rules.Rule, store *session.Store, profiles ...*rules.Profile) []*rules.Finding {
	t.Helper()
	var found []*rules.Finding
	tree := treetest.Trees(t, "P\n  user")[0]
	rules.NewPass(store, tree, rules.Judge{Profiles: profiles}, func(f *rules.Finding) { found = append(found, f) }).Run(r)
	return found
}

// asJudged is a finding as profiles judge it: "error strict says …; strict error, …".
func asJudged(found []*rules.Finding) string {
	var list []string
	for _, f := range found {
		line := f.Severity.String()
		if f.Profile != nil {
			line += " " + f.Profile.Name
		}
		if f.ProviderError != "" {
			line += " says " + f.ProviderError
		}
		for _, j := range f.Judged {
			line += "; " + j.Profile.Name + " " + j.Severity.String()
		}
		list = append(list, line)
	}
	return strings.Join(list, "\n")
}

func TestTheProfileThatMindsItMostSpeaks(t *testing.T) {
	type list = []*rules.Profile
	for _, tc := range []struct {
		name     string
		rule     *rules.Rule
		profiles list
		want     string
	}{
		{"one profile", oneByOne(rules.Error), list{pickyAPI}, "warning picky says picky refuses message 0; picky warning"},
		{"the worst last", oneByOne(rules.Error), list{relaxedAPI, pickyAPI, strictAPI}, "error strict says strict refuses message 0; relaxed info; picky warning; strict error"},
		{"the worst first", oneByOne(rules.Error), list{strictAPI, pickyAPI, relaxedAPI}, "error strict says strict refuses message 0; strict error; picky warning; relaxed info"},
		{"one that does not mind", oneByOne(rules.Error), list{silentAPI, relaxedAPI}, "info relaxed says relaxed refuses message 0; relaxed info"},
		{"nobody minds", oneByOne(rules.Error), list{silentAPI, bare}, ""},
		{"all are asked", forAll(rules.Error, true), list{pickyAPI, silentAPI, strictAPI}, "error strict; picky warning; strict error"},
		{"a rule for everybody keeps its severity where it is not listed", forAll(rules.Error, false), list{relaxedAPI, bare}, "error bare; relaxed info; bare error"},
		{"a level can be above the rule's own severity", forAll(rules.Info, true), list{strictAPI}, "error strict; strict error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, asJudged(judgedBy(t, tc.rule, &session.Store{}, tc.profiles...))); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

// TestAFindingThatIsLessStaysLess: where a rule says of a finding that it is only
// an info, no profile makes it more.
func TestAFindingThatIsLessStaysLess(t *testing.T) {
	rule := forAll(rules.Warning, true)
	rule.Severity = rules.Error // its findings are warnings
	if got, want := asJudged(judgedBy(t, rule, &session.Store{}, strictAPI, relaxedAPI)), "warning strict; strict warning; relaxed info"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSeverityDoesNotDependOnTheOrderOfProfiles, and each is heard once.
func TestSeverityDoesNotDependOnTheOrderOfProfiles(t *testing.T) {
	all := []*rules.Profile{strictAPI, pickyAPI, relaxedAPI, silentAPI}
	rapid.Check(t, func(rt *rapid.T) {
		chosen := rapid.Permutation(all).Draw(rt, "profiles")[:rapid.IntRange(1, len(all)).Draw(rt, "number")]
		profiled := rapid.Bool().Draw(rt, "profiled")
		own := rules.Severity(rapid.IntRange(0, 2).Draw(rt, "severity"))
		found := judgedBy(t, forAll(own, profiled), &session.Store{}, chosen...)
		var worst, heard = rules.Info, 0
		concerns := profiled || slices.ContainsFunc(chosen, func(p *rules.Profile) bool { return p != silentAPI })
		for _, p := range chosen {
			level, listed := p.Levels[oddRule]
			if !listed && profiled || !concerns {
				continue
			}
			if !listed {
				level = own
			}
			worst, heard = max(worst, level), heard+1
		}
		if heard == 0 {
			if got := asJudged(found); concerns && got != "" || !concerns && got != own.String() {
				rt.Fatalf("nobody minds, and %q is found", got)
			}
			return
		}
		if len(found) != 1 || found[0].Severity != worst || len(found[0].Judged) != heard {
			rt.Fatalf("%s; want one finding, %s, judged by %d", asJudged(found), worst, heard)
		}
		for _, j := range found[0].Judged {
			if !slices.Contains(chosen, j.Profile) || j.Severity > found[0].Severity {
				rt.Fatalf("%s: %s is not asked or minds it more than the finding says", asJudged(found), j.Profile.Name)
			}
		}
	})
}

// TestTwoFindingsOfOneRecordStayTwo: the same profile hears two findings of one
// record (a call and a result with the same number, say), so they are not one.
func TestTwoFindingsOfOneRecordStayTwo(t *testing.T) {
	rule := forAll(rules.Error, true)
	once := rule.Run
	rule.Run = func(p *rules.Pass) { once(p); once(p) }
	want := "error strict; picky warning; strict error"
	if diff := cmp.Diff(want+"\n"+want, asJudged(judgedBy(t, rule, &session.Store{}, pickyAPI, strictAPI))); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// TestWhatTheRuntimeSeesTo: nobody hears of it unless a profile was asked for by
// name, and then it says who sees to it.
func TestWhatTheRuntimeSeesTo(t *testing.T) {
	store := &session.Store{Title: "docker agent", Requests: session.Requests{Adapts: map[string]string{oddRule: "leaves odd messages out"}}}
	if got := asJudged(judgedBy(t, forAll(rules.Error, true), store)); got != "" {
		t.Errorf("nobody asked, and %s is found", got)
	}
	found := judgedBy(t, oneByOne(rules.Error), store, pickyAPI, strictAPI)
	if got, want := asJudged(found), "info picky; picky info; strict info"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(found) == 1 && found[0].Message != "it is odd. docker agent leaves odd messages out." {
		t.Errorf("the message is %q", found[0].Message)
	}
	// A rule for everybody is about what is stored, whatever the runtime sends.
	if got, want := asJudged(judgedBy(t, forAll(rules.Error, false), store, strictAPI)), "error strict; strict error"; got != want {
		t.Errorf("a rule for everybody: got %q, want %q", got, want)
	}
}

// TestWhatTheRuntimeSeesToForSome: the others keep the fix and what an adapter
// sends, whoever is asked first and however little they mind.
func TestWhatTheRuntimeSeesToForSome(t *testing.T) {
	rule := &rules.Rule{ID: oddRule, Severity: rules.Error, Profiled: true, Scope: rules.PerTree, Run: func(p *rules.Pass) {
		s := p.Subjects[0]
		p.Report(rules.Finding{
			Defect: rules.Defect{
				Severity: rules.Error,
				Message:  "it is odd",
				Sent:     "an even one",
				Fixes:    []rules.Fix{{Title: "make it even"}},
				Place:    session.Place{Item: 0},
			},
			Session: s.Session, Ref: s.ItemRef(0),
		})
	}}
	store := &session.Store{Title: "docker agent", Requests: session.Requests{Adapts: map[string]string{oddRule + " strict": "leaves odd messages out"}}}
	for _, other := range []*rules.Profile{pickyAPI, relaxedAPI} {
		for _, profiles := range [][]*rules.Profile{{strictAPI, other}, {other, strictAPI}} {
			found := judgedBy(t, rule, store, profiles...)
			if len(found) != 1 || len(found[0].Judged) != 2 {
				t.Fatalf("%q", asJudged(found))
			}
			if f := found[0]; f.Profile != other || f.Message != "it is odd" || f.Sent != "an even one" || len(f.Fixes) != 1 {
				t.Errorf("%s first: %s speaks: %q, sent %q, %d fixes", profiles[0].Name, f.Profile.Name, f.Message, f.Sent, len(f.Fixes))
			}
		}
	}
	if f := judgedBy(t, rule, store, strictAPI)[0]; f.Sent != "" || len(f.Fixes) > 0 || f.Message != "it is odd. docker agent leaves odd messages out." {
		t.Errorf("the runtime sees to it: %q, sent %q, %d fixes", f.Message, f.Sent, len(f.Fixes))
	}
}

// TestRulesOfTheStoreAskNobody: what concerns no request has no profile.
func TestRulesOfTheStoreAskNobody(t *testing.T) {
	for _, id := range []string{"SC019", "SC721"} {
		rule := forAll(rules.Warning, false)
		rule.ID = id
		if got := asJudged(judgedBy(t, rule, &session.Store{}, strictAPI, relaxedAPI)); got != "warning" {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// TestSessionsAreAskedByTheirOwnHint: without a name, each session has its own
// profile.
func TestSessionsAreAskedByTheirOwnHint(t *testing.T) {
	tree := treetest.Trees(t, `
P model=openai/gpt-4o
  user
  root "ok"
  sub C
C<P model=anthropic/claude-sonnet-4-5
  user
  root "ok"`)[0]
	got := ""
	pass := rules.NewPass(&session.Store{}, tree, rules.Judge{}, func(f *rules.Finding) {
		got += fmt.Sprintln(f.Session.ID, f.Profile.Name)
	})
	rule := forAll(rules.Error, true)
	rule.ID = "SC401" // every profile minds it
	pass.Run(rule)
	if want := "P openai-chat\nP openai-chat\nP openai-chat\nC anthropic\nC anthropic\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

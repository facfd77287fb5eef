package adk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// TestHealthySessionsHaveNoWarning: what the runtime stores when nothing goes wrong,
// with tools that answer later, confirmations and summaries, is at most worth an info,
// and every call of its next requests has a response.
func TestHealthySessionsHaveNoWarning(t *testing.T) {
	for _, g := range adktest.Generations {
		t.Run(string(g), func(t *testing.T) {
			var sessions []adktest.Session
			for seed := range uint64(campaign.Rounds(40, 300)) {
				sessions = append(sessions, g.Random(seed, 12))
			}
			path := created(t, g, sessions...)
			plan, _, err := repairtest.Plan(path, "waiting")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range plan.Findings {
				// Of a loop whose agent ended with a text and then calls a tool, adk sends the
				// one behind the other, which Gemini refuses.
				if f.Severity > rules.Info && f.Rule.ID != "SC306" {
					t.Errorf("%s %s %s:%d %s", f.Severity, f.Rule.ID, f.Session, f.Item, f.Message)
				}
			}
			if !plan.Empty() {
				t.Errorf("there is something to repair:\n%s", told(plan))
			}
			for _, s := range sessions {
				if open := unanswered(t, path, g, s.ID); len(open) > 0 {
					t.Errorf("%s is no healthy session: %v have no response", s.ID, open)
				}
			}
		})
	}
}

// TestInterruptedSessionsAreNamedAndAnswered holds what is found and repaired in sessions
// whose runtime was killed against the requests that the runtime would make of them: each
// that would be refused is named; what a repair leaves, it says; and with --allow waiting
// nothing is left.
func TestInterruptedSessionsAreNamedAndAnswered(t *testing.T) {
	for _, g := range adktest.Generations {
		t.Run(string(g), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "adk.db")
			var sessions []adktest.Session
			for seed := range uint64(campaign.Rounds(40, 300)) {
				sessions = append(sessions, g.Interrupted(seed, 12))
			}
			if err := adktest.Create(path, g, sessions...); err != nil {
				t.Fatal(err)
			}
			refused := func() map[string][]string {
				open := map[string][]string{}
				for _, s := range sessions {
					if ids := unanswered(t, path, g, s.ID); len(ids) > 0 {
						open[s.ID] = ids
					}
				}
				return open
			}
			before := refused()
			plan, _, err := repairtest.Repair(path)
			if err != nil {
				t.Fatalf("%v\n%s", err, told(plan))
			}
			wantNamed(t, "before", before, foundBy(plan))
			after := refused()
			wantNamed(t, "left by a repair", after, leftRefused(plan))
			if err := errors.Join(os.Remove(path+".backup"), os.Remove(path+".receipt.json")); err != nil {
				t.Fatal(err)
			}
			if plan, _, err = repairtest.Repair(path, "waiting"); err != nil {
				t.Fatalf("%v\n%s", err, told(plan))
			}
			allowed := refused()
			wantNamed(t, "left by a repair with --allow waiting", allowed, leftRefused(plan))
			if len(allowed) > 0 {
				t.Errorf("with --allow waiting these calls have no response: %v\n%s", allowed, told(plan))
			}
			if len(before) == 0 || len(after) == 0 && g != adktest.P0First && g != adktest.G1 {
				t.Error("the sessions do not have what this is to test")
			}
			t.Logf("of %d interrupted sessions %d were refused, %d after a repair, %d after one with --allow waiting",
				len(sessions), len(before), len(after), len(allowed))
		})
	}
}

func unanswered(t *testing.T, path string, g adktest.Generation, session string) []string {
	t.Helper()
	open, err := openCalls(path, g, session)
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// wantNamed holds that every call of refused sessions is among those that were told of,
// and no other.
func wantNamed(t *testing.T, when string, refused map[string][]string, told []string) {
	t.Helper()
	var want []string
	for session, calls := range refused {
		for _, id := range calls {
			want = append(want, session+" "+id)
		}
	}
	for _, name := range want {
		if !slices.Contains(told, name) {
			t.Errorf("%s: nothing tells of %s", when, name)
		}
	}
	for _, name := range told {
		if !slices.Contains(want, name) {
			t.Errorf("%s: %s has a response", when, name)
		}
	}
}

// foundBy are the calls without a result that a plan repairs or leaves, by session.
func foundBy(plan *repair.Plan) []string {
	calls := leftRefused(plan)
	for _, tree := range plan.Trees {
		for _, f := range tree.Before {
			if name := fmt.Sprint(f.Session, " ", f.Call); isOpen(f) && !slices.Contains(calls, name) {
				calls = append(calls, name)
			}
		}
	}
	return calls
}

// leftRefused are the calls without a result that a plan leaves, by session: those that
// its report says a provider would refuse.
func leftRefused(plan *repair.Plan) (calls []string) {
	for _, f := range plan.Findings {
		if isOpen(f) {
			calls = append(calls, fmt.Sprint(f.Session, " ", f.Call))
		}
	}
	return calls
}

func isOpen(f *check.Finding) bool {
	return f.Refused() && strings.HasPrefix(f.Rule.ID, "SC10")
}

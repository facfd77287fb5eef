package adk_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
			if !plan.IsEmpty() {
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
				sessions = append(sessions, interrupted(g, seed, 12))
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
	return f.IsRefused() && strings.HasPrefix(f.Rule.ID, "SC10")
}

// interrupted is a random session whose runtime was killed: it ends in the middle of a
// turn, long-running tools may have given no response, not even one for now, and the
// user may have gone on.
func interrupted(g adktest.Generation, seed uint64, size int) adktest.Session {
	s := g.Random(seed, size)
	rng := rand.New(rand.NewPCG(seed, 5))
	s.ID = "cut-" + s.ID
	if g != adktest.G1 && rng.IntN(2) == 0 { // adk-go 1 stores a response of nothing
		s.Events = unanswer(rng, s.Events)
	}
	s.Events = s.Events[:cut(rng, s.Events)]
	again := s.Events[0]
	again.ID, again.Time = s.ID+"-again", adktest.Start.Add(1_000_000*time.Millisecond)
	again.Invocation = "e-00000000-0000-4000-8000-again0000000"
	switch last := &s.Events[len(s.Events)-1]; rng.IntN(3) {
	case 0:
		s.Events = append(s.Events, again)
	case 1:
		said := adktest.Event{ID: s.ID + "-said", Author: "root", Invocation: again.Invocation, Parts: []adktest.Part{adktest.Text("going on")}, Time: adktest.Start.Add(1_000_001 * time.Millisecond)}
		if last.Author != "user" {
			said.Author, said.Branch = last.Author, last.Branch
		}
		s.Events = append(s.Events, again, said)
	}
	return s
}

// cut is how many events are left: often it ends behind a call.
func cut(rng *rand.Rand, events []adktest.Event) int {
	var calls []int
	for i := range events {
		if slices.ContainsFunc(events[i].Parts, func(p adktest.Part) bool { return p.Call != nil }) {
			calls = append(calls, i+1)
		}
	}
	if len(calls) > 0 && rng.IntN(4) > 0 {
		return calls[rng.IntN(len(calls))]
	}
	return 1 + rng.IntN(len(events))
}

// unanswer takes every response away that a long-running call got.
func unanswer(rng *rand.Rand, events []adktest.Event) []adktest.Event {
	var ids []string
	for i := range events {
		for _, p := range events[i].Parts {
			if p.Call != nil && slices.Contains(events[i].Waits, p.Call.ID) && p.Call.Name != "adk_request_confirmation" && rng.IntN(2) == 0 {
				ids = append(ids, p.Call.ID)
			}
		}
	}
	var left []adktest.Event
	for _, e := range events {
		parts := slices.DeleteFunc(slices.Clone(e.Parts), func(p adktest.Part) bool { return p.Response != nil && slices.Contains(ids, p.Response.ID) })
		if len(parts) > 0 || len(e.Parts) == 0 {
			e.Parts = parts
			left = append(left, e)
		}
	}
	return left
}

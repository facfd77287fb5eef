package repair_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/treetest"
)

// collapsed is a turn whose calls share one session, with what each started there.
type collapsed struct {
	notation string
	words    map[string][]string // by call id, what was said for it
}

// drawCollapsed draws two to six calls, whose requests and answers may be equal, and
// mixes up what they started.
func drawCollapsed(t *rapid.T) collapsed {
	c := collapsed{words: map[string][]string{}}
	var calls, results, runs []string
	var said [][]string // by call, the lines of its invocation
	for n := range rapid.IntRange(2, 6).Draw(t, "calls") {
		id := fmt.Sprint("T", n)
		task := rapid.SampledFrom([]string{"sum up", "translate", "count"}).Draw(t, "task")
		answer := rapid.SampledFrom([]string{"done", "ok", "no"}).Draw(t, "answer")
		calls = append(calls, fmt.Sprintf("%s>worker(%s)=W", id, task))
		results = append(results, fmt.Sprintf("<%s=W %q", id, answer))
		runs = append(runs, fmt.Sprintf("  run R%d run=i%d", n, n))
		lines := []string{fmt.Sprintf("user %q run=i%d", task, n)}
		for m := range rapid.IntRange(0, 2).Draw(t, "steps") {
			lines = append(lines, fmt.Sprintf("worker c%d_%d() run=i%d", n, m, n), fmt.Sprintf("worker <c%d_%d run=i%d", n, m, n))
		}
		said = append(said, append(lines, fmt.Sprintf("worker %q run=i%d", answer, n)))
		c.words[id] = []string{task, answer}
	}
	if !rapid.Bool().Draw(t, "runs are kept") {
		runs = nil
	}
	lines := slices.Concat([]string{"P", "  user", "  root " + strings.Join(calls, " "), "  root " + strings.Join(results, " "), `  root "fine"`, "W delegated"}, runs)
	for len(said) > 0 {
		n := rapid.IntRange(0, len(said)-1).Draw(t, "next")
		lines = append(lines, "  "+said[n][0])
		if said[n] = said[n][1:]; len(said[n]) == 0 {
			said = slices.Delete(said, n, n+1)
		}
	}
	c.notation = strings.Join(lines, "\n")
	return c
}

func streamOf(t fataler, tree *session.Tree) string {
	var b strings.Builder
	w, err := canonical.NewWriter(&b, canonical.Header{Writer: session.WriterDead}, canonical.WriteOptions{})
	must(t, err)
	for _, s := range tree.Sessions {
		readableTasks(s)
		must(t, w.WriteSession(s))
	}
	must(t, w.Flush())
	return b.String()
}

// TestASplitStreamHasASessionForEveryCall makes the split of random turns whose calls
// share one session, and looks at what is in the new stream.
func TestASplitStreamHasASessionForEveryCall(t *testing.T) {
	campaign.Checks(t, 200, 5000)
	allowed := repair.Options{Allow: map[string]bool{"split": true, "guesses": true}}
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCollapsed(rt)
		text := streamOf(rt, treetest.Tree(t, c.notation))
		r, err := tryStreamWith(text, allowed)
		must(rt, err)
		if r.plan.IsEmpty() {
			rt.Fatalf("nothing is planned for\n%s", text)
		}
		savedAlike(rt, r.plan)
		before, after := readStream(rt, text), readStream(rt, r.out)
		if len(after) != 1+len(c.words) {
			rt.Fatalf("%d sessions are there for %d calls:\n%s", len(after)-1, len(c.words), r.out)
		}
		seen := map[string]bool{}
		for _, res := range after["P"].Items[2].Results {
			worker := after[res.Child]
			if worker == nil || seen[res.Child] {
				rt.Fatalf("result %s names session %q\n%s", res.CallID, res.Child, r.out)
			}
			seen[res.Child] = true
			oneRequest(rt, worker, before["W"], c.words[res.CallID])
		}
		if l := r.receipt.Ledger; l.Before != l.After || l.Edited != 1 || l.Synthetic+l.Quarantined+l.Removed != 0 {
			rt.Errorf("the ledger is %+v", l)
		}
		again, err := tryStreamWith(r.out, allowed)
		must(rt, err)
		if !again.plan.IsEmpty() || slices.ContainsFunc(again.found.Findings, func(f *check.Finding) bool { return f.Rule.ID == "SC707" }) {
			rt.Errorf("it is not done: %s\n%s", fixesOf(again.plan), r.out)
		}
	})
}

// oneRequest makes sure that a session holds one invocation, whole and in its order,
// and the run of it: the request and the answer are those of the call.
func oneRequest(t *rapid.T, s, shared *session.Session, words []string) {
	run := s.Items[0].Invocation()
	var want, got []session.Digest
	for i := range shared.Items {
		if shared.Items[i].Invocation() == run {
			want = append(want, shared.Items[i].Meaning)
		}
	}
	for i := range s.Items {
		got = append(got, s.Items[i].Meaning)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("session %s does not hold invocation %s: %s", s.ID, run, diff)
	}
	if said := []string{s.Items[0].Body.Text, s.Items[len(s.Items)-1].Body.Text}; said[0] != words[0] || said[1] != words[1] {
		t.Errorf("session %s was asked and answered %q and not %q", s.ID, said, words)
	}
	for _, r := range s.Runs {
		if r.Invocation != run {
			t.Errorf("session %s has the run of %s", s.ID, r.Invocation)
		}
	}
	if len(shared.Runs) > 0 && len(s.Runs) != 1 {
		t.Errorf("session %s has %d runs", s.ID, len(s.Runs))
	}
}

// savedAlike makes sure that a saved plan has the edits of the one that was made.
func savedAlike(t *rapid.T, plan *repair.Plan) {
	data, err := json.Marshal(plan)
	must(t, err)
	var read repair.Plan
	must(t, json.Unmarshal(data, &read))
	for n, tree := range plan.Trees {
		for i, fix := range tree.Fixes {
			if diff := cmp.Diff(fix.Edits, read.Trees[n].Fixes[i].Edits); diff != "" {
				t.Errorf("the saved plan differs: %s", diff)
			}
		}
	}
}

// TestASplitNeedsToBeAllowed: a sure one its word, a guess one word more.
func TestASplitNeedsToBeAllowed(t *testing.T) {
	for _, tc := range []struct {
		name, tasks string
		allow       []string
		made        bool
	}{
		{"nothing is allowed", "one two", nil, false},
		{"split", "one two", []string{"split"}, true},
		{"a guess, and split", "one one", []string{"split"}, false},
		{"a guess, and both", "one one", []string{"split", "guesses"}, true},
		{"a guess, and guesses", "one one", []string{"guesses"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first, second, _ := strings.Cut(tc.tasks, " ")
			tree := treetest.Tree(t, fmt.Sprintf(`
P
  user
  root T1>worker(%[1]s)=W T2>worker(%[2]s)=W
  root <T1=W "so" <T2=W "so"
  root "fine"
W delegated
  user "%[1]s" run=i1
  user "%[2]s" run=i2
  worker "so" run=i1
  worker "so" run=i2`, first, second))
			opts := repair.Options{Allow: map[string]bool{}}
			for _, word := range tc.allow {
				opts.Allow[word] = true
			}
			r, err := tryStreamWith(streamOf(t, tree), opts)
			must(t, err)
			if r.plan.IsEmpty() == tc.made {
				t.Errorf("planned: %s", fixesOf(r.plan))
			}
		})
	}
}

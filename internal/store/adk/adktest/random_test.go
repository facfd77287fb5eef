package adktest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// look is what a model was shown before it said an event: the earlier events that
// its agent sees, by their ids and in their order. It is known from where the two
// agents stand in the tree of agents, without any branch.
type look struct {
	event, branch string
	saw           []string
}

// looksOf are those of the session that Random draws.
func looksOf(seed uint64, size int) (looks []look) {
	events, session := drawDrafts(seed, size), Random(seed, size)
	for i, d := range events {
		if !d.asked {
			continue
		}
		l := look{event: session.Events[i].ID, branch: d.Branch}
		for j, earlier := range events[:i] {
			if d.lane.sees(earlier.lane) {
				l.saw = append(l.saw, session.Events[j].ID)
			}
		}
		looks = append(looks, l)
	}
	return looks
}

// sees: whoever is in a lane sees what is in the lanes around it, and nothing beside.
func (l *lane) sees(other *lane) bool {
	if l == nil || other == nil {
		return true
	}
	for at := l; at != nil; at = at.around {
		if at == other {
			return true
		}
	}
	return false
}

// What a model was shown by the places in the tree of agents is what the branches
// of the events say.
func TestLooksFollowTheBranches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, size := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 30).Draw(t, "size")
		looks := map[string]look{}
		for _, l := range looksOf(seed, size) {
			looks[l.event] = l
		}
		events := Random(seed, size).Events
		for i, e := range events {
			look, asked := looks[e.ID]
			if !asked {
				continue
			}
			var saw []string
			for _, earlier := range events[:i] {
				if e.Branch == "" || earlier.Branch == "" || strings.HasPrefix(e.Branch+".", earlier.Branch+".") {
					saw = append(saw, earlier.ID)
				}
			}
			if look.branch != e.Branch || strings.Join(saw, " ") != strings.Join(look.saw, " ") {
				t.Fatalf("%s of %s on %q saw %v, want %v", e.ID, e.Author, e.Branch, look.saw, saw)
			}
		}
	})
}

// Random sessions have what the properties of readers need.
func TestRandomSessionsDiffer(t *testing.T) {
	hidden, root, called, nested := 0, 0, 0, 0
	for seed := range uint64(100) {
		for i, l := range looksOf(seed, 12) {
			if l.branch == "" {
				root++
			} else if len(l.saw) < i {
				hidden++
			}
			if strings.Count(l.branch, ".") > 2 {
				nested++
			}
		}
		for _, e := range Random(seed, 12).Events {
			if e.hasCalls() {
				called++
			}
		}
	}
	if min(hidden, root, called, nested) < 50 {
		t.Errorf("%d looks did not see everything, %d were of the root, %d nested, %d events call tools", hidden, root, nested, called)
	}
}

// Every damage finds its place in some session, and what it leaves can be stored.
func TestEveryDamageHappens(t *testing.T) {
	for name, damage := range Damages {
		t.Run(name, func(t *testing.T) {
			changed := 0
			for seed := range uint64(20) {
				s := Random(seed, 12)
				whole := describe(s)
				damage(rand.New(rand.NewPCG(seed, 3)), &s)
				if describe(s) != whole {
					changed++
				}
				if err := Create(t.TempDir()+"/adk.db", G1, s); err != nil {
					t.Fatal(err)
				}
			}
			if changed == 0 {
				t.Error("it changes nothing")
			}
		})
	}
}

func describe(s Session) string {
	var b strings.Builder
	for i := range s.Events {
		e := &s.Events[i]
		b.WriteString(e.Time.String() + asGo.Text(e.eventData()) + "\n")
	}
	return b.String()
}

// Random sessions of a generation hold all that it can: calls that wait, answered and
// not, confirmations and summaries.
func TestRandomSessionsHoldWhatTheirGenerationCan(t *testing.T) {
	for _, g := range Generations {
		waiting, answered, asked, summaries := 0, 0, 0, 0
		for seed := range uint64(60) {
			s := g.Random(seed, 12)
			if lacks := g.Lacks(s); lacks != "" {
				t.Fatalf("%s has no place for %s", g, lacks)
			}
			for _, e := range s.Events {
				waiting += len(e.Waits)
				asked += len(e.Actions.Confirmations)
				if e.Author == "user" && e.hasResponses() {
					answered++
				}
				if e.Actions.Compaction != nil {
					summaries++
				}
			}
		}
		calls, compacts := g != P0First, g != P0First && !g.isGo()
		if calls != (min(waiting, answered, asked) > 10) || compacts != (summaries > 10) {
			t.Errorf("%s: %d waiting calls, %d answers of the user, %d confirmations, %d summaries", g, waiting, answered, asked, summaries)
		}
	}
}

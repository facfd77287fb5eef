package why

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Costs are what the words of --allow mean, as what a repair with them does.
var Costs = map[string]string{
	"lossy":           "loses something for good",
	"prune":           "removes references and records that lead nowhere",
	"guesses":         "does what is likely, not certain",
	"split":           "makes several sessions of one",
	"waiting":         "answers calls that somebody may still answer",
	"import-backup":   "takes sessions from a .bak file",
	rules.UnknownForm: "takes out records of a form that sessctl does not know",
}

// Repair is the least that makes a session resume.
type Repair struct {
	Plan       *repair.Plan
	AssumeDead bool     // it needs --assume-dead
	Allow      []string // the words of --allow that it needs
	Left       int      // what the provider refuses even then, and other errors
	Doubtful   bool     // some models refuse it even then
	Commands   []string // to type, in this order
	Undo       string   // "" where nothing is changed
}

// Plan finds the least repair after which as little as possible is left: without more
// ado, then for a runtime that has ended, then with what has to be allowed. It is nil
// where none changes anything. A runtime that is known to run will be closed before.
func Plan(ctx context.Context, st store.Store, opts repair.Options) (*Repair, error) {
	facts := st.Facts()
	writer := facts.Writer
	defer func() { facts.Writer = writer }()
	if writer == session.WriterLive {
		facts.Writer = session.WriterDead
	}
	var best *Repair
	allow := map[string]bool{}
	for _, dead := range []bool{false, true} {
		if dead && facts.Writer != session.WriterUnknown {
			break
		}
		if dead {
			facts.Writer = session.WriterDead
		}
		for range 2 { // what an allowed repair uncovers is for another run
			opts.Allow = allow
			plan, _, err := repair.Make(ctx, st, opts)
			if err != nil {
				return nil, err
			}
			left, words := blocking(plan.Findings)
			if !plan.Empty() && (best == nil || left < best.Left) {
				best = &Repair{Plan: plan, AssumeDead: dead, Allow: sorted(allow), Left: left, Doubtful: slices.ContainsFunc(plan.Findings, doubtful)}
			}
			if left == 0 || len(words) == 0 {
				break
			}
			allow = words
		}
		if best != nil && best.Left == 0 {
			break
		}
		allow = map[string]bool{}
	}
	return best, nil
}

// blocking counts the findings that keep a session from going on as it should, and lists
// what would have to be allowed to repair them.
func blocking(found []*check.Finding) (n int, words map[string]bool) {
	words = map[string]bool{}
	for _, f := range found {
		if f.Severity == rules.Error || f.Refused() {
			n++
			for _, w := range f.Allow() {
				words[w] = true
			}
		}
	}
	return n, words
}

func doubtful(f *check.Finding) bool { return f.Severity == rules.Warning && f.Profile != nil }

func sorted(words map[string]bool) []string {
	var list []string
	for w := range words {
		list = append(list, w)
	}
	slices.Sort(list)
	return list
}

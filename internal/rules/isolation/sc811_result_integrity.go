package isolation

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var resultIntegrity = rules.Rule{
	ID: "SC811", Name: "result-integrity", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Bodies: true, Since: "0.1.0",
	Title: "the result of a delegation does not match its sub-session",
	Run: func(p *rules.Pass) {
		for _, s := range delegation.OwnSpawns(p) {
			if r := s.Outcome(); r != nil && !r.Pending && !r.Synthetic {
				reportIntegrity(p, &s, r)
			}
		}
	},
}

// reportIntegrity compares a result with the child that it is of. That a child which
// said nothing brings nothing back is no breach.
func reportIntegrity(p *rules.Pass, s *delegation.Spawn, r *session.Result) {
	last := replay.LastAnswer(s.Child)
	var wrong string
	at := last
	switch {
	case r.Digest == 0 && r.IsError:
		wrong = "says that it failed, but not why"
	case r.Digest == 0 && last >= 0:
		wrong = "is empty, but sub-session " + rules.ShortID(s.Child.ID) + " ended with an answer"
	case !r.IsError && isSuccess(r) && s.Call().Delegation.Blocking && stoppedAt(s.To) >= 0:
		at = stoppedAt(s.To)
		wrong = "is a success, but sub-session " + rules.ShortID(s.Child.ID) + " never finished. The last message there " + howStopped(s.To, at) + "."
	default:
		return
	}
	f := findResult(p, s, wrong)
	for n := range s.From.Items[s.Final].Results {
		if &s.From.Items[s.Final].Results[n] == r {
			f.Nth = n
		}
	}
	if f.Related = nil; at >= 0 {
		f.Related = []session.Place{s.Child.ItemPlace(at)}
	}
	p.Report(f)
}

// failures begin the texts of results that say so in words only. Claude Code puts
// brackets around the interruption.
var failures = []string{"error", "failed", "failure", "cancel", "timeout", "timed out", "interrupted", "[request interrupted", "aborted", "(no output)"}

// isSuccess reports whether a result is known to tell of no failure: its text, which
// has to be loaded, does not begin as those do that tell of one.
func isSuccess(r *session.Result) bool {
	text := strings.ToLower(strings.TrimSpace(unwrapAnswer(r.Text)))
	return text != "" && !slices.ContainsFunc(failures, func(word string) bool { return strings.HasPrefix(text, word) })
}

// stoppedAt is the index of a session's last message, where it shows that its agent
// did not come to an end: it is unfinished, or one of its calls has no result. -1
// where it does not.
func stoppedAt(s *rules.Subject) int {
	for i := len(s.Items) - 1; i >= 0; i-- {
		it := &s.Items[i]
		if !s.OnWire(i) {
			continue
		}
		if it.Role == session.Assistant && (it.Flags.Has(session.Unfinished) || lacksResult(s, i)) {
			return i
		}
		return -1
	}
	return -1
}

// lacksResult reports whether a call of the item at index i was never answered, and
// nobody has to answer it later.
func lacksResult(s *rules.Subject, i int) bool {
	return slices.ContainsFunc(s.Pairs.Missing, func(m pairing.Missing) bool {
		c := s.CallAt(m.Call)
		return m.Call.Item == i && !c.Waits && !c.Asked && !session.IsHandoff(c.Name)
	})
}

// howStopped words what stopped found.
func howStopped(s *rules.Subject, i int) string {
	if s.Items[i].Flags.Has(session.Unfinished) {
		return "was cut off"
	}
	return "calls a tool that never answered"
}

package request

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var thinkingForeign = rules.Rule{
	ID: "SC504", Name: "thinking-foreign", Severity: rules.Warning, Safety: rules.None, Allow: lossy, Scope: rules.PerTree, Since: "0.1.0",
	Title: "thinking or a call that another provider's model signed", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		at := j.FindSpots(func(it *session.Item, b *session.Block) bool {
			return b.Signature != 0 && readsSignature(j.Profile, b.Kind) && (rules.IsForeign(j.Profile, it.Model()) || fromElsewhere(&j, it))
		})
		p.ReportBlocks(j, at, rules.Said{}, func(f *rules.Finding) {
			f.Message = rules.CountedNoun(len(at), "signature") + rules.VerbForm(len(at), " was", " were") + " made by a model of another provider (" +
				rules.QuoteText(j.Items[at[0].Item].Model()) + "), so this provider cannot verify " + rules.VerbForm(len(at), "it", "them")
			f.Sent = "the turns without the foreign thinking"
			if j.Profile.Sentinel != "" {
				f.Sent = "the sentinel " + j.Profile.Sentinel + " in place of the foreign signature"
			}
			if j.Profile.Sentinel == "" {
				f.Fixes = omitBlocks(p, j.Subject, at)
			}
		})
	}),
}

// fromElsewhere reports whether an item was made through the API of another provider than the one
// that the session asks last, by a model that is not known to sign alike there.
func fromElsewhere(j *rules.Judged, it *session.Item) bool {
	asked := ""
	for i := range slices.Backward(j.Items) {
		if asked = j.Items[i].Provider(); asked != "" {
			break
		}
	}
	signs := j.Profile.Signers != nil && j.Profile.Signers().MatchString(strings.ToLower(it.Model()))
	return it.Provider() != "" && it.Provider() != asked && !signs
}

// readsSignature reports whether the API has signatures on blocks of this kind.
func readsSignature(p *rules.Profile, kind session.BlockKind) bool {
	return kind == session.ReasoningBlock || kind == session.CallBlock && p.Sentinel != ""
}

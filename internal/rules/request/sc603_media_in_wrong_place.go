package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var mediaInWrongPlace = rules.Rule{
	ID: "SC603", Name: "media-in-wrong-place", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a tool result contains media that the provider accepts in user messages only", Profiled: true, Wire: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		at := j.FindSpots(func(it *session.Item, b *session.Block) bool {
			return it.Role == session.Tool && b.Kind == session.MediaBlock && slices.Contains(j.Profile.NotInResults, b.Name)
		})
		p.ReportBlocks(j, at, rules.Said{}, func(f *rules.Finding) {
			f.Message = rules.CountedNoun(len(at), "part") + " of tool results" + rules.VerbForm(len(at), " is", " are") + " media (" + rules.QuoteText(j.BlockAt(at[0]).Name) +
				") that the provider accepts in user messages only"
			f.Sent = "the media in a user message after all results of the turn"
		})
	}),
}

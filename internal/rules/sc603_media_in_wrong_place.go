package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

var mediaInWrongPlace = Rule{
	ID: "SC603", Name: "media-in-wrong-place", Severity: Error, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "a tool result holds media that the provider takes from the user only", Profiled: true, Wire: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			at := j.spots(func(it *session.Item, b *session.Block) bool {
				return it.Role == session.Tool && b.Kind == session.MediaBlock && slices.Contains(j.Profile.NotInResults, b.Name)
			})
			if len(at) == 0 {
				continue
			}
			f := p.findBlocks(j, at, Said{})
			f.Message = count(len(at), "part") + " of tool results " + verb(len(at), "is", "are") + " media (" + quoted(j.block(at[0]).Name) +
				") that the provider takes in messages of the user only"
			f.Sent = "the media in a message of the user, behind all results of the turn"
			p.Report(f)
		}
	},
}

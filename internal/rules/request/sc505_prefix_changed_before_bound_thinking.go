package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var prefixChanged = rules.Rule{
	ID: "SC505", Name: "prefix-changed-before-bound-thinking", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a repair wrote messages before thinking that is bound to the history before it", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		written := writtenItems(j.Subject)
		if len(written) == 0 {
			return
		}
		at := j.FindSpots(func(it *session.Item, b *session.Block) bool {
			return b.SignedThinking() && !rules.IsForeign(j.Profile, it.Model())
		})
		at = slices.DeleteFunc(at, func(b rules.Spot) bool { return b.Item < written[0] })
		if len(at) > 0 {
			reportPrefix(p, j, written, at)
		}
	}),
}

// writtenItems are the items of the next request that a repair wrote.
func writtenItems(s *rules.Subject) []int {
	var items []int
	for i, it := range s.SentItems() {
		if it.Flags.Has(session.Synthetic) {
			items = append(items, i)
		}
	}
	return items
}

// freeThinking are the models of Claude before those that bind their thinking
// (ANT-17); a version may stand between a model's number and a date or a tag.
var freeThinking = pattern.Lazy(
	`claude-(instant|v?[123])\b|(opus|sonnet|haiku)-4\b|((opus|sonnet|haiku)-5(-[0-4])?|(fable|mythos)-5(-0)?)($|[@:]|-\d{6}|-[a-z])`)

// mayBind reports whether a model may bind its thinking: every one does that is
// not known to be too old.
func mayBind(model string) bool {
	return !freeThinking().MatchString(strings.ReplaceAll(strings.ToLower(model), ".", "-"))
}

// reportPrefix reports items that a repair wrote before signed thinking. Only a
// model that binds its thinking refuses it; which one is asked next is not known
// where the session names none.
func reportPrefix(p *rules.Pass, j rules.Judged, written []int, at []rules.Spot) {
	f := p.FindSent(j, slices.DeleteFunc(written, func(i int) bool { return i > at[len(at)-1].Item }), rules.Said{})
	f.ProviderError = ""
	models := []string{j.Model}
	for _, b := range at {
		if model := j.Items[b.Item].Model(); model != "" {
			models = append(models, model)
		}
	}
	switch {
	case slices.ContainsFunc(models, rules.BoundThinking().MatchString):
		f.ProviderError = j.Profile.ErrorText(p.Rule.ID, rules.Said{Message: j.WireIndex(j.Profile, at[0].Item), Block: at[0].Block})
	case !slices.ContainsFunc(models, mayBind):
		f.Severity = rules.Info
	}
	f.Related = lists.MapEach(at, func(b rules.Spot) session.Place { return j.ItemPlace(b.Item) })
	f.Message = fmt.Sprintf("a repair wrote item %d before %s", f.Item, rules.CountedNoun(len(at), "signed thinking block"))
	f.AddSentence(fmt.Sprintf("A model that binds its thinking to the history refuses such blocks unless the request sets prefix_mismatch_behavior to \"drop_block\" "+
		"or leaves out all thinking after item %d", f.Item))
	p.Report(f)
}

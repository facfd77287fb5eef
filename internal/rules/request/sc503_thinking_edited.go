package request

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var thinkingEdited = rules.Rule{
	ID: "SC503", Name: "thinking-edited", Severity: rules.Error, Safety: rules.None, Allow: lossy, Scope: rules.PerTree, Since: "0.1.0",
	Title: "signed thinking whose text was changed, or taken away", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		known := rules.ComputeOnce(&p.Known, func() thoughts { return signedThoughts(p) })
		reportEdited(p, j, known)
		reportEmptied(p, j, known)
	}),
}

// thought is one text that stands under a signature.
type thought struct {
	session.Place
	text session.Digest
}

// thoughts are the different texts under every signature of the tree, each with the first
// place where it stands.
type thoughts map[session.Digest][]thought

func signedThoughts(p *rules.Pass) thoughts {
	known := thoughts{}
	for _, s := range p.Subjects {
		for i := range s.Items {
			for _, b := range s.Items[i].Blocks {
				same := func(t thought) bool { return t.text == b.Text }
				if b.SignedThinking() && !slices.ContainsFunc(known[b.Signature], same) {
					known[b.Signature] = append(known[b.Signature], thought{s.ItemPlace(i), b.Text})
				}
			}
		}
	}
	return known
}

// reportEdited names the thinking of the next request of which there is another
// text. Where the other one is empty, this one is the original.
func reportEdited(p *rules.Pass, j rules.Judged, known thoughts) {
	var others []session.Place
	at := j.FindSpots(func(_ *session.Item, b *session.Block) bool {
		edited := false
		for _, t := range known[b.Signature] {
			if b.SignedThinking() && t.text != b.Text && t.text != 0 {
				edited = true
				if other, heard := j.PlaceOf(t.Place); heard {
					others = append(others, other)
				}
			}
		}
		return edited
	})
	if len(at) == 0 {
		return
	}
	f := p.FindBlocks(j, at, rules.Said{})
	if at[0].Item != latestAnswer(j.Subject) { // the text for the latest one is special
		f.ProviderError = j.Profile.ErrorText("SC502", rules.Said{Message: j.WireIndex(j.Profile, at[0].Item), Block: at[0].Block})
	}
	f.Related = others
	f.Message = rules.CountedNoun(len(at), "signed thinking block") + rules.VerbForm(len(at), " differs", " differ") + " from another copy with the same signature"
	f.AddSentence("One of the two was edited, and the provider accepts the original only; leave this one out of the request")
	f.Fixes = omitBlocks(p, j.Subject, at)
	p.Report(f)
}

// omitsThinking are the models that return signed thinking without its text if nobody asks for
// that (docs/rules/SC503.md).
var omitsThinking = pattern.Lazy(`-4-[6-9]\b|-(opus|sonnet|haiku|fable|mythos)-([5-9]|[1-9]\d)\b`)

// reportEmptied names signed thinking without a text that the provider refused, or that must
// have had one: the same model, which omits none by itself, has another with a text. Where the
// text is known, reportEdited does.
func reportEmptied(p *rules.Pass, j rules.Judged, known thoughts) {
	empty := func(_ *session.Item, b *session.Block) bool {
		return b.SignedThinking() && b.Empty && !slices.ContainsFunc(known[b.Signature], func(t thought) bool { return t.text != 0 })
	}
	at, refused := j.FindSpots(empty), refusedAs(j.Session, p.Rule.ID)
	if latest := latestAnswer(j.Subject); refused && slices.ContainsFunc(at, func(s rules.Spot) bool { return s.Item == latest }) {
		at = slices.DeleteFunc(at, func(s rules.Spot) bool { return s.Item != latest })
	}
	if !refused {
		told := map[string]bool{} // the models with thinking that has a text
		for spot := range slices.Values(j.FindSpots(func(_ *session.Item, b *session.Block) bool { return b.SignedThinking() && b.Text != 0 })) {
			told[j.Items[spot.Item].Model()] = true
		}
		at = slices.DeleteFunc(at, func(s rules.Spot) bool {
			model := j.Items[s.Item].Model()
			return model == "" || !told[model] || omitsThinking().MatchString(strings.ToLower(model))
		})
	}
	if len(at) == 0 {
		return
	}
	f := p.FindBlocks(j, at, rules.Said{})
	f.Message = rules.CountedNoun(len(at), "signed thinking block") + rules.VerbForm(len(at), " has", " have") + " no text"
	if refused {
		f.AddSentence("The provider refused " + rules.VerbForm(len(at), "it as one that was", "them as ones that were") + " changed")
	} else {
		f.Severity, f.ProviderError = rules.Warning, ""
		f.AddSentence("Another one of the same model has one, so it may have been taken away")
	}
	f.Fixes = omitBlocks(p, j.Subject, at)
	p.Report(f)
}

// latestAnswer is the last assistant item of the next request, -1 when there is
// none.
func latestAnswer(s *rules.Subject) int {
	latest := -1
	for i, it := range s.SentItems() {
		if it.Role == session.Assistant {
			latest = i
		}
	}
	return latest
}

package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var reasoningItemUnpaired = rules.Rule{
	ID: "SC507", Name: "reasoning-item-unpaired", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a reasoning item without what it led to, or a call without its reasoning item", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		for _, turn := range answerTurns(j.Subject) {
			reportLoneReasoning(p, j, turn)
			reportLoneCalls(p, j, turn)
		}
	}),
}

// answerTurns lists what the model said between messages of the user: the
// assistant items of the next request.
func answerTurns(s *rules.Subject) [][]int {
	var list [][]int
	within := false
	for i, it := range s.SentItems() {
		switch {
		case it.Role == session.Assistant && within:
			list[len(list)-1] = append(list[len(list)-1], i)
		case it.Role == session.Assistant:
			list, within = append(list, []int{i}), true
		case !rules.AnswersOnly(it):
			within = false
		}
	}
	return list
}

// reportLoneReasoning reports the reasoning at the end of a turn. While the writer
// is alive, what belongs behind the very last one may still come.
func reportLoneReasoning(p *rules.Pass, j rules.Judged, turn []int) {
	if p.Store.WriterOf(j.Session) == session.WriterLive && isLast(j.Subject, turn[len(turn)-1]) {
		return
	}
	first := len(turn)
	for first > 0 && reasoningOnly(&j.Items[turn[first-1]]) != "" {
		first--
	}
	for _, item := range turn[first:] {
		id := reasoningOnly(&j.Items[item])
		f := p.FindSent(j, []int{item}, rules.Said{ID: id})
		f.Message = "reasoning item " + rules.QuoteText(id) + " has no message or call after it that it led to"
		f.SetFix(rules.Kept, "remove the reasoning item; the receipt keeps it", session.Edit{Op: session.Quarantine, Ref: f.Ref})
		p.Report(f)
	}
}

// reasoningOnly is the server's id of an item that is nothing but reasoning, else
// "".
func reasoningOnly(it *session.Item) string {
	id := ""
	for _, b := range it.Blocks {
		if b.Kind != session.ReasoningBlock {
			return ""
		}
		if strings.HasPrefix(b.ID, "rs_") {
			id = b.ID
		}
	}
	return id
}

// reportLoneCalls reports calls under the server's id whose reasoning does not
// stand before them in their turn.
func reportLoneCalls(p *rules.Pass, j rules.Judged, turn []int) {
	var before []string
	for _, item := range turn {
		for n, b := range j.Items[item].Blocks {
			if b.Kind == session.ReasoningBlock {
				before = append(before, b.ID)
			}
			if b.Kind == session.CallBlock && strings.HasPrefix(b.ID, "fc_") && b.With != "" && !slices.Contains(before, b.With) {
				reportLoneCall(p, j, rules.Spot{Item: item, Block: n})
			}
		}
	}
}

func reportLoneCall(p *rules.Pass, j rules.Judged, at rules.Spot) {
	b := j.BlockAt(at)
	f := p.FindBlocks(j, []rules.Spot{at}, rules.Said{ID: b.ID})
	f.Nth = b.Nth
	if b.Nth < len(j.Items[at.Item].Calls) {
		f.Call = j.Items[at.Item].Calls[b.Nth].ID
	}
	f.Message = "call item " + rules.QuoteText(b.ID) + " was made with reasoning item " + rules.QuoteText(b.With) + ", which is missing before it"
	f.ProviderError = j.Profile.ErrorText("SC507 call", rules.Said{ID: b.ID, Name: b.With})
	ref := f.Ref
	ref.Pointer = fmt.Sprintf("/blocks/%d", at.Block)
	f.SetFix(rules.Lossless, "remove the server's id from the call; its call id stays", session.Edit{Op: session.Set, Ref: ref, Field: session.FieldBlockID})
	p.Report(f)
}

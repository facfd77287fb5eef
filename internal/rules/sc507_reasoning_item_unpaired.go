package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

var reasoningItemUnpaired = Rule{
	ID: "SC507", Name: "reasoning-item-unpaired", Severity: Error, Safety: Kept, Scope: PerTree, Since: "0.1.0",
	Title: "a reasoning item without what it led to, or a call without its reasoning item", Profiled: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			for _, turn := range j.answerTurns() {
				reportLoneReasoning(p, j, turn)
				reportLoneCalls(p, j, turn)
			}
		}
	},
}

// answerTurns lists what the model said between messages of the user: the
// assistant items of the next request.
func (s *Subject) answerTurns() [][]int {
	var list [][]int
	within := false
	for i, it := range s.sent() {
		switch {
		case it.Role == session.Assistant && within:
			list[len(list)-1] = append(list[len(list)-1], i)
		case it.Role == session.Assistant:
			list, within = append(list, []int{i}), true
		case !answersOnly(it):
			within = false
		}
	}
	return list
}

// reportLoneReasoning reports the reasoning at the end of a turn. While the writer
// is alive, what belongs behind the very last one may still come.
func reportLoneReasoning(p *Pass, j Judged, turn []int) {
	if p.Store.Writer == session.WriterLive && j.last(turn[len(turn)-1]) {
		return
	}
	first := len(turn)
	for first > 0 && reasoningOnly(&j.Items[turn[first-1]]) != "" {
		first--
	}
	for _, item := range turn[first:] {
		id := reasoningOnly(&j.Items[item])
		f := p.findSent(j, []int{item}, Said{ID: id})
		f.Message = "reasoning item " + quoted(id) + " stands without the message or call that it led to"
		f.Fixes = []Fix{{
			Title:  "take the reasoning item out of the session; it stays in the receipt",
			Safety: Kept,
			Edits:  []session.Edit{{Op: session.Quarantine, Ref: f.Ref}},
		}}
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
func reportLoneCalls(p *Pass, j Judged, turn []int) {
	var before []string
	for _, item := range turn {
		for n, b := range j.Items[item].Blocks {
			if b.Kind == session.ReasoningBlock {
				before = append(before, b.ID)
			}
			if b.Kind == session.CallBlock && strings.HasPrefix(b.ID, "fc_") && b.With != "" && !slices.Contains(before, b.With) {
				reportLoneCall(p, j, spot{item, n})
			}
		}
	}
}

func reportLoneCall(p *Pass, j Judged, at spot) {
	b := j.block(at)
	f := p.findBlocks(j, []spot{at}, Said{ID: b.ID})
	f.Nth = b.Nth
	if b.Nth < len(j.Items[at.item].Calls) {
		f.Call = j.Items[at.item].Calls[b.Nth].ID
	}
	f.Message = "call item " + quoted(b.ID) + " was made with reasoning item " + quoted(b.With) + ", which does not stand before it"
	f.ProviderError = j.Profile.Error("SC507 call", Said{ID: b.ID, Name: b.With})
	ref := f.Ref
	ref.Pointer = fmt.Sprintf("/blocks/%d", at.block)
	f.Fixes = []Fix{{
		Title:  "take the server's id off the call; its call id stays",
		Safety: Lossless,
		Edits:  []session.Edit{{Op: session.Set, Ref: ref, Field: session.FieldBlockID}},
	}}
	p.Report(f)
}

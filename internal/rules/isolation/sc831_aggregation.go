package isolation

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var aggregation = rules.Rule{
	ID: "SC831", Name: "aggregation", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Bodies: true, Since: "0.1.0",
	Title: "the results of several delegations are combined too early, twice, or by the wrong agent",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		for _, b := range delegationBatches(s) {
			for n, check := range []func(*rules.Pass, *batch){reportEarly, reportRepeated, reportUnattributed, reportOthersSynthesis} {
				b.nth = n
				check(p, &b)
			}
		}
	}),
}

// batch are the delegations of one message that its agent waits for.
type batch struct {
	*rules.Subject
	item  int // with the calls
	calls []*replay.Delegation
	nth   int // which of the checks looks at it
}

func delegationBatches(s *rules.Subject) []batch {
	awaited := slices.DeleteFunc(slices.Clone(s.Replay.Delegations), func(d *replay.Delegation) bool { return !d.Call().Delegation.Blocking })
	groups := lists.GroupBy(awaited, func(d *replay.Delegation) int { return d.Item })
	return lists.MapEach(groups, func(calls []*replay.Delegation) batch { return batch{Subject: s, item: calls[0].Item, calls: calls} })
}

// findBatch starts a finding at an item that follows from a batch.
func findBatch(p *rules.Pass, b *batch, item int) rules.Finding {
	f := p.FindItem(b.Session, item)
	f.Nth = b.nth
	f.Related = []session.Place{b.ItemPlace(b.item)}
	return f
}

// finalResult is what came of one of the calls, nil where no result says it.
func finalResult(d *replay.Delegation) *session.Result {
	r := d.Outcome()
	if r == nil || r.Pending {
		return nil
	}
	return r
}

// reportEarly looks for an answer of the caller behind the first result of a batch,
// when others are still missing. The caller's message behind results that lack one is
// its own although the window is still open, which the replay cannot decide.
func reportEarly(p *rules.Pass, b *batch) {
	first := -1
	for _, d := range b.calls {
		if finalResult(d) != nil && (first < 0 || d.Final < first) {
			first = d.Final
		}
	}
	at := b.speaksBehind(first, func(it *session.Item) bool { return it.Agent() == b.Items[b.item].Agent() })
	if at < 0 {
		return
	}
	var open []string
	for _, d := range b.calls {
		if finalResult(d) == nil || d.Final > at {
			open = append(open, rules.CallName(d.Call()))
		}
	}
	if len(open) == 0 {
		return
	}
	f := findBatch(p, b, at)
	f.Message = rules.QuoteText(b.Items[b.item].Agent()) + " answers before " + rules.JoinFew(open) + rules.VerbForm(len(open), " has", " have") + " a result or an error. It combines only a part of what it asked for."
	p.Report(f)
}

// speaksBehind is the index of the first answer (text without calls) behind a result
// that some agent gave before the user spoke again, -1 for none.
func (b *batch) speaksBehind(result int, by func(*session.Item) bool) int {
	if result < 0 {
		return -1
	}
	for i := result + 1; i < len(b.Items) && !isPrompt(&b.Items[i]); i++ {
		it := &b.Items[i]
		answer := it.OnWire() && it.Role == session.Assistant && it.Text != 0 && len(it.Calls) == 0
		if answer && by(it) && (b.IsOwn(i) || b.isUndecided(i)) {
			return i
		}
	}
	return -1
}

// isUndecided reports whether the replay cannot tell whose the item is.
func (b *batch) isUndecided(i int) bool {
	return slices.ContainsFunc(b.calls, func(d *replay.Delegation) bool {
		return slices.ContainsFunc(d.Leaked, func(l replay.Leaked) bool { return l.Item == i && l.Undecidable })
	})
}

// leastRepeated is how long a text is that two children do not say by chance, in
// characters: "done" is no duplicate.
const leastRepeated = 40

// reportRepeated looks for results that say the same, of calls that asked for
// different things. It needs texts.
func reportRepeated(p *rules.Pass, b *batch) {
	known := map[string]*replay.Delegation{}
	for _, d := range b.calls {
		r := finalResult(d)
		if r == nil || r.IsError || r.Synthetic || !isSuccess(r) {
			continue
		}
		text := strings.ToLower(collapseSpaces(answerText(d, r)))
		if utf8.RuneCountInString(text) < leastRepeated {
			continue
		}
		other := known[text]
		if other == nil {
			known[text] = d
			continue
		}
		if task := d.Call().Delegation.Task; task != 0 && task == other.Call().Delegation.Task {
			continue
		}
		f := findBatch(p, b, d.Final)
		f.Severity, f.Call = rules.Info, d.Call().ID
		f.Related = append(f.Related, b.ItemPlace(other.Final))
		f.Message = "calls " + rules.CallName(other.Call()) + " and " + rules.CallName(d.Call()) + " have the same result. They asked for different things, so count it once."
		p.Report(f)
	}
}

// answerText is what the child of a call says with its result, without what its store or its
// runtime puts around it.
func answerText(d *replay.Delegation, r *session.Result) string {
	if r.Answer != 0 && d.Child != nil {
		if last := replay.LastAnswer(d.Child); last >= 0 && d.Child.Items[last].Text == r.Answer && d.Child.Items[last].Body != nil {
			return d.Child.Items[last].Body.Text
		}
	}
	return unwrapAnswer(r.Text)
}

// reportUnattributed looks for results behind a batch of several that name neither
// their call nor the child that gave them.
func reportUnattributed(p *rules.Pass, b *batch) {
	if len(b.calls) < 2 {
		return
	}
	var items []int
	for i := b.item + 1; i < len(b.Items) && !isPrompt(&b.Items[i]) && b.Items[i].Role != session.Assistant; i++ {
		if slices.ContainsFunc(b.Items[i].Results, func(r session.Result) bool {
			return r.CallID == "" && r.Child == "" && r.Correlation == ""
		}) {
			items = append(items, i)
		}
	}
	if len(items) == 0 {
		return
	}
	f := findBatch(p, b, items[0])
	f.Items = items
	f.Message = rules.CountedNoun(len(items), "result") + " after " + rules.CountedNoun(len(b.calls), "delegation") + rules.VerbForm(len(items), " names", " name") + " neither a call nor a sub-session. It is not known which agent gave which result."
	p.Report(f)
}

// reportOthersSynthesis looks for an answer that an agent of the batch gives in its
// caller's place, although the caller handed over to nobody.
func reportOthersSynthesis(p *rules.Pass, b *batch) {
	last := -1
	asked := map[string]bool{}
	for _, d := range b.calls {
		if finalResult(d) == nil {
			return
		}
		last = max(last, d.Final)
		asked[d.Call().Delegation.Agent] = true
	}
	caller := b.Items[b.item].Agent()
	at := b.speaksBehind(last, func(*session.Item) bool { return true })
	if at < 0 || b.Items[at].Agent() == "" || b.Items[at].Agent() == caller || !asked[b.Items[at].Agent()] {
		return
	}
	for i := b.item; i < at; i++ {
		if passesOn(&b.Items[i]) {
			return
		}
	}
	f := findBatch(p, b, at)
	f.Message = rules.QuoteText(b.Items[at].Agent()) + " answers in place of " + rules.QuoteText(caller) + ", which had asked it. The agent that asked should combine the results."
	p.Report(f)
}

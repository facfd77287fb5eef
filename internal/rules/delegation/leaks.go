package delegation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// eachLeak calls fn for every delegation that leaked into its caller's session
// and whose state is the one wanted.
func eachLeak(p *rules.Pass, want leakState, fn func(s *rules.Subject, d *replay.Delegation)) {
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			if len(d.Leaked) > 0 && stateOf(d) == want {
				fn(s, d)
			}
		}
	}
}

// leakState says what the child of a leak holds.
type leakState uint8

const (
	childComplete leakState = iota // a twin of every leaked item: SC701
	childLacks                     // some or all are the only copy: SC702
	childMissing                   // there is no child session: SC703
)

func stateOf(d *replay.Delegation) leakState {
	if d.Child == nil {
		return childMissing
	}
	for _, l := range d.Leaked {
		if l.Twin == nil {
			return childLacks
		}
	}
	return childComplete
}

// findLeak begins a finding of a leak rule: which items it is about, and in a sentence of
// which the rule adds the end, whose messages they are.
func findLeak(p *rules.Pass, s *rules.Subject, d *replay.Delegation) rules.Finding {
	f := p.FindItems(s.Session, lists.MapEach(d.Leaked, func(l replay.Leaked) int { return l.Item }))
	f.Call = d.Call().ID
	for _, l := range d.Leaked {
		if l.Item != f.Item {
			f.Related = append(f.Related, s.ItemPlace(l.Item))
		}
		if l.Twin != nil {
			f.Twins = append(f.Twins, l.Twin.Session.ItemPlace(l.Twin.Item))
		}
	}
	if s.Closed && !isDecidable(d) {
		f.Severity = rules.Info
	}
	n := len(d.Leaked)
	f.Message = rules.CountedNoun(n, "message") + " of " + leakedAgents(s, d) + rules.VerbForm(n, " is", " are") + " stored "
	if !s.IsHistory(f.Item) {
		f.Failing = func(profile *rules.Profile) string { return s.ProviderError(profile, min(d.Item, f.Item)) }
	}
	return f
}

// reportLeak ends the finding with what else the leak does, and reports it.
func reportLeak(p *rules.Pass, s *rules.Subject, d *replay.Delegation, f rules.Finding) {
	undecidable := lists.CountIf(d.Leaked, func(l replay.Leaked) bool { return l.Undecidable })
	f.AddSentence(leakEffects(s, d))
	switch {
	case undecidable == 1:
		f.AddSentence(rules.VerbForm(len(d.Leaked), "It", "1 of them") + " has the caller's name and no copy, so sessctl cannot tell whose it is and never moves it")
	case undecidable > 1:
		f.AddSentence(fmt.Sprintf("%d of them have the caller's name and no copy, so sessctl cannot tell whose they are and never moves them", undecidable))
	}
	f.AddSentence(s.HistoryReason(f.Item))
	p.Report(f)
}

// leakedAgents names the agents whose items leaked: `sub-agent "worker"`, and `"root"` where that
// is the name of the caller, too.
func leakedAgents(s *rules.Subject, d *replay.Delegation) string {
	var agents []string
	for _, l := range d.Leaked {
		agents = lists.AppendNew(agents, s.Items[l.Item].Agent())
	}
	names := lists.MapEach(agents, rules.AgentName)
	if slices.Contains(agents, "") || slices.Contains(agents, d.Caller()) {
		return rules.JoinWords(names)
	}
	return rules.VerbForm(len(names), "sub-agent ", "sub-agents ") + rules.JoinWords(names)
}

// leakEffects says what else the leak does: that it separates its call from the result,
// and which calls came with it without a result. Those are consequences, not
// findings of their own.
func leakEffects(s *rules.Subject, d *replay.Delegation) string {
	who := rules.VerbForm(len(d.Leaked), "It", "They")
	text := fmt.Sprintf("%s %s to call %s of %s", who, rules.VerbForm(len(d.Leaked), "belongs", "belong"), d.Call().ID, rules.AgentName(d.Caller()))
	at := pairing.Occurrence{Item: d.Item, Nth: d.Nth}
	for _, pair := range s.StoredPairs().Pairs {
		if pair.Call == at && pair.Place != pairing.Adjacent {
			text = fmt.Sprintf("Here %s %s call %s from its result", strings.ToLower(who), rules.VerbForm(len(d.Leaked), "separates", "separate"), d.Call().ID)
		}
	}
	leaked := map[int]bool{}
	for _, l := range d.Leaked {
		leaked[l.Item] = true
	}
	var unanswered []string
	for _, m := range s.StoredPairs().Missing {
		if leaked[m.Call.Item] {
			unanswered = append(unanswered, rules.CallName(s.CallAt(m.Call)))
		}
	}
	switch n := len(unanswered); {
	case n > 3:
		text += fmt.Sprintf(", and %d calls have no result", n)
	case n > 0:
		text += ", and " + rules.JoinWords(unanswered) + rules.VerbForm(n, " has", " have") + " no result"
	}
	return text
}

// leakFix builds the edits that put the leaked items where they belong: twins
// leave, sole copies move into the session of their frame, and sessions that do
// not exist are created, a nested one below its caller's. Edits are made one
// after another; references come last, the outermost at the very end, so that
// each one lands directly behind its place.
type leakFix struct {
	p          *rules.Pass
	s          *rules.Subject
	d          *replay.Delegation
	edits      []session.Edit
	references []session.Edit
	homes      map[*replay.Frame]string    // the session that a frame's items belong to
	ends       map[string]session.Ref      // the item behind which the next one goes, by session
	known      map[string]*session.Session // the existing ones of those sessions
}

func newLeakFix(p *rules.Pass, s *rules.Subject, d *replay.Delegation) *leakFix {
	return &leakFix{
		p: p, s: s, d: d,
		homes: map[*replay.Frame]string{}, ends: map[string]session.Ref{}, known: map[string]*session.Session{},
	}
}

// buildEdits returns the edits in the order in which they are to be made, none when
// no item can be decided.
func (fix *leakFix) buildEdits() []session.Edit {
	if fix.d.Child != nil && fix.d.Reference < 0 && isDecidable(fix.d) {
		fix.ensureHome(outermostFrame(fix.d.Leaked[0].Frame))
	}
	for _, l := range fix.d.Leaked {
		switch {
		case l.Undecidable:
		case l.Twin != nil:
			twin := l.Twin.Session.ItemRef(l.Twin.Item)
			fix.ends[l.Twin.Session.ID] = twin
			fix.edits = append(fix.edits, session.Edit{Op: session.RemoveTwin, Ref: fix.s.ItemRef(l.Item), Twin: twin})
		default:
			home := fix.ensureHome(l.Frame)
			ref := fix.s.ItemRef(l.Item)
			fix.edits = append(fix.edits, session.Edit{Op: session.Move, Ref: ref, To: home, After: fix.precedingItem(home, l.Item)})
			fix.ends[home] = ref
		}
	}
	slices.Reverse(fix.references)
	return append(fix.edits, fix.references...)
}

// isDecidable reports whether the repair of a leak moves or removes anything.
func isDecidable(d *replay.Delegation) bool {
	return slices.ContainsFunc(d.Leaked, func(l replay.Leaked) bool { return !l.Undecidable })
}

func outermostFrame(f *replay.Frame) *replay.Frame {
	for f.Parent != nil {
		f = f.Parent
	}
	return f
}

// precedingItem is the item of the session behind which the leaked item goes: what was
// placed or seen there last, else (in a child that exists) the last item that
// is not younger. The zero Ref means the start, behind a created prologue.
func (fix *leakFix) precedingItem(home string, item int) session.Ref {
	if ref, ok := fix.ends[home]; ok {
		return ref
	}
	child := fix.known[home]
	if child == nil {
		return session.Ref{}
	}
	leaked := &fix.s.Items[item]
	last, prologue := session.Ref{}, true
	for i := range child.Items {
		it := &child.Items[i]
		prologue = prologue && startsChild(it)
		if !prologue && isOlder(leaked, it) {
			break
		}
		last = child.ItemRef(i)
	}
	return last
}

// startsChild reports whether the item can be one of the messages that give a
// child its task.
func startsChild(it *session.Item) bool {
	return it.Role == session.System || it.Role == session.User && it.Flags.Has(session.Implicit)
}

// isOlder reports whether a was certainly stored before b: by time, and within
// the resolution of times by the order in which rows were written.
func isOlder(a, b *session.Item) bool {
	if !a.Time.IsZero() && !b.Time.IsZero() && !a.Time.Equal(b.Time) {
		return a.Time.Before(b.Time)
	}
	return a.Table() == b.Table() && keyLess(a.Key, b.Key)
}

// keyLess orders numeric keys by value.
func keyLess(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// ensureHome is the session that a frame's items belong to, created when it does not
// exist; its reference is added where it has none.
func (fix *leakFix) ensureHome(f *replay.Frame) string {
	if id, ok := fix.homes[f]; ok {
		return id
	}
	where := fix.outerCall
	if f.Parent != nil {
		where = fix.innerCall
	}
	caller, call, child, place := where(f)
	id := DerivedID(caller, call)
	if child != nil {
		id = child.ID
		fix.known[id] = child
	} else {
		fix.edits = append(fix.edits, session.Edit{Op: session.Create, To: caller, NewID: id, Call: &call})
	}
	named := fix.d.Call().Delegation != nil && fix.d.Call().Delegation.Child == id // which is the reference there
	if child == nil || f.Parent == nil && fix.d.Reference < 0 && !named {
		fix.references = append(fix.references, session.Edit{
			Op: session.Insert, To: caller, After: place,
			New: &session.NewItem{Kind: session.SubSession, Child: id, Rule: fix.p.Rule.ID},
		})
	}
	fix.homes[f] = id
	return id
}

// outerCall says of the leak's own call: the session that made it, the call, its
// child, and the item behind which the reference goes: the last one that stays
// before the result, or before the leaked items when there is no result.
func (fix *leakFix) outerCall(f *replay.Frame) (caller string, call session.CallRef, child *session.Session, place session.Ref) {
	end := fix.d.Result
	if end < 0 {
		end = fix.d.Leaked[len(fix.d.Leaked)-1].Item
	}
	return fix.s.ID, rules.CallRef(fix.s.Session, f.Item, f.Nth), fix.d.Child, fix.s.ItemRef(lastStaying(fix.s, end))
}

// innerCall says the same of a call inside the child. Where the child is stored, the
// call and its result are there; else the item that made the call moves to where
// its own frame belongs, unless nobody can tell whose it is, and the reference
// goes behind it.
func (fix *leakFix) innerCall(f *replay.Frame) (caller string, call session.CallRef, child *session.Session, place session.Ref) {
	d := f.Copy
	if d == nil && fix.s.IsUndecidable(f.Item) { // it stays, and so does its call
		return fix.s.ID, rules.CallRef(fix.s.Session, f.Item, f.Nth), nil, fix.s.ItemRef(f.Item)
	}
	if d == nil {
		return fix.ensureHome(f.Parent), rules.CallRef(fix.s.Session, f.Item, f.Nth), nil, fix.s.ItemRef(f.Item)
	}
	place = d.Session.ItemRef(d.Item)
	if d.Result > 0 {
		place = d.Session.ItemRef(lastStaying(fix.p.SubjectOf(d.Session), d.Result))
	}
	return d.Session.ID, rules.CallRef(d.Session, d.Item, d.Nth), d.Child, place
}

// lastStaying is the index of the last item before another that no leak's repair
// takes out of the session.
func lastStaying(s *rules.Subject, before int) int {
	for i := before - 1; i > 0; i-- {
		if s.IsOwn(i) || s.IsUndecidable(i) {
			return i
		}
	}
	return 0
}

// DerivedID is the id of a session that a repair creates for a call: made from
// the caller's session and the call, so that the same damage gives the same id.
// It has the form of a version 8 UUID, because stores and people expect one.
func DerivedID(caller string, call session.CallRef) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "sessctl\x00%s\x00%s\x00%d", caller, call.Ref.Row(), call.Nth))
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

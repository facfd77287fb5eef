// Package why says of one session whether it resumes, and what to do where it does not.
// It puts together what check, view and repair know; the words on the screen are those of
// package render.
package why

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/view"
)

// Verdict is what becomes of a session when its agent goes on: its check.Outlook, or why there
// is none.
type Verdict string

// The verdicts.
const (
	Resumes   Verdict = "resumes"
	Loses     Verdict = "loses"
	Doubtful  Verdict = "doubtful"
	Waits     Verdict = "waits"
	Refused   Verdict = "refused"
	Unloaded  Verdict = "unloaded"
	Damaged   Verdict = "damaged"   // the store is damaged, or cannot be read
	InUse     Verdict = "in-use"    // what is missing may still come
	Elsewhere Verdict = "elsewhere" // the error is not about what is stored
	Ambiguous Verdict = "ambiguous" // it may be one of several sessions
	NotFound  Verdict = "not-found"
)

// Diagnosis is the answer to "why does it not resume?". Its strings may hold stored text.
type Diagnosis struct {
	Verdict  Verdict
	Asked    *errtext.Error // the error text or the call that was asked about, nil where none was
	Pasted   *errtext.Error // of these, a text, also where it turned out to name a session
	Unseen   []string       // rules that find the cause of the error text and were not asked, or not in all sessions
	Store    *session.Store // of the session, nil where none was chosen or it could not be read
	Session  *Candidate     // nil where none was chosen
	Chosen   Choice
	Cause    string           // sentences
	Findings []*check.Finding // those that the cause is from, worst first; a recorded refusal and what fits it before all
	More     int              // further findings of its severity in the session and below it
	Answer   *check.Answer    // to the next request, nil where there is none
	Stored   int              // messages of the session
	Notices  int              // those of them that tell of an error, which no request has
	Sent     int              // those of them that the next request is made of
	Summed   bool             // a summary stands for others
	Mapped   string           // which stored message the message of the error text is
	Absent   []string         // calls of the error text that are in none of the sessions
	Unread   string           // what of the session sessctl cannot read, and what follows; "" for nothing
	Masked   string           // the runtime, or newer versions of it, that hide the error from the user by results of their own; "" for none
	Believed int              // calls that the model then believes to have failed
	Repair   *Repair          // nil where there is nothing to repair
	Next     string           // what to do where that is no command
	Broken   int              // other sessions of the store that have errors

	Candidates []Candidate // of an ambiguous question, newest first
	Searched   []Searched
}

// Choice is how a session was chosen.
type Choice string

// The choices.
const (
	Named  Choice = "named"         // by its id, its call or an error that fits it alone
	Newest Choice = "newest"        // of those that were searched
	Broken Choice = "newest-broken" // the newest resumes
)

// Input is a session as it was read and checked, and how it can be repaired.
type Input struct {
	Store      *session.Store
	Tree       *session.Tree
	Findings   []*check.Finding // of the session and those below it
	Request    *view.Request    // the next one of the root session
	Incomplete string           // why not all of the store could be read
	Recovery   string           // what to do about that
	Repair     *Repair
}

// Diagnose fills in what is known of the session that was chosen.
func (d *Diagnosis) Diagnose(in Input) {
	d.Store, d.Answer = in.Store, &in.Request.Answer
	d.Stored, d.Notices, d.Sent = in.Request.CountMessages(d.chosenSession(in.Tree))
	d.Summed = in.Request.Covered > 0
	outlook := check.OutlookOf(d.Session.ID, in.Findings)
	blamed := d.blameFindings(in, outlook == check.Unloaded)
	d.Verdict, d.Repair = Verdict(outlook.String()), in.Repair
	switch {
	case in.Incomplete != "":
		d.Verdict, d.Cause, d.Next, d.Repair = Damaged, in.Incomplete, in.Recovery, nil
		return
	case outlook == check.Waits && in.Request.Live:
		d.Verdict = InUse
	}
	d.Findings = d.putRefusalFirst(in, blamed)
	if outlook == check.Resumes && !slices.ContainsFunc(d.Findings, (*check.Finding).IsRepairable) {
		d.Repair = nil
	}
	if len(d.Findings) > 0 {
		d.Cause = d.Findings[0].Message
		if f := d.Findings[0]; f.Rule.ID == recordedRefusal && f.IsRefused() {
			d.Cause = f.Discreet // its text is that of the answer
		}
	}
	if n := slices.IndexFunc(in.Findings, func(f *check.Finding) bool {
		return f.Rule.ID == unknownForm && f.Session == d.chosenSession(in.Tree).ID
	}); n >= 0 {
		d.Unread = in.Findings[n].Message
	}
	by := in.Store.ResumptionOf(d.chosenSession(in.Tree)).Sanitiser
	m := in.Request.Masking
	if m != nil && m.Refused && d.Verdict == Refused && len(d.Findings) > 0 && !d.Findings[0].AboutPairs() { // the others are hidden
		answer := *d.Answer
		answer.Error, answer.Item = d.Findings[0].ProviderError, d.Findings[0].Item
		d.Answer = &answer
	}
	if m != nil && !m.Refused && (d.Verdict == Refused || d.Verdict == Loses) && d.Answer.Verdict == check.Reject {
		for i := range m.Invented {
			if m.Invented[i].Result != "" {
				d.Masked, d.Believed = by.By, d.Believed+1
			}
		}
	}
	if d.NoteAbsent(d.Session); d.Absent == nil {
		d.Mapped = d.mappedMessage(in.Request)
	}
}

// NoteAbsent takes note of the calls of the error text, if the session that fits it best has none.
func (d *Diagnosis) NoteAbsent(best *Candidate) {
	if d.Asked != nil && best.fit.ids == 0 && best.fit.recorded == 0 {
		d.Absent = d.Asked.IDs
	}
}

// chosenSession is the one that was chosen: a fork is in the tree of the session that it was copied from.
func (d *Diagnosis) chosenSession(tree *session.Tree) *session.Session {
	return cmp.Or(tree.Session(d.Session.ID), tree.Root())
}

// blameFindings are the findings that the verdict comes from: of those that the provider refuses
// the first that it names, and else the worst that keep something from the model.
func (d *Diagnosis) blameFindings(in Input, unloaded bool) []*check.Finding {
	var blamed []*check.Finding
	refused := !unloaded && d.Answer.Verdict != check.Accept && !in.Request.Closed
	for _, f := range in.Findings {
		switch {
		case unloaded && f.Unloads:
			blamed = append(blamed, f)
		case refused && f.Session == d.chosenSession(in.Tree).ID && slices.Contains(d.Answer.Rules, f.Rule.ID) && (d.Answer.Item < 0 || f.Item < 0 || d.isAbout(f)):
			blamed = append(blamed, f)
		case f.Severity != rules.Error && (refused || unloaded || !f.IsLost()):
		case refused || unloaded:
			d.More++
		default:
			blamed = append(blamed, f)
		}
	}
	if refused && blamed == nil { // by what a leak breaks, which is reported as the leak
		for _, f := range in.Findings {
			if f.Severity == rules.Error {
				blamed = append(blamed, f)
			}
		}
		d.More -= len(blamed)
	}
	if !refused {
		d.More += max(0, len(blamed)-1)
	}
	// Of one cause, a leak explains the pairs that it breaks.
	slices.SortStableFunc(blamed, func(a, b *check.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Rule.ID, a.Rule.ID))
	})
	if refused && len(blamed) > 0 && blamed[0].Call != "" { // a record that was not read, such as a line that was cut off, explains what is missing
		if n := slices.IndexFunc(in.Findings, func(f *check.Finding) bool {
			return f.Severity == rules.Error && f.Call == "" && f.Session == blamed[0].Session && slices.Contains(f.Calls, blamed[0].Call)
		}); n >= 0 {
			d.More--
			return slices.Insert(blamed, 0, in.Findings[n])
		}
	}
	return blamed
}

// putRefusalFirst puts a refusal that the session holds itself before what was blamed for it: that is
// what the provider said, and the others are what fits it. Where nothing is blamed, it is what
// tells whether the conversation is all there, and where.
func (d *Diagnosis) putRefusalFirst(in Input, blamed []*check.Finding) []*check.Finding {
	n := slices.IndexFunc(in.Findings, func(f *check.Finding) bool {
		return f.Rule.ID == recordedRefusal && f.Session == d.chosenSession(in.Tree).ID
	})
	if n < 0 && blamed == nil {
		n = slices.IndexFunc(in.Findings, func(f *check.Finding) bool {
			return f.Concerns(d.chosenSession(in.Tree).ID) && (f.Rule.ID == misplaced || f.Severity == rules.Warning && slices.Contains(notAll, f.Rule.ID))
		})
	}
	if n < 0 || !in.Findings[n].IsRefused() && blamed != nil {
		return blamed
	}
	f := in.Findings[n]
	if !f.IsRefused() {
		return []*check.Finding{f}
	}
	list := []*check.Finding{f}
	d.More = 0
	for _, other := range in.Findings {
		if f.HasCause(other) {
			list = append(list, other)
		} else if other != f && other.Severity == rules.Error {
			d.More++
		}
	}
	answer := *d.Answer
	answer.Error = f.ProviderError
	d.Answer = &answer
	return list
}

// recordedRefusal is the rule about what the store holds of it.
const recordedRefusal = "SC309"

// unknownForm is the rule about what sessctl cannot read, of a session where its messages are encrypted.
const unknownForm = "SC002"

// misplaced is the rule about where the session is found.
const misplaced = "SC023"

// notAll are the rules about what people are shown and the model is not sent, or was never said in
// this session.
var notAll = []string{"SC011", "SC021", "SC022", "SC308", "SC702"}

// isAbout reports whether a finding is about the item that the provider refuses.
func (d *Diagnosis) isAbout(f *check.Finding) bool {
	return f.Item == d.Answer.Item || slices.Contains(f.Items, d.Answer.Item) || f.ProviderError != "" && f.ProviderError == d.Answer.Error
}

// mappedMessage says which stored message the number in the error text means.
func (d *Diagnosis) mappedMessage(r *view.Request) string {
	if d.Asked == nil || d.Asked.Message < 0 {
		return ""
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Message < 0 || d.Asked.Message < p.Message || d.Asked.Message > p.Last {
			continue
		}
		if p.Row.Stored == nil {
			return fmt.Sprintf("message %d of the request is %s", d.Asked.Message, strings.Trim(cmp.Or(p.Row.Label, p.Kind()), "()"))
		}
		return fmt.Sprintf("message %d of the request is message %d of the session, by %s", d.Asked.Message, p.Row.Item, cmp.Or(p.Row.Who, "nobody"))
	}
	return fmt.Sprintf("the next request, as it is stored now, has no message %d", d.Asked.Message)
}

// Costs are what the words of --allow mean, as what a repair with them does.
var Costs = map[string]string{
	"lossy":                 "lets the model see less, or loses something for good",
	"prune":                 "removes references and records that lead nowhere",
	"guesses":               "does what is likely, not certain",
	"split":                 "makes several sessions of one",
	"waiting":               "answers calls that somebody may still answer",
	repair.Reorder:          "cannot be undone as to the order of events of one time",
	rules.UnknownForm:       "takes out records of a form that sessctl does not know",
	repair.ForeignFunctions: "runs functions of other roles with the rights of a superuser",
}

// Repair is the least that makes a session resume.
type Repair struct {
	Plan       *repair.Plan
	AssumeDead bool     // it needs --assume-dead
	Allow      []string // the words of --allow that it needs
	Left       int      // what the provider refuses even then, and other errors
	Doubtful   bool     // some models refuse it even then
	Recent     bool     // the session was written to so lately that a repair leaves it for now
	Commands   []string // to type, in this order
	Undo       string   // "" where nothing is changed
}

// PlanRepair finds the least repair after which as little as possible is left: without more
// ado, then for a runtime that has ended, then with what has to be allowed. It is nil
// where none changes anything. A runtime that is known to run will be closed before.
func PlanRepair(ctx context.Context, st store.Store, opts repair.Options) (*Repair, error) {
	facts := st.Facts()
	writer := facts.Writer
	defer func() { facts.Writer = writer }()
	if writer == session.WriterLive {
		facts.Writer = session.WriterDead
	}
	var best *Repair
	allow := map[string]bool{}
	for _, dead := range []bool{false, true} {
		if dead && facts.Writer != session.WriterUnknown {
			break
		}
		if dead {
			facts.Writer = session.WriterDead
		}
		for range 2 { // what an allowed repair uncovers is for another run
			opts.Allow = allow
			plan, _, err := repair.MakePlan(ctx, st, opts)
			if err != nil {
				return nil, err
			}
			left, words := countBlocking(plan.Findings)
			for _, refused := range plan.Refused {
				if left > 0 && refused.Allow != "" {
					words[refused.Allow] = true
				}
			}
			if !plan.IsEmpty() && (best == nil || left < best.Left) {
				best = &Repair{Plan: plan, AssumeDead: dead, Allow: slices.Sorted(maps.Keys(allow)), Left: left, Doubtful: slices.ContainsFunc(plan.Findings, isDoubtful)}
			}
			if left == 0 || len(words) == 0 {
				break
			}
			allow = words
		}
		if best != nil && best.Left == 0 {
			break
		}
		allow = map[string]bool{}
	}
	return best, nil
}

// countBlocking counts the findings that keep a session from going on as it should, and lists
// what would have to be allowed to repair them.
func countBlocking(found []*check.Finding) (n int, words map[string]bool) {
	words = map[string]bool{}
	for _, f := range found {
		if f.Severity == rules.Error || f.IsRefused() || f.Hides {
			n++
			for _, w := range f.AllowWords() {
				words[w] = true
			}
		}
	}
	return n, words
}

func isDoubtful(f *check.Finding) bool { return f.Severity == rules.Warning && f.Profile != nil }

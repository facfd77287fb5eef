package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/why"
)

// WhyOptions say how a diagnosis is printed.
type WhyOptions struct {
	Screen   *ui.Screen
	Tool     Tool
	Home     string // the folder that ~ stands for
	Quiet    bool
	ExitCode int
	Browse   string // the command that shows the session on the whole screen, "" where none can
}

// headlines are the first line of a diagnosis.
var headlines = map[why.Verdict]document.Span{
	why.Resumes:   Span(document.Good, "sessctl finds nothing that keeps this session from resuming."),
	why.Loses:     Span(document.Notice, "This session resumes, but the model loses something."),
	why.Refused:   Span(document.Bad, "This session does not resume: the provider refuses its next request."),
	why.Doubtful:  Span(document.Notice, "This session resumes with most models. Some may refuse its next request."),
	why.Unloaded:  Span(document.Bad, "This session does not resume: its runtime fails to load it."),
	why.Damaged:   Span(document.Bad, "The store is damaged or cannot be read."),
	why.Waits:     Span(document.Notice, "This session does not resume until a call has its result."),
	why.InUse:     Span(document.Notice, "This session is in use. Close the program that has it open first."),
	why.Elsewhere: Span(document.Notice, "This error is not about the session."),
	why.Ambiguous: Span(document.Notice, "This may be one of several sessions."),
	why.NotFound:  Span(document.Bad, "No session was found."),
}

// PrintDiagnosis prints a diagnosis on one screen.
func PrintDiagnosis(d *why.Diagnosis, o WhyOptions) error {
	p := whyPage{d, o}
	doc := document.Document{document.Line{p.headlineSpan()}}
	if facts := p.factList(); len(facts) > 0 {
		doc = append(doc, document.Gap{}, facts)
	}
	if !o.Quiet {
		doc = append(doc, p.nextBlocks()...)
		for _, more := range p.remarkBlocks() { // where the screen has room for them
			const screen = 24
			if with := append(doc, document.Gap{}, more); strings.Count(document.OnScreen(o.Screen, with...), "\n") < screen {
				doc = with
			}
		}
	}
	return document.Lines(o.Screen)(doc)
}

// remarkBlocks are what else is to be said, the most important first.
func (p *whyPage) remarkBlocks() []document.Block {
	var list []document.Block
	if p.Broken > 0 {
		list = append(list, Say(brokenCount(p.Broken)+": `sessctl check "+shell.Path(p.Session.Store)+"`."))
	}
	if len(p.Findings) > 0 && len(p.Store.Advice) > 0 {
		list = append(list, Say(p.Store.Advice[0]))
	}
	return list
}

type whyPage struct {
	*why.Diagnosis
	WhyOptions
}

func (p *whyPage) headlineSpan() document.Span {
	switch {
	case p.Verdict == why.Resumes && p.Asked != nil && p.Asked.Kind != errtext.Unknown: // else only a call was named
		return Span(document.Good, "sessctl finds nothing in this session that causes this error.")
	case p.Verdict == why.Damaged && p.Store == nil:
		return Span(document.Bad, "sessctl cannot read this as a session store.")
	case p.Verdict == why.InUse && p.Store == nil:
		return Span(document.Notice, "The store cannot be read right now.")
	}
	return headlines[p.Verdict]
}

// factList are what is known, each behind its label.
func (p *whyPage) factList() document.List {
	var list document.List
	say := func(label string, pieces ...any) {
		if text := document.Words(pieces...); text.String() != "" {
			list = append(list, document.Item{Label: label, Text: text})
		}
	}
	if s := p.Session; s != nil {
		say("Session", Span(document.Strong, ui.Clean(rules.ShortID(s.ID))), "  "+ui.Truncate(ui.Clean(Title(s.Title)), 40), p.chosenReason())
		say("Store", Span(document.Name, ui.Clean(ui.Tilde(s.Store, p.Home))), p.kindClause())
	}
	say("Messages", p.messagesSent())
	say("Not read", ui.AsSentence(ui.Clean(p.Unread)))
	if len(p.Absent) > 0 {
		say("Note", "No session that was searched has the call ", ui.Clean(rules.JoinFew(p.Absent)), ". "+rules.VerbForm(max(1, len(p.Candidates)), "This one has", "These have")+" damage of the same kind.")
	}
	if p.Verdict != why.Ambiguous && (p.Session == nil || p.Verdict == why.Resumes || !p.isExplained()) {
		for _, s := range p.saidErrors() {
			say("Means", document.Words(Span(document.Strong, s.From), ": "+errorMeaning(&s)))
		}
	}
	say("Cause", p.causeText())
	if p.Verdict != why.Damaged {
		say("Where", p.whereText())
	}
	say("Fits it", p.fittingText())
	say("Error", p.answerText())
	say("Repair", p.repairText())
	for _, s := range p.Searched {
		if p.Verdict == why.NotFound {
			words := ": " + ui.Count(s.Sessions, "session")
			if s.Trouble != "" {
				words += ", " + s.Trouble
			}
			say("Searched", ui.Clean(ui.Tilde(s.Store, p.Home)), ui.Clean(words))
		}
		if s.Left > 0 {
			say("Not read", ui.Count(s.Left, "older session")+" of "+ui.Clean(ui.Tilde(s.Store, p.Home))+": `sessctl check "+shell.Path(s.Store)+"` reads all.")
		}
	}
	return list
}

// messagesSent says how much of the conversation the model gets.
func (p *whyPage) messagesSent() string {
	if p.Stored == 0 || p.Verdict == why.Unloaded || p.Verdict == why.Damaged || p.Verdict == why.Elsewhere {
		return ""
	}
	text := fmt.Sprintf("%d of %d would be sent", p.Sent, p.Stored)
	if p.Summed {
		text += ", after a summary of earlier ones"
	}
	if p.Notices > 0 && p.Sent < p.Stored {
		text += fmt.Sprintf(" (%d only %s of an error)", p.Notices, rules.VerbForm(p.Notices, "tells", "tell"))
	}
	return text
}

// saidErrors is what the errors of the pasted text mean.
func (p *whyPage) saidErrors() []errtext.Said {
	if p.Asked == nil || p.Asked.Kind == errtext.Unknown {
		return nil
	}
	return append([]errtext.Said{p.Asked.Said}, p.Asked.Also...)
}

// errorMeaning is what a sentence means, and whether the session is its cause.
func errorMeaning(s *errtext.Said) string {
	switch {
	case s.IsCause():
		return s.Meaning + " What is stored causes such an error."
	case s.Kind == errtext.Refused, s.Kind >= errtext.TooLong:
		return s.Meaning
	}
	return s.Meaning + " The stored session is not the cause."
}

// isExplained reports whether what was found in the session is what the error text is about.
func (p *whyPage) isExplained() bool {
	return slices.ContainsFunc(p.Findings, func(f *check.Finding) bool { return p.Asked != nil && slices.Contains(p.Asked.Causes(), f.Rule.ID) })
}

// chosenReason says why this session, where nobody named it.
func (p *whyPage) chosenReason() string {
	day := ""
	if !p.Session.Touched.IsZero() {
		day = ", last used " + p.Session.Touched.Local().Format(time.DateOnly)
	}
	switch p.Chosen {
	case why.Newest:
		return day + " (the newest)"
	case why.Broken:
		return day + " (newer ones resume)"
	}
	return day
}

func (p *whyPage) kindClause() string {
	if p.Store == nil {
		return ""
	}
	if read := ReadingNote(p.Store); read != "" {
		return "  (" + p.Store.Title + ", " + ui.Clean(read) + ")"
	}
	return "  (" + p.Store.Title + ")"
}

// causeText is why, in a few sentences.
func (p *whyPage) causeText() string {
	const most = 280
	text := p.Cause
	switch {
	case p.Verdict == why.Elsewhere:
		return ""
	case p.Verdict == why.NotFound && len(p.Searched) == 0 && text != "":
	case p.Verdict == why.NotFound && p.Pasted != nil && p.Pasted.Kind == errtext.Unknown && len(p.Pasted.Text) > most/4:
		text = "sessctl does not know this error text, and no session has an id or a call that is in it."
	case p.Verdict == why.NotFound && p.Asked != nil && p.Asked.Kind == errtext.Unknown:
		text = "No session and no call is named " + rules.JoinFew(lists.MapEach(p.Asked.IDs, strconv.Quote)) + ", and this is not an error text that sessctl knows."
	case p.Verdict == why.NotFound && p.Asked != nil && len(p.Asked.Causes()) == 0:
		text = "No session has an id or a call that is in the text, and no rule of sessctl finds what this error comes from."
	case p.Verdict == why.NotFound && p.Asked != nil && slices.ContainsFunc(p.Searched, func(s why.Searched) bool { return s.Foreign }):
		text = "No session was found that this error came from. " + p.Asked.From + " keeps its sessions in another kind of store than was searched."
	case p.Verdict == why.NotFound && p.Asked != nil && len(p.Unseen) > 0:
		text = "No session was found that this error came from, but not all was looked at for " + rules.JoinFew(p.Unseen) + "."
	case p.Verdict == why.NotFound && p.Asked != nil && len(p.Asked.IDs) > 0:
		text = "No session has a call " + rules.JoinFew(p.Asked.IDs) + ", or damage of this kind."
	case p.Verdict == why.NotFound && p.Asked != nil:
		text = "No session has damage of this kind."
	case p.Verdict == why.NotFound && text == "":
		text = "The stores that were searched hold no session."
	}
	if text == "" {
		return ""
	}
	text = ui.AsSentence(ui.Clean(text))
	if len(text) > most {
		text = cmp.Or(text[:strings.LastIndex(text[:most], ". ")+1], ui.Truncate(text, most)) // the sentences that fit
	}
	failed := "the model then believes that " + rules.VerbForm(p.Believed, "this call", "these calls") + " failed."
	switch {
	case p.Masked != "" && p.Verdict == why.Loses: // the finding says what is sent instead
		text += " " + ui.AsSentence(failed)
	case p.Masked != "":
		text += " (" + p.Masked + " hide this: " + failed + ")"
	}
	return text
}

// whereText is the place, the rule that explains it, and what else is wrong.
func (p *whyPage) whereText() document.Text {
	var said []string
	switch {
	case len(p.Findings) > 0:
		f := p.Findings[0]
		place := "session " + ui.Clean(rules.ShortID(f.Session))
		if n := len(f.Items); n > 0 {
			place = rules.VerbForm(n, "message ", "messages ") + itemRanges(f.Items) + " of " + place
		}
		said = append(said, fmt.Sprintf("%s (%s %s)", place, f.Rule.ID, f.Rule.Name))
	case p.Session != nil && p.Session.Call != nil:
		said = append(said, fmt.Sprintf("message %d of session %s", p.Session.Call.Item, ui.Clean(rules.ShortID(p.Session.Call.Session))))
	}
	if p.More > 0 {
		said = append(said, ui.Count(p.More, "more error"))
	}
	if p.Mapped != "" {
		said = append(said, ui.Clean(p.Mapped))
	}
	return document.Words(strings.Join(said, "; "))
}

// fittingText is what was found that may be the cause of a recorded refusal.
func (p *whyPage) fittingText() string {
	const most = 2
	var said []string
	for n, f := range p.Findings {
		if lead := p.Findings[0]; n > 0 && n <= most && lead.HasCause(f) {
			said = append(said, ui.Truncate(ui.Clean(ui.AsSentence(firstSentence(f.Message))), 160)+" ("+f.Rule.ID+" "+f.Rule.Name+")")
		}
	}
	if more := len(p.Findings) - 1 - most; more > 0 && said != nil {
		said = append(said, fmt.Sprintf("And %d more.", more))
	}
	return strings.Join(said, " ")
}

// answerText is the error that was pasted, or what the provider says to the next request.
func (p *whyPage) answerText() document.Text {
	const most = 200
	switch {
	case p.Asked != nil && p.Asked.Kind != errtext.Unknown:
		return document.Words(Span(document.Code, ui.Truncate(p.Asked.Text, most)))
	case p.Answer == nil || p.Answer.Verdict == check.Accept || !slices.Contains([]why.Verdict{why.Refused, why.Doubtful, why.Waits, why.InUse}, p.Verdict):
		return nil
	case p.Answer.Error == "" && p.Verdict == why.Doubtful:
		return nil
	case p.Answer.Error == "":
		return document.Words(p.Answer.Profile.Name + " refuses the request; the text of its error is not known")
	}
	return document.Words(Span(document.Code, ui.Truncate(ui.Clean(p.Answer.Error), most)))
}

// byHand is what a person can do about findings that no repair is for, "" where nothing is known.
func byHand(found []*check.Finding) string {
	for _, f := range found {
		for i := range f.Fixes {
			if f.Fixes[i].Safety == rules.Manual {
				return ui.AsSentence(ui.Clean(f.Fixes[i].Title))
			}
		}
	}
	return ""
}

// repairText is what a repair does.
func (p *whyPage) repairText() string {
	switch {
	case p.Repair == nil && slices.Contains([]why.Verdict{why.Refused, why.Unloaded, why.Loses}, p.Verdict):
		switch way := byHand(p.Findings); {
		case strings.HasPrefix(way, repair.CannotMake):
			return way
		case way != "":
			return "sessctl has no repair for this. What you can do: " + way
		}
		if p.Verdict == why.Loses && p.Answer.Verdict == check.Accept {
			return "sessctl has no repair for this. Go on as it is, or start a new session."
		}
		return "sessctl has no repair for this. Start a new session, or remove what is refused in your agent."
	case p.Repair == nil && p.Verdict == why.Waits:
		return "Give the answer in your agent: the session then goes on. Until then, sessctl has no repair for it."
	case p.Repair == nil:
		if way := byHand(p.Findings); way != "" {
			return "What you can do: " + way
		}
		return ""
	}
	const most = 3
	var done []string
	for _, t := range p.Repair.Plan.Trees {
		for i := range t.Fixes {
			done = lists.AppendNew(done, ui.AsSentence(ui.Clean(t.Fixes[i].Title)))
		}
	}
	if more := len(done) - most; more > 0 {
		done = append(done[:most], fmt.Sprintf("And %d more.", more))
	}
	text := strings.Join(done, " ") + " A backup is made first."
	if p.Repair.Undo == "" {
		text = strings.Join(done, " ") + " A repaired copy is written; the original stays as it is."
	}
	for _, word := range p.Repair.Allow {
		text += " With --allow " + word + " it " + why.Costs[word] + "."
	}
	switch {
	case p.Repair.Left > 0:
		text += " " + ui.Count(p.Repair.Left, "error") + " will remain."
	case p.Repair.Doubtful:
		text += " Some models may still refuse the session then."
	}
	return text
}

// nextBlocks is what to type, and how to go back.
func (p *whyPage) nextBlocks() document.Document {
	var doc document.Document
	for _, text := range p.adviceList() {
		doc = append(doc, document.Gap{}, Say(ui.AsSentence(ui.Clean(text))))
	}
	if p.Repair != nil {
		list := lists.MapEach(p.Repair.Commands, func(line string) document.Command { return document.Command{Line: line} })
		doc = append(doc, document.Gap{}, document.Commands{Lead: p.leadSentence(), List: list})
		if p.Repair.Undo != "" {
			doc = append(doc, document.Commands{Lead: "To go back:", List: []document.Command{{Line: p.Repair.Undo}}})
		}
		if p.Browse != "" {
			doc = append(doc, document.Commands{Lead: "To look at it first:", List: []document.Command{{Line: p.Browse}}})
		}
	}
	if p.Verdict == why.Ambiguous {
		doc = append(doc, p.candidateCommands()...)
	}
	return doc
}

// adviceList is what to do that is no command for this session: what the error text asks for, and
// where to look for its session if it is in none that was searched.
func (p *whyPage) adviceList() (list []string) {
	look := false // into other stores
	if p.Session == nil || p.Verdict == why.Resumes {
		for _, s := range p.saidErrors() {
			switch {
			case s.Next != "":
				list = lists.AppendNew(list, s.Next)
			case s.IsCause():
				look = p.Verdict == why.NotFound
			case len(s.Rules) > 0 && p.Session == nil:
				list = append(list, "`sessctl why STORE` says whether the newest session still resumes.")
			}
		}
	}
	if look {
		if stores := p.Asked.Stores; slices.Equal(stores, []string{"none"}) {
			list = append(list, "sessctl does not read the sessions of "+p.Asked.From+".")
		} else {
			list = append(list, "To look into the sessions of your agent, type `sessctl why STORE -` with the path or the address of its store, and paste the error again. `sessctl explain "+p.Asked.Rules[0]+"` says more of this kind of damage.")
		}
	}
	if p.Next != "" && (p.Verdict != why.NotFound || len(list) == 0) {
		list = append(list, p.Next)
	}
	return list
}

// brokenCount counts the other sessions that have errors.
func brokenCount(n int) string {
	if n == 1 {
		return "1 other session of this store has errors"
	}
	return ui.Number(n) + " other sessions of this store have errors"
}

// leadSentence says what comes before the command.
func (p *whyPage) leadSentence() string {
	switch {
	case p.Store.Writer == session.WriterLive:
		return "Close " + cmp.Or(p.Store.WriterName, "the program that has the store open") + ", then type:"
	case p.Repair.Recent:
		return "The session was written to a moment ago, so that a repair leaves it for now (--live-window). Close " + p.Store.Title + ", wait a minute, then type:"
	case p.Store.Writer == session.WriterUnknown && p.Repair.Undo != "":
		return "Close " + p.Store.Title + ", then type:"
	}
	return "To repair it, type:"
}

// candidateCommands are the sessions that may be meant, as commands.
func (p *whyPage) candidateCommands() document.Document {
	const most = 8
	var list []document.Command
	for _, c := range p.Candidates[:min(most, len(p.Candidates))] {
		line := shell.SessionCommand("why", c.Store, c.ID) // whole: others may begin alike
		list = append(list, document.Command{Line: line, Why: Date(c.Touched) + "  " + Title(c.Title)})
	}
	lead := fmt.Sprintf("It fits %s. Name one, the newest first:", ui.Count(len(p.Candidates), "session"))
	if more := len(p.Candidates) - most; more > 0 {
		lead = fmt.Sprintf("It fits %s. Name one; the newest %d are:", ui.Count(len(p.Candidates), "session"), most)
	}
	return document.Document{document.Gap{}, document.Commands{Lead: lead, List: list}}
}

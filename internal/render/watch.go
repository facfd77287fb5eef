package render

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/watch"
)

// WatchOptions say how what happens to stores is printed.
type WatchOptions struct {
	Screen  *ui.Screen
	Tool    Tool
	Home    string         // the folder that ~ stands for
	Quiet   bool           // findings only
	Several bool           // stores
	Least   rules.Severity // of the findings that are told
	Most    int            // findings that are listed of a store at the beginning, 0 for all
	Unread  func(path string, err error) Unread
}

// watchWords are what the kinds of events are called in front of a finding.
var watchWords = map[watch.EventKind]document.Span{
	watch.Found: Span(document.Strong, "new   "), watch.Worse: Span(document.Strong, "worse "), watch.Gone: Span(document.Good, "gone  "),
}

// WatchText prints a line for each event. At a terminal, what is longer goes on below.
func WatchText(o WatchOptions) func(watch.Event) error {
	listed, begun := map[string]int{}, map[string]time.Time{} // of a store at the beginning; when that was
	return func(e watch.Event) error {
		name := ui.Clean(ui.Tilde(e.Path, o.Home))
		head := document.Words(Span(document.Quiet, e.Time.Local().Format(time.TimeOnly)), "  ")
		f := e.Finding
		var said []document.Text
		switch {
		case o.Hides(f):
			return nil
		case f != nil && e.Time.Equal(begun[e.Path]) && o.Most > 0 && listed[e.Path] >= o.Most:
			return nil
		case f != nil:
			listed[e.Path]++
			head = head.And(document.Words(watchWords[e.Kind], SeverityOf(f.Severity), " "+f.Rule.ID+"  ", Span(document.Place, FindingPlace(f)), "  ")...)
			said = []document.Text{document.Words(firstSentence(ui.Clean(SaidMessage(f))))}
			if o.Several {
				said = append(said, document.Words(Span(document.Quiet, "in "+name)))
			}
		case o.Quiet && e.Kind != watch.Unreadable:
			return nil
		default:
			if e.Kind == watch.Begun {
				begun[e.Path] = e.Time
			}
			said = []document.Text{o.storeText(e, name)}
		}
		_, err := io.WriteString(o.Screen, o.layoutEvent(head, said, f != nil))
		return err
	}
}

// layoutEvent has an event on one line, or at a terminal that is too narrow below its head, which
// may take a line of its own.
func (o *WatchOptions) layoutEvent(head document.Text, said []document.Text, own bool) string {
	const below = "          " // where the time ends
	first := head.Styled()
	words := lists.MapEach(said, document.Text.Styled)
	line := first + strings.Join(words, "  ")
	if !o.Screen.Terminal || ui.Width(line) <= o.Screen.Width {
		return line + "\n"
	}
	if own {
		first = strings.TrimRight(first, " ") + "\n" + below
	}
	for i := range words {
		words[i] = strings.Join(ui.Wrap(words[i], o.Screen.TextWidth()-len(below)), "\n"+below)
	}
	return first + strings.Join(words, "\n"+below) + "\n"
}

// storeText is what happened to a store, or to a session as a whole.
func (o *WatchOptions) storeText(e watch.Event, name string) document.Text {
	what := Span(document.Name, name)
	subject := document.Words(what)
	if e.Session != "" {
		subject = document.Words("session ", Span(document.Name, ui.Clean(rules.ShortID(e.Session))), " of ", what)
	}
	switch e.Kind {
	case watch.Begun:
		return document.Words("watching ", what, ": ", o.tallyText(e))
	case watch.InUse:
		user := "another process"
		if e.Session == "" && e.Store.WriterName != "" {
			user = ui.Clean(e.Store.WriterName)
		}
		return subject.And(Span(document.Plain, " is in use by "+user))
	case watch.Left:
		return subject.And(Span(document.Plain, " is no longer in use"))
	case watch.Readable:
		return subject.And(Span(document.Plain, " can be read again"))
	}
	u := o.Unread(e.Path, e.Err)
	return document.Words(Span(document.Bad, "cannot read "), what, ": "+ui.JoinSentences(ui.EndSentence(ui.Clean(u.Message)), ui.Clean(u.Next)))
}

// tallyText is how much there is in a store, and how many of the findings follow.
func (o *WatchOptions) tallyText(e watch.Event) document.Text {
	sessions := 0
	for _, n := range e.Tally.Sessions {
		sessions += n
	}
	listed := slices.DeleteFunc(slices.Clone(e.Tally.Findings), o.Hides)
	text := document.Words(ui.Clean(e.Store.Title)+", "+ui.Count(sessions, "session")+". ", SeverityCounts(listed))
	if o.Most > 0 && len(listed) > o.Most {
		text = text.And(Span(document.Plain, "; the first "+ui.Number(o.Most)+" follow"))
	}
	return text
}

// Hides reports whether a finding is not told. Of a call that is being answered there is an info, which
// comes and goes.
func (o *WatchOptions) Hides(f *check.Finding) bool { return f != nil && f.Severity < o.Least }

// Package document is what a command has to say to people, as plain values, and the
// printers that say it: on a screen, in Markdown, as a Mermaid diagram, as an HTML page. A command builds
// its document once; what only one form has room for is the printer's to leave out.
// Texts are held as they were stored: a printer makes them safe for its form.
package document

import (
	"strings"

	"github.com/sessctl/sessctl/internal/ui"
)

// Document is a list of blocks.
type Document []Block

// Block is one of the types below.
type Block interface{ isBlock() }

// Text is running text: pieces, one behind the other.
type Text []Span

// Span is a piece of text that is one thing.
type Span struct {
	Role Role
	Text string
	URL  string // of a Link
}

// Role is what a piece of text is. A printer decides how that looks.
type Role uint8

// The roles.
const (
	Plain    Role = iota
	Strong        // what a reader looks for
	Lead          // what an item is about, in front of it
	Emphasis      // a remark in passing
	Name          // what a store or a session is called
	Code          // what is typed, or stands in a store, letter for letter
	Place         // where something is
	Quiet         // what a reader may pass over
	Good
	Info
	Notice
	Bad
	Link
	Marked // words of this program that are Markdown already
)

// Words makes a text of pieces: strings, texts and spans.
func Words(pieces ...any) Text {
	var t Text
	for _, piece := range pieces {
		switch piece := piece.(type) {
		case string:
			t = append(t, Span{Text: piece})
		case Span:
			t = append(t, piece)
		case Text:
			t = append(t, piece...)
		}
	}
	return t
}

// String is a text without its roles.
func (t Text) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.Text)
	}
	return b.String()
}

// And is a text with more behind it.
func (t Text) And(more ...Span) Text { return append(t[:len(t):len(t)], more...) }

// Gap begins something else: a screen shows an empty line. Pages have one between
// all their parts anyway.
type Gap struct{}

// Heading begins a part. One of level 1 is the title of a page, which a screen does not
// show: there it stands below the command that was typed.
type Heading struct {
	Level     int
	ID, Short string // of a session, "" for none: on a screen the short one, in front of the title
	Text      Text
	At        string // what links of an HTML page lead to, "" for none
}

// Callout is what a reader is to see first, in the colour of its role.
type Callout struct {
	Role Role
	Text Text
}

// Fold has a title, and below it what an HTML page may hide.
type Fold struct {
	Title Text
	Open  bool // it is not hidden at first
	Below []Block
}

// Viewers are agents among whom the reader of an HTML page chooses: Seen of the items has
// what each of them saw.
type Viewers []string

// Facts are lines about what the heading before them names.
type Facts []Text

// Paragraph is running text.
type Paragraph Text

// Line is text that is not broken, because it holds what is copied.
type Line Text

// Quotation is what somebody else says.
type Quotation Text

// List is a list of items. A label stands in front of its item.
type List []Item

// Item is one of a list.
type Item struct {
	Label string
	Text  Text
	More  Text   // on a screen, a line of its own
	Said  string // stored text behind the words
	Whole bool   // all of it is shown, not what one line holds
	Below []Block

	// For an HTML page: what links lead to, how the item stands out, whether what is below it can
	// be hidden, and what each of its Viewers saw.
	At   string
	Role Role
	Fold bool
	Seen []Seen
}

// Seen is whether a viewer saw an item, and why.
type Seen struct {
	Visible bool
	Why     string
}

// Table has a row of names and rows of cells. A cell of several lines is broken where
// they end.
type Table struct {
	Columns []Column
	Rows    [][]Text
	Picks   bool // severities, rules and counts, which pick the findings that an HTML page shows
}

// Column is one of a table.
type Column struct {
	Name  string
	Right bool // numbers
	Give  Give // on a screen that is too narrow
}

// Give says what a column does for the width of a screen.
type Give uint8

// A column keeps its width, or gives way.
const (
	Keep  Give = iota
	Cut        // its cells lose their ends
	Tail       // its cells lose their beginnings
	Break      // its cells are wrapped
)

// Finding is what a rule found, or what would put it right.
type Finding struct {
	Severity     Span // "" for what would put it right
	Rule, Name   string
	Place, Note  string
	Message      Text
	Brief        bool // on a screen, one line: the message is cut where it ends
	Consequences []Text
	Keep         string // a word of the consequences that a screen never cuts
	Whole        bool   // on a screen, they are not cut
	Known        bool   // it is in the baseline

	At, URL string // for an HTML page: where its place and its rule are, "" for nowhere
}

// Changes are what becomes of records, one a line.
type Changes []Change

// Change is one of them.
type Change struct {
	Kind  Kind
	Place string
	What  Quote
	Note  string
	Below []Block
}

// Kind is what becomes of a record.
type Kind uint8

// The kinds.
const (
	Altered Kind = iota
	Added
	Gone
	Moved
)

// Quote names a record with what it says, `worker: "It is smaller now." + shell`, or
// without, "worker message + shell".
type Quote struct {
	Who  string
	Said string
	Bare string // instead of what it says
	More string
}

// In is the quote with so many columns of what the record says; none for 0.
func (q Quote) In(columns int) string {
	words := q.Who
	switch {
	case q.Said != "" && columns > 0:
		words += `: "` + ui.Excerpt(q.Said, columns) + `"`
	case q.Bare != "":
		words += " " + q.Bare
	}
	return words + q.More
}

// Source is a whole stored text, line by line.
type Source struct{ What, Text string }

// Commands are what to type next. Markdown, which is read elsewhere, leaves them out.
type Commands struct {
	Lead string
	List []Command
}

// Command is a command to type, with the reason.
type Command struct{ Line, Why string }

// Diagram is a part of a sequence diagram: what happens between participants. A diagram
// may come in several parts.
type Diagram []Step

// Step is one thing in a diagram.
type Step struct {
	Kind     StepKind
	From, To string   // names of participants, in letters and digits
	Lines    []string // what it says

	// For an HTML page: the number of its message, where that is, and how it stands out.
	Place, At string
	Role      Role
}

// StepKind is how a step is drawn.
type StepKind uint8

// The kinds of steps.
const (
	Enter   StepKind = iota // From takes part from here on
	Send                    // an arrow
	Open                    // an arrow, and To works from here on
	Answer                  // an arrow that answers
	Close                   // it answers, and From no longer works
	Lost                    // an arrow that does not reach To
	Note                    // words over From
	Release                 // From no longer works, and nobody is told
)

func (Gap) isBlock()       {}
func (Heading) isBlock()   {}
func (Callout) isBlock()   {}
func (Fold) isBlock()      {}
func (Viewers) isBlock()   {}
func (Facts) isBlock()     {}
func (Paragraph) isBlock() {}
func (Line) isBlock()      {}
func (Quotation) isBlock() {}
func (List) isBlock()      {}
func (Table) isBlock()     {}
func (Finding) isBlock()   {}
func (Changes) isBlock()   {}
func (Source) isBlock()    {}
func (Commands) isBlock()  {}
func (Diagram) isBlock()   {}

// Printer prints documents one behind the other, as parts of a greater one.
type Printer func(Document) error

// NewPrinter makes the printer of a format: html, markdown, mermaid, else text.
func NewPrinter(format string, screen *ui.Screen) Printer {
	switch format {
	case "html":
		return HTML(screen.Plain())
	case "markdown":
		return Markdown(screen.Plain())
	case "mermaid":
		return Mermaid(screen.Plain())
	}
	return Lines(screen)
}

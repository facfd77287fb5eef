// Package render is what the printers of all commands share: what they are given, and the
// words for stores, sessions and findings. The short lists (ls, stores, config, explain) it
// prints itself. It decides nothing; what it is given is what it shows.
package render

import (
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Tool is the program, as machine formats name it.
type Tool struct {
	Name string `json:"name"` // `sessctl`
	// of the program that printed the document: `1.2.3`; of other builds what git or the Go command
	// calls the commit, `(devel)` where nothing is known
	Version string `json:"version"`
}

// Build is the program with how it was built.
type Build struct {
	Tool
	Commit   string `json:"commit,omitzero"`   // the whole hash; left out, as the following, when it is not known (docs/install.md)
	Date     string `json:"date,omitzero"`     // of the commit, in UTC
	Go       string `json:"go,omitzero"`       // the version of Go that built it: `go1.26.8`
	Platform string `json:"platform,omitzero"` // `linux/amd64`
}

// String is one line for people.
func (b Build) String() string {
	var facts []string
	if b.Commit != "" {
		facts = append(facts, "commit "+b.Commit)
	}
	for _, fact := range []string{b.Date, b.Go, b.Platform} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	return b.Name + " " + b.Version + " (" + strings.Join(facts, ", ") + ")"
}

// Command is a command to type, with the reason.
type Command = document.Command

// RepairWriter prints a repair: the plan first, then what became of it.
type RepairWriter interface {
	Plan(plan *repair.Plan, store *session.Store, left []*check.Finding) error
	// Ask prints where the backup will be, and how to go back, before a person says yes.
	Ask(backup string, bytes int64, undo Command) error
	Close(outcome Outcome) error
}

// Outcome is how a repair ended.
type Outcome struct {
	Applied  bool
	Output   string         // the repaired copy, "" for a repair in place
	Backup   string         // "" for none
	Receipt  string         // "" for none
	Ledger   *repair.Ledger // nil when nothing was changed
	ExitCode int
	Next     []Command // what to type when nothing was changed

	LeftOut []repair.LeftOut // trees of the plan that could not be repaired
	Left    []*check.Finding // what is left after a plan that was carried out
}

// RepairOptions say how a repair is printed.
type RepairOptions struct {
	Screen   *ui.Screen
	Tool     Tool
	Home     string   // the folder that ~ stands for
	Quiet    bool     // the steps and the receipt only
	MaxSteps int      // in text; 0 for no limit
	Content  bool     // with excerpts of what the items say
	Check    string   // the command that lists what is left
	Allowed  []string // the words of --allow that were given
}

// DiffWriter prints a comparison of two stores.
type DiffWriter interface {
	// Tree prints a session tree that differs. It keeps none of its texts.
	Tree(tree *diff.Tree) error
	Close(end DiffEnd) error
}

// DiffEnd is what is known when everything was compared.
type DiffEnd struct {
	Tally    diff.Tally
	ExitCode int
	Next     []Command // what to type next
}

// DiffStore is one of the stores.
type DiffStore struct {
	*session.Store
	Trees   int // session trees in it
	Orphans int // records of no session, where these are compared
	// Incomplete is the reason why not all of it was compared, "" if it was.
	Incomplete string
}

// DiffOptions say how a comparison is printed.
type DiffOptions struct {
	Screen *ui.Screen
	Tool   Tool
	Home   string // the folder that ~ stands for
	Quiet  bool   // in text and markdown: only whether the stores differ
	Full   bool   // whole texts, and every item of added and gone sessions
	A, B   DiffStore
}

// Title is a session's title for people.
func Title(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no title)"
	}
	return ui.Clean(text)
}

// Date is a local day, "" when it is not known.
func Date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateOnly)
}

// StoreName is what people call a store.
func StoreName(s *session.Store, home string) string {
	if s.Path == "-" {
		return "standard input"
	}
	return ui.Clean(ui.Tilde(s.Path, home))
}

// ReadingNote says how a store was read where one session was wanted: nothing of a full read
// that nobody has to wait for.
func ReadingNote(s *session.Store) string {
	const noticed = 64 << 20 // bytes
	switch {
	case s.Read == session.ByIndex:
		return "read " + s.Read
	case s.Left > 0:
		return "only the newest sessions were read"
	case s.Bytes < noticed:
		return ""
	case s.Read == "":
		return "read in full: " + ui.Bytes(s.Bytes)
	}
	return "read in full: " + ui.Bytes(s.Bytes) + " (" + s.Read + ")"
}

// WriterNote says who is writing to the store, "" when nobody is known to.
func WriterNote(s *session.Store) string {
	switch {
	case s.Writer != session.WriterLive:
		return ""
	case s.WriterName == "":
		return "in use by another process"
	}
	return "in use by " + ui.Clean(s.WriterName)
}

// SessionHeading begins what is said about a session.
func SessionHeading(id, name string) document.Heading {
	return document.Heading{Level: 2, ID: id, Short: rules.ShortID(id), Text: document.Words(Title(name))}
}

// CountAre counts a number with its noun and its verb: "1 session is", "2 sessions are".
func CountAre(n int, noun string) string {
	return ui.Count(n, noun) + map[bool]string{true: " is", false: " are"}[n == 1]
}

// Say makes a paragraph of pieces: strings, texts and spans.
func Say(pieces ...any) document.Paragraph { return document.Paragraph(document.Words(pieces...)) }

// SayEach makes a paragraph of each text.
func SayEach(texts []string) document.Document {
	return lists.MapEach(texts, func(text string) document.Block { return Say(text) })
}

// Span is a piece of text that is one thing.
func Span(role document.Role, text string) document.Span {
	return document.Span{Role: role, Text: text}
}

// Entry is an item of a list, of pieces as words takes them.
func Entry(pieces ...any) document.Item { return document.Item{Text: document.Words(pieces...)} }

// roleOf is how a severity stands out.
func roleOf(severity rules.Severity) document.Role {
	return [...]document.Role{rules.Info: document.Info, rules.Warning: document.Notice, rules.Error: document.Bad}[severity]
}

// SeverityOf is a severity in its colour.
func SeverityOf(s rules.Severity) document.Span { return Span(roleOf(s), s.String()) }

// NameOf is what people call a store, as what it is.
func NameOf(s *session.Store, home string) document.Text {
	return document.Text{Span(document.Name, StoreName(s, home))}
}

// StoreFacts are what a store is.
func StoreFacts(s *session.Store) []string {
	facts := []string{ui.Clean(s.Title)}
	if s.Generation != "" {
		facts = append(facts, "schema "+ui.Clean(s.Generation))
	}
	if s.Bytes > 0 {
		facts = append(facts, ui.Bytes(s.Bytes))
	}
	return facts
}

// Cells are a row of a table.
func Cells(pieces ...any) []document.Text {
	return lists.MapEach(pieces, func(piece any) document.Text { return document.Words(piece) })
}

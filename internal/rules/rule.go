// Package rules is the catalogue: one file a rule, or for a few that differ in a condition,
// one for those that only word a fault, and one table of all of them.
// A rule is a value; it reads a Pass and reports findings. It does no I/O and
// has no clock, and what it would change is data (Fix), never an action.
package rules

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/docs"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// Severity says how bad a finding is.
type Severity uint8

// The severities. Error: the next run fails, or history is lost or wrong.
// Warning: some readers reject it or drop it silently. Info: worth knowing.
const (
	Info Severity = iota
	Warning
	Error
)

var severities = []string{"info", "warning", "error"}

func (s Severity) String() string { return severities[s] }

// ParseSeverity parses the inverse of Severity.String; unknown names give Info.
func ParseSeverity(name string) (severity Severity, known bool) {
	i := slices.Index(severities, name)
	return Severity(max(i, 0)), i >= 0
}

// Safety says what a repair costs.
type Safety uint8

// The safeties. None: there is nothing to repair. Lossless: everything stays in
// the store. Kept: something leaves the store for the receipt. Lossy: something
// is gone. Manual: a person has to decide. The first three with a default
// repair are None, Lossless and Kept; the others need --allow or a person.
const (
	None Safety = iota
	Lossless
	Kept
	Lossy
	Manual
)

func (s Safety) String() string {
	return [...]string{"none", "lossless", "kept", "lossy", "manual"}[s]
}

// MarshalText makes a safety readable in a saved plan.
func (s Safety) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText. A word of another version is Manual:
// nobody knows what such a repair costs, and it can be undone nevertheless.
func (s *Safety) UnmarshalText(text []byte) error {
	for *s = None; *s < Manual && s.String() != string(text); *s++ {
	}
	return nil
}

// Scope says what a rule looks at in one pass.
type Scope uint8

// The scopes; a rule may have several.
const (
	PerTree       Scope = 1 << iota
	PerStore            // what concerns the store as a whole
	PerRecording        // a recorded stream of events
	PerComparison       // a stored tree beside the recording of its run
)

// Rule is one rule. Its long text is docs/rules/ID.md.
type Rule struct {
	ID       string // "SC701"; never reused
	Name     string // "leak-duplicate"
	Title    string // one line for lists
	Severity Severity
	Safety   Safety // of the default repair
	Allow    string // the word of --allow with which there is a repair, "" without one
	Scope    Scope
	Deep     bool // needs what is only read with --deep
	Profiled bool // depends on the provider: only the profiles that list it find anything
	Wire     bool // only a request for that provider would be made otherwise: what is stored is never changed
	Optional bool // runs only where it is named, or where the configuration turns isolation on
	Bodies   bool // finds more where the texts are loaded, which is done where the rule is named
	Since    string
	Run      func(*Pass) // nil: the engine itself reports it
	// Retells reports whether a finding is what a difference between a store and the
	// recording of its run looks like without the recording; nil for rules that find no
	// such thing. The leak rules are none of them: they read the comparison's trace.
	Retells func(*Finding, *replay.Difference) bool
}

// RepairText says in words whether the rule has a repair.
func (r *Rule) RepairText() string {
	if r.Allow == "" {
		return r.Safety.String()
	}
	return r.Safety.String() + "; --allow " + r.Allow
}

// Defect is what a finding says: one defect with its cause, at one place. It holds
// nothing of the tree, so that a report can keep it when the tree is forgotten. A new
// fact of a finding is a field here, and, where machines shall read it, one of render's
// jsonFinding.
type Defect struct {
	Rule     *Rule
	Severity Severity

	session.Place        // of the first item named: Item is -1 where none is, Session "" where it is the store's own
	Items         []int  // all items of the session that it names, first to last
	Count         int    // how many records, parts or the like it is about, 0 where it is one
	Line          string // of the recording that it is about, "" for a store
	Agent         string
	Call          string // call id
	Viewer        string // whose request it is about, where several agents share the session; else ""

	Calls   []string // that lack what a record says which was not read
	Causes  []string // of a recorded refusal, the rules that find what its text is about
	Unloads bool     // the runtime fails to load the session because of it
	Deep    bool     // found only with --deep
	Hides   bool     // the runtime does not send messages that people are shown

	Message string // for people; never message text
	// Discreet is Message without the values of a wrong form that it quotes, for what is
	// kept and passed on: nobody knows what such a value is. "" where there are none.
	Discreet string
	// Profile is the one that minds it most, nil where no provider is asked.
	Profile *Profile
	// ProviderError is what that provider would answer, "" when it would not.
	ProviderError string
	// Judged is how each profile that minds it does, Profile included.
	Judged []Judgement
	// Sent says what an adapter for the profile sends instead, of wire rules:
	// "the two messages as one".
	Sent    string
	Related []session.Place
	Twins   []session.Place // the surviving copies, for leaks
	Fixes   []Fix
}

// AddSentence adds a sentence to the message, none where it is "". Lists show the first one
// alone, so that one says what is wrong and of what; the others say what follows.
func (d *Defect) AddSentence(sentence string) {
	if sentence == "" {
		return
	}
	d.Message = strings.TrimSuffix(d.Message, ".") + ". " + sentence + "."
	if d.Discreet != "" {
		d.Discreet = strings.TrimSuffix(d.Discreet, ".") + ". " + sentence + "."
	}
}

// Finding is a defect as its rule reports it: with the session itself, and with what
// tells it apart from others.
type Finding struct {
	Defect
	Session *session.Session // nil when it is the store's own

	Ref   session.Ref // the record
	Field string      // the column or key of the record that a fault is about, "" where none is
	Nth   int         // which call, result or fault of the record, or of its field
	Whole bool        // it stands for all that its rule finds in the session, of which Ref is the first

	Failing func(*Profile) string // makes ProviderError for each profile
	viewer  *Subject              // whose request it is about, nil for the session's
}

// Judgement is how one profile minds a finding.
type Judgement struct {
	Profile  *Profile
	Severity Severity
	Error    string // what the provider would answer, "" when it would not
	Lost     bool   // the runtime sends something else instead (session.Requests.Loses)
}

// UnknownForm is the word of --allow for taking out records that are in a form that this
// version does not know.
const UnknownForm = "unknown-form"

// Fix is one way to repair a finding, as data.
type Fix struct {
	Title  string   `json:"title"`  // what it does, for people: "move 2 items into a new sub-session"
	Safety Safety   `json:"safety"` // `lossless`, `kept` or `lossy`
	Allow  []string `json:"-"`      // the words of --allow that it needs, nil for a default repair
	// Unread: it takes out a record of which nobody knows what it says. As long as it
	// stands, nothing that is missing beside it is known to be missing.
	Unread bool           `json:"-"`
	Edits  []session.Edit `json:"edits"` // one by one
}

// NewFix is a default fix, or with Manual and without edits what a person has to do.
func NewFix(safety Safety, title string, edits ...session.Edit) Fix {
	return Fix{Title: title, Safety: safety, Edits: edits}
}

// SetFix gives a finding its one fix.
func (f *Finding) SetFix(safety Safety, title string, edits ...session.Edit) {
	f.Fixes = []Fix{NewFix(safety, title, edits...)}
}

// QuarantineItems are the edits that take items out of a session.
func QuarantineItems(s *session.Session, items []int) []session.Edit {
	return lists.MapEach(items, func(i int) session.Edit { return session.Edit{Op: session.Quarantine, Ref: s.ItemRef(i)} })
}

// Page is the rule's page as Markdown.
func (r *Rule) Page() (string, error) {
	data, err := fs.ReadFile(docs.Rules, path.Join("rules", r.ID+".md"))
	if err != nil {
		return "", fmt.Errorf("the page of %s is missing from this build: %w", r.ID, err)
	}
	return string(data), nil
}

// Isolation is what the isolation rules (SC8xx) hold a child against: the limits of
// Loom's design (loom-os/loom c34e1de, ISOLATION.md), which a team may change. The
// zero value of a limit means that there is none.
type Isolation struct {
	Passage          int           // characters of the parent's history that a child's prompt may hold in one piece
	MaxSteps         int           // messages with calls of one child
	MaxTokensPerStep int           // of one message, estimated (see tokens)
	MaxOutputFiles   int           // files that one child wrote
	MaxOutputBytes   int64         // of all these together
	Timeout          time.Duration // of a delegation that names none itself
	Shared           []string      // folders that every agent may use, as tools name them
}

// UsualIsolation are the limits when nobody says otherwise.
var UsualIsolation = Isolation{
	Passage: 200, MaxSteps: 20, MaxTokensPerStep: 2000, MaxOutputFiles: 10, MaxOutputBytes: 1_000_000, Timeout: time.Minute,
}

// Isolation are the limits of the pass.
func (p *Pass) Isolation() *Isolation { return cmp.Or(p.judge.Isolation, &UsualIsolation) }

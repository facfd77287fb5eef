package machine

import (
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/why"
)

const whySchema = "sessctl.why/1"

type whyDocument struct {
	head
	// `resumes`, `loses` (it resumes, but the model loses something), `doubtful` (it resumes with most
	// models, and some may refuse it), `waits` (the provider refuses a request until a call has its
	// result), `refused`, `unloaded` (its runtime fails to load it), `damaged` (the store is damaged
	// or cannot be read), `in-use`, `elsewhere` (the error is not about the session), `ambiguous` or
	// `not-found`
	Verdict why.Verdict `json:"verdict"`
	Asked   *whyAsked   `json:"asked,omitzero"` // what was asked about; left out when neither an error nor a call was
	// what sessctl knows of the error text that was pasted or given; left out when no text was
	Pasted *whyPasted `json:"pasted,omitzero"`
	// path of the store of the session; left out, like all about the session, when no session was
	// chosen
	Store   string      `json:"store,omitzero"`
	Kind    string      `json:"kind,omitzero"`    // kind of the store
	Writer  string      `json:"writer,omitzero"`  // `live`, `dead` or `unknown`
	Read    string      `json:"read,omitzero"`    // as `store.read` of a view
	Session *whySession `json:"session,omitzero"` // the session that was chosen, a root
	// how it was chosen: `named`, `newest`, or `newest-broken` (newer ones resume)
	Chosen   why.Choice   `json:"chosen,omitzero"`
	Cause    string       `json:"cause,omitzero"`    // sentences for people
	Findings []whyFinding `json:"findings,omitzero"` // what the verdict comes from, worst first
	More     int          `json:"more,omitzero"`     // further errors in the session and below it
	Answer   *whyAnswer   `json:"answer,omitzero"`   // what the provider answers to its next request
	Messages *whyMessages `json:"messages,omitzero"` // how many there are, and what becomes of them
	Unread   string       `json:"unread,omitzero"`   // how many messages sessctl cannot read, and what that means for the answer; left out if it reads all
	Mapped   string       `json:"mapped,omitzero"`   // which stored message `asked.message` is
	// calls of the error text that no searched session has: the session has damage of the same kind
	Absent []string   `json:"absent,omitzero"`
	Repair *whyRepair `json:"repair,omitzero"` // left out when there is nothing to repair
	Next   string     `json:"next,omitzero"`   // what to do where that is no command
	// other sessions of the store that have errors; left out, too, if the store was read by index
	Broken     int            `json:"broken,omitzero"`
	Candidates []whySession   `json:"candidates,omitzero"` // with `ambiguous`: the sessions that may be meant, newest first
	Searched   []why.Searched `json:"searched,omitzero"`   // the stores that were searched
	ExitCode   int            `json:"exit_code"`
}

type whyAsked struct {
	// what the error text is about: `refused`, `unloaded` (the runtime fails to load or to go on with
	// what is stored), `unsaved` (something was not stored), `version` (of the runtime, or of its
	// tables), `absent` (the runtime does not find the session or run), `machine` (locks, disk,
	// network), `authentication`, `rate-limited`, `overloaded`, `too-long` or `unknown`. The text
	// itself is not printed
	Kind     string   `json:"kind"`
	Rules    []string `json:"rules,omitzero"`    // the rules that find the cause of such an error in a store
	Profiles []string `json:"profiles,omitzero"` // the providers that word it so
	Calls    []string `json:"calls,omitzero"`    // the call ids in it
	Message  *int     `json:"message,omitzero"`  // the number of the message in it
}

type whyPasted struct {
	Recognised bool `json:"recognised"` // whether sessctl knows it
	// the provider or the runtime that says it; left out, with the next, when it is not known
	From    string    `json:"from,omitzero"`
	Meaning string    `json:"meaning,omitzero"` // what it means, in sentences
	Rules   []string  `json:"rules"`            // the rules that find its cause, or what follows from it, in a store; empty when none does
	IsCause bool      `json:"session_is_cause"` // whether what is stored causes such an error
	Next    string    `json:"next,omitzero"`    // what to do about it; left out when that is to look into the session
	Also    []whyAlso `json:"also,omitzero"`    // further errors in the text; left out if there are none
}

type whyAlso struct {
	Kind    string   `json:"kind"` // as of `asked`
	From    string   `json:"from"`
	Meaning string   `json:"meaning"`
	Rules   []string `json:"rules"`
	IsCause bool     `json:"session_is_cause"`
	Next    string   `json:"next,omitzero"`
}

type whySession struct {
	Store   string    `json:"store,omitzero"` // of `candidates`
	ID      string    `json:"id"`             // of a root session
	Title   string    `json:"title,omitzero"`
	Touched time.Time `json:"touched,omitzero"` // the newest time in it
}

type whyFinding struct {
	Rule    string `json:"rule"`
	Name    string `json:"name"`
	Session string `json:"session,omitzero"`
	Items   []int  `json:"items,omitzero"`
	Message string `json:"message"`
}

type whyAnswer struct {
	Profile string `json:"profile"` // the provider that the next request was checked against
	Verdict string `json:"verdict"` // `accept`, `risk` or `reject`
	// in the words of the provider; left out when it accepts, or when its words are not known
	Error string `json:"error,omitzero"`
	Item  *int   `json:"item,omitzero"` // where it refuses; left out when the request as a whole is meant
}

type whyMessages struct {
	Stored  int  `json:"stored"`          // messages of the session
	Sent    int  `json:"sent"`            // those of them that the next request is made of
	Notices int  `json:"notices"`         // those of them that only tell of an error
	Summed  bool `json:"summed,omitzero"` // true when a summary stands for earlier ones, else left out
}

type whyRepair struct {
	Commands   []string `json:"commands"`      // what to type, in this order
	Undo       string   `json:"undo,omitzero"` // what takes it back; left out when the repair writes a copy
	Does       []string `json:"does"`          // what the repair does
	Edits      int      `json:"edits"`
	Allow      []string `json:"allow,omitzero"`       // the words of `--allow` in the command; left out if there are none
	AssumeDead bool     `json:"assume_dead,omitzero"` // true when the command has `--assume-dead`, else left out
	Left       int      `json:"left"`                 // errors that remain after it
	Doubtful   bool     `json:"doubtful,omitzero"`    // true when some models may still refuse the session after it, else left out
	// true when somebody wrote to the session a moment ago, so that `repair` leaves it for now
	// (`--live-window`), else left out
	Recent bool `json:"recent,omitzero"`
}

// PrintDiagnosis prints a diagnosis as one document. It holds neither the pasted text nor the text
// of any message.
func PrintDiagnosis(d *why.Diagnosis, o render.WhyOptions) error {
	doc := whyDocument{
		head: head{whySchema, o.Tool}, Verdict: d.Verdict, Chosen: d.Chosen, Cause: d.Cause, More: d.More, Mapped: d.Mapped, Absent: d.Absent,
		Unread: d.Unread, Next: d.Next, Broken: d.Broken, ExitCode: o.ExitCode,
		Searched:   append([]why.Searched{}, d.Searched...),
		Candidates: lists.MapEach(d.Candidates, func(c why.Candidate) whySession { return whySession{c.Store, c.ID, c.Title, c.Touched} }),
		Findings: lists.MapEach(d.Findings, func(f *check.Finding) whyFinding {
			return whyFinding{f.Rule.ID, f.Rule.Name, f.Session, f.Items, f.ReportedMessage()}
		}),
	}
	if a := d.Asked; a != nil {
		doc.Asked = &whyAsked{a.Kind.String(), a.Rules, a.Profiles, a.IDs, itemIndex(a.Message)}
	}
	if a := d.Pasted; a != nil {
		doc.Pasted = &whyPasted{Recognised: a.Kind != errtext.Unknown, From: a.From, Meaning: a.Meaning, Rules: append([]string{}, a.Rules...), IsCause: a.IsCause(), Next: a.Next,
			Also: lists.MapEach(a.Also, func(s errtext.Said) whyAlso {
				return whyAlso{s.Kind.String(), s.From, s.Meaning, append([]string{}, s.Rules...), s.IsCause(), s.Next}
			})}
	}
	if s := d.Session; s != nil {
		doc.Store, doc.Session = s.Store, &whySession{ID: s.ID, Title: s.Title, Touched: s.Touched}
	}
	if d.Store != nil {
		doc.Kind, doc.Writer, doc.Read = d.Store.Kind, d.Store.Writer.String(), d.Store.Read
	}
	if a := d.Answer; a != nil {
		doc.Answer = &whyAnswer{a.Profile.Name, a.Verdict.String(), a.Error, itemIndex(a.Item)}
		doc.Messages = &whyMessages{d.Stored, d.Sent, d.Notices, d.Summed}
	}
	if r := d.Repair; r != nil {
		doc.Repair = &whyRepair{Commands: r.Commands, Undo: r.Undo, Does: []string{}, Edits: r.Plan.CountEdits(), Allow: r.Allow, AssumeDead: r.AssumeDead, Left: r.Left, Doubtful: r.Doubtful, Recent: r.Recent}
		for _, t := range r.Plan.Trees {
			for i := range t.Fixes {
				doc.Repair.Does = append(doc.Repair.Does, t.Fixes[i].Title)
			}
		}
	}
	return JSON(o.Screen.Plain(), doc)
}

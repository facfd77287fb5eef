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
	Schema     string         `json:"schema"`
	Tool       render.Tool    `json:"tool"`
	Verdict    why.Verdict    `json:"verdict"`
	Asked      *whyAsked      `json:"asked,omitzero"`
	Pasted     *whyPasted     `json:"pasted,omitzero"`
	Store      string         `json:"store,omitzero"`
	Kind       string         `json:"kind,omitzero"`
	Writer     string         `json:"writer,omitzero"`
	Read       string         `json:"read,omitzero"`
	Session    *whySession    `json:"session,omitzero"`
	Chosen     why.Choice     `json:"chosen,omitzero"`
	Cause      string         `json:"cause,omitzero"`
	Findings   []whyFinding   `json:"findings,omitzero"`
	More       int            `json:"more,omitzero"`
	Answer     *whyAnswer     `json:"answer,omitzero"`
	Messages   *whyMessages   `json:"messages,omitzero"`
	Mapped     string         `json:"mapped,omitzero"`
	Absent     []string       `json:"absent,omitzero"`
	Repair     *whyRepair     `json:"repair,omitzero"`
	Next       string         `json:"next,omitzero"`
	Broken     int            `json:"broken,omitzero"`
	Candidates []whySession   `json:"candidates,omitzero"`
	Searched   []why.Searched `json:"searched,omitzero"`
	ExitCode   int            `json:"exit_code"`
}

type whyAsked struct {
	Kind     string   `json:"kind"`
	Rules    []string `json:"rules,omitzero"`
	Profiles []string `json:"profiles,omitzero"`
	Calls    []string `json:"calls,omitzero"`
	Message  *int     `json:"message,omitzero"`
}

type whyPasted struct {
	Recognised bool      `json:"recognised"`
	From       string    `json:"from,omitzero"`
	Meaning    string    `json:"meaning,omitzero"`
	Rules      []string  `json:"rules"`
	IsCause    bool      `json:"session_is_cause"`
	Next       string    `json:"next,omitzero"`
	Also       []whyAlso `json:"also,omitzero"`
}

type whyAlso struct {
	Kind    string   `json:"kind"`
	From    string   `json:"from"`
	Meaning string   `json:"meaning"`
	Rules   []string `json:"rules"`
	IsCause bool     `json:"session_is_cause"`
	Next    string   `json:"next,omitzero"`
}

type whySession struct {
	Store   string    `json:"store,omitzero"`
	ID      string    `json:"id"`
	Title   string    `json:"title,omitzero"`
	Touched time.Time `json:"touched,omitzero"`
}

type whyFinding struct {
	Rule    string `json:"rule"`
	Name    string `json:"name"`
	Session string `json:"session,omitzero"`
	Items   []int  `json:"items,omitzero"`
	Message string `json:"message"`
}

type whyAnswer struct {
	Profile string `json:"profile"`
	Verdict string `json:"verdict"`
	Error   string `json:"error,omitzero"`
	Item    *int   `json:"item,omitzero"`
}

type whyMessages struct {
	Stored  int  `json:"stored"`
	Sent    int  `json:"sent"`
	Notices int  `json:"notices"`
	Summed  bool `json:"summed,omitzero"`
}

type whyRepair struct {
	Commands   []string `json:"commands"`
	Undo       string   `json:"undo,omitzero"`
	Does       []string `json:"does"`
	Edits      int      `json:"edits"`
	Allow      []string `json:"allow,omitzero"`
	AssumeDead bool     `json:"assume_dead,omitzero"`
	Left       int      `json:"left"`
	Doubtful   bool     `json:"doubtful,omitzero"`
	Recent     bool     `json:"recent,omitzero"`
}

// PrintDiagnosis prints a diagnosis as one document. It holds neither the pasted text nor the text
// of any message.
func PrintDiagnosis(d *why.Diagnosis, o render.WhyOptions) error {
	doc := whyDocument{
		Schema: whySchema, Tool: o.Tool, Verdict: d.Verdict, Chosen: d.Chosen, Cause: d.Cause, More: d.More, Mapped: d.Mapped, Absent: d.Absent,
		Next: d.Next, Broken: d.Broken, ExitCode: o.ExitCode,
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

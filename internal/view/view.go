// Package view builds what a view of one session shows: the items as people
// read them, with the sub-sessions in their places and the findings at the
// items that they name, and the request that the next run would send. It is
// pure: renderers only print what it says. Every string that it hands over may
// hold stored text and is sanitised by the renderer.
package view

import (
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// View is one session with everything below it.
type View struct {
	Store    *session.Store
	Shown    *Session
	Findings []*check.Finding // of the sessions shown, in the order of the report
	Others   int              // findings of the tree's other sessions
	Request  *Request         // what the next run sends; nil unless asked for
	Lanes    *Lanes           // what happened between its agents; nil unless asked for

	// Visibility is who could see what; nil unless it was asked for, and then Shown
	// has no rows.
	Visibility *Visibility

	// Borders are what passed between sessions and their children; nil unless they
	// were asked for, and then Shown has no rows.
	Borders []Border

	texts *texts // nil where the rows have them
}

// Err is why texts could not be loaded.
func (v *View) Err() error {
	if v.texts == nil {
		return nil
	}
	return v.texts.err
}

// Session is one session of the view.
type Session struct {
	*session.Session
	Agent string // whose it is, "" when nothing says so
	Rows  []Row  // one an item, and one for each sub-session that no item refers to
	Below int    // sub-sessions in it, at any depth
	Notes []Note // findings about the session itself

	folded []bool          // by item: it is shown with its calls
	whole  func(*Row) *Row // nil where all rows have their texts
}

// WholeRow is a row of the session with all that it says, which is held while its neighbours are
// printed.
func (s *Session) WholeRow(r *Row) *Row {
	if s.whole == nil || r.Stored == nil || r.Child != nil {
		return r
	}
	return s.whole(r)
}

// Row is one item.
type Row struct {
	Item    int // position in the session as people count it, -1 for a sub-session that no item refers to
	Stored  *session.Item
	Depth   int      // open delegations at the item, as the replay says
	Who     string   // user, system, or the agent
	Text    string   // stored text, whole
	Thought string   // stored reasoning, whole
	Media   []string // images and files that it holds, each as a line: "image/png, 4.2 kB"
	Label   string   // what stands in the place of a text, in the words of sessctl
	Calls   []Call
	Results []Result // of a tool item
	Folded  bool     // the results are shown with their calls
	Marked  bool     // a result out of place
	Flags   []string // implicit, unfinished, archived, added by a repair, blank
	Notes   []Note   // what findings and the replay say
	Child   *Session // drawn at this row; nil when it has none or was drawn before
	Named   bool     // the call or its result names Child, although no item does
}

// Key is the record as findings name it, "" without an item.
func (r *Row) Key() string {
	if r.Stored == nil {
		return ""
	}
	return session.Ref{Table: r.Stored.Table(), Key: r.Stored.Key}.Row()
}

// Note is what a finding or the replay says about a row or a session.
type Note struct {
	Rule     string // "SC701", "" when no finding says it
	Severity rules.Severity
	Text     string
}

// Input is what a view is made of. The bodies of the tree are loaded, or Load loads those of a
// part of it, a session with some of its items: then rows have no texts, no calls and no results,
// and Session.WholeRow has them. Lanes and a request need all texts.
type Input struct {
	Store    *session.Store
	Load     func(part *session.Tree) error
	Tree     *session.Tree
	Findings []*check.Finding // of the tree
	Session  string           // the id of the session to show, which is in the tree
	Request  bool             // also build the request that the next run sends
	Lanes    bool             // also find the lanes of its agents
	Judge    rules.Judge      // for whom; the first profile that judges the session gets it
}

// BuildView makes the view.
func BuildView(in Input) *View {
	b := newBuilder(in)
	shown := in.Tree.Session(in.Session)
	v := &View{Store: in.Store, Shown: b.buildSession(shown), texts: b.texts}
	v.assignFindings(in.Findings, b.drawn)
	if in.Lanes {
		v.Lanes = b.buildLanes(v.Shown)
	}
	if in.Request {
		v.Request = b.buildRequest(b.viewers[shown])
	}
	return v
}

// assignFindings takes the findings of the sessions that are shown, and counts the others.
func (v *View) assignFindings(findings []*check.Finding, drawn map[string]bool) {
	for _, f := range findings {
		if drawn[f.Session] {
			v.Findings = append(v.Findings, f)
		} else {
			v.Others++
		}
	}
}

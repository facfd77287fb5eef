package changes

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// repairHTML prints a plan as a page when all is known: the steps, each changed session before
// and after, and the ledger.
type repairHTML struct {
	repairPage
	doc    document.Document
	rows   int // of sides that are on the page
	hidden int // sessions for which there was no room
	ledger struct{ before, gone, added, after int }
}

// mostRows are the messages of all sides together that a page has room for.
const mostRows = 20_000

func newRepairHTML(opts render.RepairOptions) *repairHTML {
	opts.Quiet = false
	r := &repairHTML{repairPage: repairPage{RepairOptions: opts, sides: map[string]document.Document{}}}
	r.print = func(doc document.Document) error {
		r.doc = append(r.doc, doc...)
		return nil
	}
	return r
}

// Plan keeps the plan for the page, with what it does at its head.
func (r *repairHTML) Plan(plan *repair.Plan, store *session.Store, left []*check.Finding) error {
	err := r.repairPage.Plan(plan, store, left)
	r.doc[0] = document.Heading{Level: 2, Text: document.Words("Repair of ", render.NameOf(store, r.Home))}
	if !plan.IsEmpty() {
		r.doc[2] = document.Callout{Role: document.Notice, Text: document.Text(tallyOf(plan))} // in place of the gap
	}
	return err
}

// Close prints the page.
func (r *repairHTML) Close(o render.Outcome) error {
	if l := &r.ledger; l.before > 0 {
		r.doc = append(r.doc, document.Heading{Level: 2, Text: document.Words("Ledger")}, document.List{
			render.Entry(render.Span(document.Strong, ui.Number(l.before)), " messages before, in the sessions that change"),
			render.Entry("− ", render.Span(document.Strong, ui.Number(l.gone)), " that leave the store: the receipt has them, or another copy stays"),
			render.Entry("+ ", render.Span(document.Strong, ui.Number(l.added)), " added"),
			render.Entry("= ", render.Span(document.Strong, ui.Number(l.after)), " messages after"),
		})
	}
	if r.hidden > 0 {
		r.doc = append(r.doc, document.Callout{Role: document.Notice, Text: document.Words("Not on this page: " + ui.Count(r.hidden, "session") + " before and after. --session SESSION shows one.")})
	}
	if err := r.repairPage.Close(o); err != nil {
		return err
	}
	return document.NewPrinter("html", r.Screen)(r.doc)
}

// Tree keeps what becomes of a tree, for the page.
func (r *repairHTML) Tree(plan *repair.Tree, was, will *session.Tree) {
	s := sides{r: r, was: placesOf(was), will: placesOf(will), edited: map[session.Place]bool{}}
	for i := range plan.Fixes {
		for _, step := range plan.Fixes[i].Steps {
			if step.Op == session.Set || step.Op == session.Wrap || step.Op == session.Scrub || step.Op == session.Omit {
				s.edited[session.Place{Session: step.Session, Item: step.Item}] = true
			}
		}
	}
	var doc document.Document
	for _, after := range will.Sessions {
		before := was.Session(after.ID)
		if before == nil {
			before = &session.Session{ID: after.ID}
		}
		if table := s.sideTable(before, after); len(table.Rows) > 0 {
			doc = append(doc, document.Heading{Level: 4, Text: document.Words("Session ", render.Span(document.Code, rules.ShortID(after.ID)), " before and after")}, table)
			r.rows += len(table.Rows)
		}
	}
	if r.rows > mostRows {
		r.hidden++
		return
	}
	r.sides[plan.Root] = doc
}

// SidesOf are the sessions of a tree before and after, a line for each record near a change: "−"
// leaves its place, "+" comes to it.
func SidesOf(plan *repair.Tree, was, will *session.Tree) document.Document {
	r := newRepairHTML(render.RepairOptions{Content: true})
	r.Tree(plan, was, will)
	var doc document.Document
	for _, block := range r.sides[plan.Root] {
		table, is := block.(document.Table)
		if !is {
			doc = append(doc, block)
			continue
		}
		for _, row := range table.Rows {
			switch {
			case len(row[1]) == 0:
				doc = append(doc, document.Line(document.Words(render.Span(document.Bad, "− "), row[0])))
			case len(row[0]) == 0:
				doc = append(doc, document.Line(document.Words(render.Span(document.Good, "+ "), row[1])))
			default:
				doc = append(doc, document.Line(document.Words("  ", row[1])))
			}
		}
		doc = append(doc, document.Gap{})
	}
	return doc
}

// sides compare a tree with what becomes of it.
type sides struct {
	r         *repairHTML
	was, will map[string]session.Place // of the records
	edited    map[session.Place]bool
}

func placesOf(tree *session.Tree) map[string]session.Place {
	places := map[string]session.Place{}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			places[rowOf(s, i)] = session.Place{Session: s.ID, Item: i}
		}
	}
	return places
}

func rowOf(s *session.Session, i int) string { return s.Items[i].Table() + "/" + s.Items[i].Key }

// sideTable has the records of a session before and after in two columns, those that stay side by
// side: what is changed, with its neighbours.
func (s *sides) sideTable(before, after *session.Session) document.Table {
	var rows [][]document.Text
	var told []bool // which rows say of a change
	add := func(left, right document.Text, change bool) {
		rows, told = append(rows, []document.Text{left, right}), append(told, change)
	}
	passed := map[string]bool{} // that have another order afterwards
	i, j := 0, 0
	for i < len(before.Items) || j < len(after.Items) {
		switch {
		case i < len(before.Items) && s.will[rowOf(before, i)].Session != before.ID:
			add(s.leavingRecord(before, i), nil, true)
			i++
		case j < len(after.Items) && (i >= len(before.Items) || passed[rowOf(after, j)] || s.was[rowOf(after, j)].Session != after.ID):
			add(nil, s.comingRecord(after, j), true)
			j++
		case j < len(after.Items) && i < len(before.Items) && rowOf(before, i) == rowOf(after, j):
			left, right, edited := s.recordText(before, i), s.recordText(after, j), s.edited[session.Place{Session: before.ID, Item: i}]
			if edited {
				right = document.Words(right, " ", render.Span(document.Notice, "changed"))
			}
			add(left, right, edited)
			i, j = i+1, j+1
		default:
			passed[rowOf(before, i)] = true
			add(document.Words(s.recordText(before, i), " ", render.Span(document.Info, "moved")), nil, true)
			i++
		}
	}
	s.r.ledger.before += len(before.Items)
	s.r.ledger.after += len(after.Items)
	return document.Table{Columns: []document.Column{{Name: "Before"}, {Name: "After"}}, Rows: nearChanges(rows, told)}
}

// leavingRecord is a record that leaves its session.
func (s *sides) leavingRecord(in *session.Session, i int) document.Text {
	to, stays := s.will[rowOf(in, i)]
	if !stays {
		s.r.ledger.gone++
		return document.Words(s.recordText(in, i), " ", render.Span(document.Bad, "removed"))
	}
	return document.Words(s.recordText(in, i), " ", render.Span(document.Info, "moved to "+rules.ShortID(to.Session)))
}

// comingRecord is a record that comes into its session.
func (s *sides) comingRecord(in *session.Session, i int) document.Text {
	from, was := s.was[rowOf(in, i)]
	if !was {
		s.r.ledger.added++
		return document.Words(s.recordText(in, i), " ", render.Span(document.Good, "added"))
	}
	if from.Session == in.ID {
		return document.Words(s.recordText(in, i), " ", render.Span(document.Info, "moved"))
	}
	return document.Words(s.recordText(in, i), " ", render.Span(document.Info, "moved from "+rules.ShortID(from.Session)))
}

// recordText is a record in a few words.
func (s *sides) recordText(in *session.Session, i int) document.Text {
	var step repair.Step
	step.DescribeItem(&in.Items[i])
	return document.Words(render.Span(document.Quiet, strconv.Itoa(i)), " "+itemWords(&step, s.r.Content).In(document.Columns))
}

// nearChanges are the rows that say of a change with two before and behind, and how many there
// are between them; none without a change.
func nearChanges(rows [][]document.Text, told []bool) [][]document.Text {
	const beside = 2
	shown := make([]bool, len(rows))
	for i, change := range told {
		for n := max(i-beside, 0); change && n < min(i+beside+1, len(rows)); n++ {
			shown[n] = true
		}
	}
	var near [][]document.Text
	some := false
	for i := 0; i < len(rows); i++ {
		from := i
		for i < len(rows) && !shown[i] {
			i++
		}
		if i > from {
			same := document.Words(render.Span(document.Quiet, "… "+ui.Count(i-from, "message")+" the same"))
			near = append(near, []document.Text{same, same})
		}
		if i < len(rows) {
			near, some = append(near, rows[i]), true
		}
	}
	if !some {
		return nil
	}
	return near
}

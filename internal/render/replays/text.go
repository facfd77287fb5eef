// Package replays prints the events of a recording, row by row and as a diagram.
package replays

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// NewReplayWriter makes the writer of a format: text, table, json, ndjson or mermaid.
func NewReplayWriter(format string, opts render.ReplayOptions) render.ReplayWriter {
	switch format {
	case "json":
		return machine.NewReplay(opts)
	case "ndjson":
		return machine.ReplayLines(opts)
	case "mermaid":
		return newReplayDiagram(opts)
	}
	return newReplayText(opts, format == "table")
}

// replayText prints for people. A table says everything in whole words, and where no
// terminal has to show it, all of a row in one line that is never cut.
type replayText struct {
	*render.ReplayRows
	columns []replayColumn
	table   bool
	begun   bool

	// Of the last row, used again for the next one.
	cells      []string
	wide       int    // the columns of its line
	rest, text []byte // what stands behind its line, and all of it
}

func newReplayText(opts render.ReplayOptions, table bool) *replayText {
	t := &replayText{columns: replayColumns(opts.Screen.Width, table), table: table}
	t.cells = make([]string, len(t.columns))
	t.ReplayRows = render.NewReplayRows(opts, opts.Screen, t.printRow)
	return t
}

// printRow prints a row. The pieces of an answer say the same but for their lines.
func (t *replayText) printRow(r *recording.Row) error {
	if err := t.printBeginning(); err != nil {
		return err
	}
	number := padLeft(strconv.FormatInt(r.Line, 10), t.columns[0].width)
	if !r.Again || len(number) != t.wide || r.Kind != recording.Choice && r.Kind != recording.Reasoning {
		t.wide = len(number)
		t.rest = t.appendBehind(t.rest[:0], r)
	}
	sign, style := replaySign(r)
	t.text = append(t.appendStyled(t.appendStyled(t.text[:0], style, sign), &ui.Dim, number), t.rest...)
	_, err := t.Write(t.text)
	return err
}

// appendBehind appends what stands behind the line of a row.
func (t *replayText) appendBehind(to []byte, r *recording.Row) []byte {
	const whole = 1 << 16 // of ids
	oneLine := t.table && !t.Screen.Terminal
	cells, last := t.cells, len(t.columns)-1
	var left []string
	over := t.wide - t.columns[0].width // what a cell takes more than its column has, the next one has less
	for i, c := range t.columns[1:] {
		width := max(c.width-over, 1)
		if i+1 == last && oneLine {
			width = whole
		}
		cells[i+1] = c.cell(r, width, &left)
		if i+1 < last {
			over = max(0, ui.Width(cells[i+1])-width)
		}
	}
	if r.Disagree() {
		left = append(left, replayOther(r, t.Model, leftColumns))
	}
	var more []string // lines of the reason
	if width := t.columns[last].width - over; oneLine {
		cells[last] = strings.Join(append(cells[last:], left...), "; ")
	} else if !ui.FitsLine(cells[last], width) {
		more = ui.Wrap(cells[last], width)
		cells[last], more = more[0], more[1:]
	}
	to = t.appendCells(to, cells, r)
	for _, rest := range more {
		to = append(append(append(to, strings.Repeat(" ", t.columns[last].from)...), rest...), '\n')
	}
	if len(left) == 0 || oneLine {
		return to
	}
	below, words := strings.Repeat(" ", t.columns[1].from), strings.Join(left, "; ")
	if t.Screen.Color || !ui.FitsLine(words, t.Screen.TextWidth()-len(below)) {
		words = ui.Dim.Render(words)
	}
	return append(to, ui.Hang(below, below, words, t.Screen.TextWidth())...)
}

// appendCells appends the cells behind the first one in their columns; r is nil for their names.
func (t *replayText) appendCells(to []byte, cells []string, r *recording.Row) []byte {
	used := signColumns + t.wide
	for i, c := range t.columns[1:] {
		gap := max(t.columns[i].gap, c.from-used)
		to = append(to, strings.Repeat(" ", gap)...)
		used += gap + ui.Width(cells[i+1])
		switch {
		case r == nil:
			to = t.appendStyled(to, &ui.Dim, cells[i+1])
		case c.style != nil:
			to = t.appendStyled(to, c.style(r), cells[i+1])
		default:
			to = append(to, cells[i+1]...)
		}
	}
	return append(bytes.TrimRight(to, " "), '\n')
}

// appendStyled appends a text in a style. Styles cost time, so they are left out where the
// screen would take them out.
func (t *replayText) appendStyled(to []byte, style *lipgloss.Style, text string) []byte {
	if t.Screen.Color && strings.TrimSpace(text) != "" {
		text = style.Render(text)
	}
	return append(to, text...)
}

// printBeginning says what is read, which model decides, and what the columns are.
func (t *replayText) printBeginning() error {
	if t.begun {
		return nil
	}
	t.begun = true
	var out strings.Builder
	if !t.Quiet {
		out.WriteString(ui.Bold.Render(render.StoreName(&session.Store{Path: t.Path}, t.Home)) + "\n")
		out.WriteString(ui.Hang("  ", "  ", replayModels[t.Model], t.Screen.TextWidth()) + "\n")
	}
	names := lists.MapEach(t.columns, func(c replayColumn) string { return c.name })
	t.wide = t.columns[0].width
	_, err := t.Write(t.appendCells(t.appendStyled([]byte(out.String()+" "), &ui.Dim, names[0]), names, nil))
	return err
}

// Close prints the findings about the recording, what was counted, and what to
// type next.
func (t *replayText) Close(end render.ReplayEnd) error {
	if err := t.End(&end); err != nil {
		return err
	}
	if err := t.printBeginning(); err != nil {
		return err
	}
	var doc document.Document
	if len(end.Findings) > 0 || !t.Quiet {
		doc = append(doc, document.Gap{})
	}
	if len(end.Findings) > 0 { // as check says them
		body := render.FindingsText
		if t.table {
			body = render.FindingLines
		}
		shown, hidden := render.LimitFindings(end.Findings, t.MaxFindings)
		doc = append(append(doc, body(shown, t.Screen.TextWidth())...), document.Gap{}, render.HiddenLines(hidden))
	}
	if !t.Quiet {
		doc = append(doc, t.tallyBlocks(end.Findings)...)
		if len(end.Next) > 0 {
			doc = append(doc, document.Gap{}, document.Commands{Lead: "Next:", List: end.Next})
		}
	}
	if _, err := io.WriteString(t, document.OnScreen(t.Screen, doc...)); err != nil {
		return err
	}
	return t.Out.Flush()
}

// tallyBlocks counts: "54 events, shown as 19 rows: 9 belong to this session, 6 to sub-sessions".
func (t *replayText) tallyBlocks(findings []*check.Finding) document.Document {
	s := t.Summary
	doc := document.Document{
		render.Say(fmt.Sprintf("%s, shown as %s: %s belong to this session, %s to sub-sessions",
			ui.Count(s.Events, "event"), ui.Count(s.Rows, "row"), ui.Number(s.Persist), ui.Number(s.Skip))),
		render.Say(ui.Count(s.Delegations, "delegation")),
	}
	if s.Disagreements > 0 {
		decides, other := comparedModels(t.Model)
		doc = append(doc, render.Say(render.Span(document.Notice, disagreeSign), " "+ui.Count(s.Disagreements, "row")+
			" on which the "+decides.String()+" model and the "+other.String()+" model disagree"))
	}
	if t.Odd > 0 {
		doc = append(doc, render.Say(render.Span(document.Bad, oddSign), " "+ui.Count(t.Odd, "row")+" on which an event does not fit what came before"))
	}
	if len(findings) > 0 {
		doc = append(doc, document.Line(document.Words(render.SeverityCounts(findings), " in the recording")))
	}
	return doc
}

// leftColumns is how wide an id may be that is told below its row.
const leftColumns = 40

// briefEvent names the event of a row in so many columns. A switch goes without the
// agent that it comes from, which other rows tell unless it is odd; what else has no
// room is left.
func briefEvent(r *recording.Row, width int, left *[]string) string {
	words := replayEventWords(r)
	if ui.Width(words) <= width {
		return words
	}
	if r.Kind != recording.Switched {
		if replayStranger(r) {
			words = replayEventName(r)
			*left = append(*left, "agent "+agentWords(r.Agent))
		}
		return ui.Truncate(words, width)
	}
	words = replayEventName(r) + " →" + agentWords(r.To)
	if ui.Width(words) > width || r.Anomaly != nil {
		*left = append(*left, agentWords(r.From)+"→"+agentWords(r.To))
	}
	return ui.Truncate(words, width)
}

// briefWhy says why in so many columns. Where there is no room for everything, the
// reason is left out of a row that is about something, unless the row has a sign:
// then it is left, as is what is odd.
func briefWhy(r *recording.Row, width int, left *[]string) string {
	if why := replayWhy(r, width); ui.Width(why) <= width {
		return why
	}
	why := briefReason(r, width)
	if about := replaySubject(r, max(width-len("result of "), leastID)); len(about) > 0 {
		why = about[0]
		if r.Reason != replay.NothingStored && (r.Anomaly != nil || r.Disagree()) {
			*left = append(*left, reasonWords(r, r.Reason, leftColumns))
		}
	}
	if a := oddWords(r, leftColumns); a != "" {
		*left = append(*left, a)
	}
	return why
}

// leastID is what of an id is told at the least.
const leastID = 8

// briefReason is "r1 opens" for "delegation r1 opens", and "stream ID" for "stream
// of ID".
func briefReason(r *recording.Row, width int) string {
	words := reasonForms[r.Reason]
	if verb, ok := strings.CutPrefix(words, "{call} "); ok && r.Call != "" {
		return callWords(r.Call, max(width-len(verb)-1, leastID)) + " " + verb
	}
	words = reasonWords(r, r.Reason, width)
	if ui.Width(words) > width {
		words = strings.Replace(words, " of ", " ", 1)
	}
	return words
}

// replayColumn is a column of a width that follows from the screen: rows are
// printed before the next ones are known.
type replayColumn struct {
	name  string
	width int
	gap   int                                                      // to the next column
	from  int                                                      // where it begins
	cell  func(r *recording.Row, width int, left *[]string) string // clean; what has no room goes to left; not of the line
	style func(r *recording.Row) *lipgloss.Style                   // nil for none
}

// The signs in front of a row, in a column of their own.
const (
	disagreeSign = "≠"
	oddSign      = "!"
	signColumns  = 1
)

func replaySign(r *recording.Row) (string, *lipgloss.Style) {
	switch {
	case r.Anomaly != nil:
		return oddSign, &ui.Red
	case r.Disagree():
		return disagreeSign, &ui.Yellow
	}
	return " ", &ui.Dim
}

// replayColumns shares the width out: what is left beside the columns that are as
// wide as they are goes to the event, the frame and the reason.
func replayColumns(width int, table bool) []replayColumn {
	const narrowest, tight, roomy = 60, 72, 100 // of a screen: on a narrower one lines are broken by the terminal
	digits, gap := 4, len("  ")
	switch {
	case width < tight:
		gap = 1
	case width >= roomy:
		digits = 6
	}
	columns := []replayColumn{
		{name: "line", width: digits, gap: 1},
		{name: "event", cell: briefEvent},
		{name: "depth", width: 5, cell: func(r *recording.Row, _ int, _ *[]string) string { return replayDepth(r) }},
		{name: "frame", cell: frameCell},
		{name: "action", width: 7, cell: actionCell, style: actionStyle},
		{name: "why", cell: briefWhy},
	}
	if table {
		columns[len(columns)-1].cell = func(r *recording.Row, width int, _ *[]string) string { return replayWhy(r, width) }
	}
	room := max(width, narrowest) - signColumns
	last := len(columns) - 1
	for i := range columns {
		c := &columns[i]
		if c.gap == 0 && i < last {
			c.gap = gap
		}
		if i == 0 {
			c.name = padLeft(c.name, c.width)
		}
		if table {
			c.name = strings.ToUpper(c.name)
		}
		room -= c.width + c.gap
	}
	// Of 80 columns the event gets what "message_added assistant" takes, the frame
	// "root/worker", and the reason "sub-session" with its id.
	event, frame := min(room*43/100, 36), min(room*21/100, 28)
	columns[last-4].width, columns[last-2].width, columns[last].width = event, frame, room-event-frame
	from := signColumns
	for i := range columns {
		columns[i].from = from
		from += columns[i].width + columns[i].gap
	}
	return columns
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-len(text))) + text
}

// frameCell is the path of agents; of a long one the end, which tells it from
// others.
func frameCell(r *recording.Row, width int, _ *[]string) string {
	path := r.Path()
	if len(path) == 0 {
		return nothingSign
	}
	names := lists.MapEach(path, agentWords)
	return ui.TruncateLeft(strings.Join(names, "/"), width)
}

const nothingSign = "–"

func actionCell(r *recording.Row, _ int, _ *[]string) string {
	if r.Action == replay.None {
		return nothingSign
	}
	return r.Action.String()
}

func actionStyle(r *recording.Row) *lipgloss.Style {
	return [...]*lipgloss.Style{replay.Persist: &ui.Green, replay.Skip: &ui.Yellow, replay.None: &ui.Dim}[r.Action]
}

// reasonForms are the reasons in words. {session} is the session that the event belongs to,
// {call} the delegation, with which they begin.
var reasonForms = map[replay.Reason]string{
	replay.NothingStored: "stores nothing",
	replay.OwnID:         "id of {session}",
	replay.ChildID:       "id of {session}",
	replay.OwnStream:     "stream of {session}",
	replay.ChildStream:   "stream of {session}",
	replay.OwnCall:       "call of {session}",
	replay.ChildCall:     "call of {session}",
	replay.AtDepthZero:   "depth 0",
	replay.BelowZero:     "a delegation is open",
	replay.NotGuarded:    "not guarded by depth",
	replay.OwnRecord:     "own record of {session}",
	replay.ChildRecord:   "record of {session}",
	replay.Opens:         "{call} opens",
	replay.Closes:        "{call} closes",
	replay.Clamped:       "no such delegation is open",
	replay.RunBegins:     "the run begins or continues",
}

// replayModels say how a model decides.
var replayModels = [...]string{
	recording.Auto:      "Session ids decide, without ids the running streams, and without streams the depth (--assign-by auto).",
	recording.ByDepth:   "The depth decides: messages are not stored while an agent switch is open (--assign-by depth).",
	recording.BySession: "Session ids decide, and without ids the running streams (--assign-by session-id).",
}

// comparedModels are the deciding model and the one that it is compared with. Session
// ids and streams decide in the automatic one, where the depth helps out.
func comparedModels(m recording.Model) (decides, other recording.Model) {
	if m == recording.ByDepth {
		return recording.ByDepth, recording.BySession
	}
	return recording.BySession, recording.ByDepth
}

// replayEventWords names the event of a row: "agent_switching root→worker",
// "message_added tool", "agent_choice ×2". The agent stands there when the frame
// does not say it.
func replayEventWords(r *recording.Row) string {
	words := replayEventName(r)
	switch {
	case r.Kind == recording.Switched:
		words += " " + agentWords(r.From) + "→" + agentWords(r.To)
	case replayStranger(r):
		words += " (" + agentWords(r.Agent) + ")"
	}
	return words
}

// replayEventName is the event without agents.
func replayEventName(r *recording.Row) string {
	words := ui.Clean(r.Name)
	if r.Count > 1 {
		words += " ×" + strconv.Itoa(r.Count)
	}
	if r.Kind == recording.MessageAdded && r.Row != 0 {
		words += " " + r.Row.String()
	}
	return words
}

// replayStranger reports whether an agent speaks in a frame that is another's.
func replayStranger(r *recording.Row) bool {
	return r.Frame != nil && r.Agent != "" && r.Agent != r.Frame.Agent
}

// agentWords is the name of an agent, which may be missing or blank.
func agentWords(name string) string {
	if strings.TrimSpace(name) == "" {
		return nothingSign
	}
	return ui.Clean(name)
}

// replayDepth is "1", or "0 → 1" where it changes.
func replayDepth(r *recording.Row) string {
	depth := strconv.Itoa(r.Depth)
	if r.Before != r.Depth {
		depth = strconv.Itoa(r.Before) + " → " + depth
	}
	return depth
}

// replayWhy says why a row is persisted or skipped, what it is about, and what is
// odd. Ids of calls are at most idWidth wide.
func replayWhy(r *recording.Row, idWidth int) string {
	parts := replaySubject(r, idWidth)
	if r.Reason != replay.NothingStored || len(parts) == 0 {
		parts = append(parts, reasonWords(r, r.Reason, idWidth))
	}
	if odd := oddWords(r, idWidth); odd != "" {
		parts = append(parts, odd)
	}
	return strings.Join(parts, "; ")
}

// replayOther says what the other model would do with a row.
func replayOther(r *recording.Row, model recording.Model, idWidth int) string {
	_, other := comparedModels(model)
	return other.String() + " model: " + r.Other.String() + ", " + reasonWords(r, r.OtherReason, idWidth)
}

func replayWhyAndOther(r *recording.Row, model recording.Model, idWidth int) string {
	if !r.Disagree() {
		return replayWhy(r, idWidth)
	}
	return replayWhy(r, idWidth) + "; " + replayOther(r, model, idWidth)
}

// replaySubject is what an event is about, beside the reason.
func replaySubject(r *recording.Row, idWidth int) []string {
	switch {
	case len(r.Calls) > 0:
		const most = 8 // machines get all
		ids := lists.MapEach(r.Calls[:min(len(r.Calls), most)], func(id string) string { return callWords(id, idWidth) })
		if more := len(r.Calls) - most; more > 0 {
			ids = append(ids, ui.Number(more)+" more")
		}
		return []string{"calls " + strings.Join(ids, ", ")}
	case r.Kind == recording.MessageAdded && r.Call != "", r.Kind == recording.CallAnswered:
		return []string{"result of " + callWords(r.Call, idWidth)}
	case r.Kind == recording.PartialCall, r.Kind == recording.CallStarted:
		return []string{"call " + callWords(r.Call, idWidth)}
	case r.Kind == recording.ChildCompleted && r.Child != "":
		return []string{"sub-session " + shortID(r.Child)}
	case r.Kind == recording.StreamStarted && r.Reason == replay.NothingStored:
		return []string{streamWords(r.Frame) + " begins"}
	case r.Kind == recording.StreamStopped && r.Reason == replay.NothingStored:
		return []string{streamWords(r.Frame) + " ends"}
	case r.Kind == recording.Restarted:
		return []string{"the answer so far is discarded"}
	}
	return nil
}

func reasonWords(r *recording.Row, reason replay.Reason, idWidth int) string {
	target := "a sub-session"
	if r.Target != "" {
		target = shortID(r.Target)
	}
	words := reasonForms[reason]
	if rest, ok := strings.CutPrefix(words, "{call}"); ok {
		return delegationWords(r.Call, idWidth) + rest
	}
	return strings.Replace(words, "{session}", target, 1)
}

// streamWords name the stream of a frame's session; of the run for nil.
func streamWords(f *replay.Frame) string {
	switch {
	case f == nil:
		return "own stream"
	case f.Child == "":
		return "stream of a sub-session"
	}
	return "stream of " + shortID(f.Child)
}

func delegationWords(call string, idWidth int) string {
	if call == "" {
		return "a delegation"
	}
	return "delegation " + callWords(call, idWidth)
}

// oddWords say what is odd, "" where nothing is or the reason tells it.
func oddWords(r *recording.Row, idWidth int) string {
	a := r.Anomaly
	switch {
	case a == nil || a.Kind == recording.UnmatchedEnd:
		return ""
	case a.Kind == recording.BegunInside:
		return "the recording begins inside a delegation"
	}
	return delegationWords(a.Call, idWidth) + " of line " + strconv.FormatInt(a.Opened, 10) + " was never closed"
}

// callWords is the id of a call. Of a long one the end is kept: providers begin
// all of them alike.
func callWords(id string, width int) string {
	if id == "" {
		return "an unknown call"
	}
	if strings.TrimSpace(id) == "" {
		id = strconv.Quote(id)
	}
	return ui.TruncateLeft(ui.Clean(id), width)
}

func shortID(id string) string { return ui.Clean(rules.ShortID(id)) }

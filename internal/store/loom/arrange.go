package loom

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// addEvents adds what events tell of the agent: as a child its goals and answers, as
// a parent the spawns that no step has, and what came back.
func (b *builder) addEvents() {
	when := b.buildTimeline()
	for _, ev := range b.asked {
		b.addEvent(row{step: when.countBefore(ev.time)}, ev, tableGoals)
	}
	for _, ev := range b.sent {
		if !ev.failed {
			b.addEvent(row{step: when.countUntil(ev.time)}, ev, tableAnswers)
		}
	}
	for _, d := range b.delegations {
		if d.step == "" {
			r := row{step: when.countBefore(d.request.time), spawn: d}
			b.calls[d] = callPlace{d.request.callID(), r.step, d.request.time}
			b.addEvent(r, d.request, tableSpawns)
		}
		call, made := b.calls[d]
		if !made || d.answer == nil {
			continue
		}
		for _, ev := range append([]*event{d.answer}, d.again...) {
			r := row{step: max(call.step, when.countBefore(ev.time)), answer: d, notBefore: call.time}
			b.addEvent(r, ev, tableResults)
		}
	}
	for _, ev := range b.strays {
		b.addEvent(row{step: when.countBefore(ev.time)}, ev, tableResults)
	}
}

func (b *builder) addEvent(r row, ev *event, table string) {
	text, raw, err := b.rereadEvent(ev)
	if err != nil {
		r.faults = append(r.faults, session.Fault{Kind: session.Undecodable, Field: ev.key, Detail: "it cannot be read again: " + describeReason(err)})
	}
	r.item = eventItem(table, b.id, ev, text, raw)
	if r.spawn != nil {
		r.item.Calls[0].Delegation = r.spawn.toModel()
	}
	if r.answer != nil {
		r.item.Results[0].CallID = b.calls[r.answer].id
		setMeaning(&r.item)
	}
	r.event, r.number, r.faults = true, -1, append(r.faults, ev.faults...)
	b.addRow(r, ev.key)
}

// timeline is the time of the latest of the first steps, for each number of steps.
type timeline []time.Time

func (b *builder) buildTimeline() timeline {
	var latest time.Time
	var line timeline
	for i := range b.rows {
		if r := &b.rows[i]; r.number >= 0 {
			if r.item.Time.After(latest) {
				latest = r.item.Time
			}
			line = append(line, latest)
		}
	}
	return line
}

// countBefore counts how many steps are older. What has no time comes first.
func (l timeline) countBefore(t time.Time) int {
	return sort.Search(len(l), func(i int) bool { return !l[i].Before(t) })
}

// countUntil counts how many steps are not newer. What has no time comes last.
func (l timeline) countUntil(t time.Time) int {
	if t.IsZero() {
		return len(l)
	}
	return sort.Search(len(l), func(i int) bool { return l[i].After(t) })
}

// compareRows compares rows: events stand behind the steps that they follow, by time.
func compareRows(a, b row) int {
	if c := cmp.Compare(a.step, b.step); c != 0 {
		return c
	}
	switch {
	case a.event && b.event:
		return a.earliestTime().Compare(b.earliestTime())
	case a.event:
		return 1
	case b.event:
		return -1
	}
	return 0
}

// earliestTime is when the item of a row was there at the earliest.
func (r *row) earliestTime() time.Time {
	if r.item.Time.Before(r.notBefore) {
		return r.notBefore
	}
	return r.item.Time
}

// stride is the distance of the positions of two steps, whose numbers follow each
// other: room for events between them.
const stride = 1 << 24

// arrangeItems puts the items into their order and gives them positions. A step has the one
// of its file's number; two files of one number collide.
func (b *builder) arrangeItems() {
	slices.SortStableFunc(b.rows, compareRows)
	last := int64(-1)
	for i := range b.rows {
		r := &b.rows[i]
		switch {
		case r.number < 0:
			last++
		default:
			last = max(last, (r.number+1)*stride)
		}
		r.item.Position = last
		b.session.Items = append(b.session.Items, r.item)
		for _, f := range r.faults {
			f.Item, f.Ref = i, b.session.ItemRef(i)
			b.session.Faults = append(b.session.Faults, f)
		}
	}
	b.markBlocking()
}

// markBlocking finds the spawns for which the parent waited: nothing stands between the
// call and its result. The design lets a parent wait or go on.
func (b *builder) markBlocking() {
	for i := range b.rows {
		if d := b.rows[i].spawn; d != nil {
			last := i+1 == len(b.rows)
			b.session.Items[i].Calls[0].Delegation.Blocking = last || b.rows[i+1].answer == d
		}
	}
}

// finishSession sets what follows from the items and events.
func (b *builder) finishSession() {
	s := b.session
	for i := range s.Items {
		t := s.Items[i].Time
		if !t.IsZero() && (s.Created.IsZero() || t.Before(s.Created)) {
			s.Created = t
		}
		if t.After(s.Updated) {
			s.Updated = t
		}
	}
	if len(b.asked) > 0 {
		s.Task = b.asked[0].said
	}
}

// delegation is one spawn of a child: a step of the parent, an event, or both, and
// what came back.
type delegation struct {
	parent  string
	child   string   // "" when nothing says
	step    string   // the path of the step, "" when only the event tells
	request *event   // nil without a capture of it
	answer  *event   // nil without one
	again   []*event // further results of it
}

// resultCorrelation is what the result has to carry: what the spawn says, or else the
// child's id, which the design waits by (ISOLATION.md, Spawning an Agent).
func (d *delegation) resultCorrelation() string {
	if d.request != nil && d.request.correlation != "" {
		return d.request.correlation
	}
	return d.child
}

// isAnswered reports whether the step's own observation stands for the result: nothing
// says that another one was to come.
func (d *delegation) isAnswered() bool { return d.request == nil && d.answer == nil }

// matcher brings the spawn steps and the captured events together.
type matcher struct {
	agents map[string]*history
	queues queues
	tied   map[string]string // the child by the correlation of its spawn
}

// matchEvents gives every event to a delegation, in the order of time: the first of the
// child that has none yet. A spawn without a step is a delegation of its own. What
// belongs to no agent of the workspace is left.
func matchEvents(agents map[string]*history, steps []*delegation, events []*event) (all []*delegation, left []*event) {
	all = steps
	m := matcher{agents: agents, queues: queueDelegations(all, func(*delegation) bool { return true }), tied: map[string]string{}}
	for _, ev := range events {
		if ev.result {
			continue
		}
		d := m.findSpawn(ev)
		if d == nil && agents[m.parentOf(ev)] == nil {
			left = append(left, ev)
			continue
		}
		if d == nil {
			d = &delegation{parent: m.parentOf(ev)}
			all = append(all, d)
		}
		d.request, d.child = ev, cmp.Or(d.child, ev.child)
	}
	m.queues = queueDelegations(all, func(d *delegation) bool { return d.child != "" })
	for _, d := range all {
		m.tied[d.resultCorrelation()] = d.child
	}
	later := slices.DeleteFunc(slices.Clone(events), func(ev *event) bool {
		return !ev.result || ev.correlation != "" && m.giveResult(ev, ev.correlation)
	})
	later = slices.DeleteFunc(later, func(ev *event) bool { return m.giveResult(ev, "") })
	return all, append(left, matchRepeated(all, later)...)
}

// matchRepeated gives results of children that all have theirs to the delegation with their
// correlation, else to the last one of the child, and returns those that fit none.
func matchRepeated(all []*delegation, events []*event) (left []*event) {
	answered := queueDelegations(all, func(d *delegation) bool { return d.answer != nil })
	for _, ev := range events {
		var found *delegation
		if of := answered[wanted{ev.child, ev.parent, ""}]; len(of) > 0 {
			found = of[len(of)-1]
		}
		if tied := answered[wanted{ev.child, ev.parent, ev.correlation}]; ev.correlation != "" && len(tied) > 0 {
			found = tied[0]
		}
		if found == nil {
			left = append(left, ev)
			continue
		}
		found.again, ev.parent = append(found.again, ev), found.parent
	}
	return left
}

// parentOf is the agent that an event of a spawn is from, or a result for; "" when it
// does not say.
func (m *matcher) parentOf(ev *event) string {
	if ev.parent == "" && !ev.result && m.agents[ev.source] != nil {
		return ev.source
	}
	return ev.parent
}

// childOf is the agent that a result is from.
func (m *matcher) childOf(ev *event) string {
	if ev.child == "" && m.agents[ev.source] != nil {
		return ev.source
	}
	return cmp.Or(ev.child, m.tied[ev.correlation])
}

// findSpawn finds the step that an event of a spawn belongs to, nil for none.
func (m *matcher) findSpawn(ev *event) *delegation {
	parent, lacks := m.parentOf(ev), func(d *delegation) bool { return d.request == nil }
	if ev.child != "" {
		if d := m.queues.nextLacking(wanted{ev.child, parent, ""}, lacks); d != nil {
			return d
		}
	}
	if parent == "" {
		return nil
	}
	return m.queues.nextLacking(wanted{"", parent, ""}, lacks)
}

// giveResult gives a result to a delegation with a correlation, "" for any, and reports
// whether there was one.
func (m *matcher) giveResult(ev *event, correlation string) bool {
	ev.child = m.childOf(ev)
	d := m.queues.nextLacking(wanted{ev.child, ev.parent, correlation}, func(d *delegation) bool { return d.answer == nil })
	if d != nil {
		d.answer = ev
		ev.parent = d.parent
	}
	return d != nil
}

// toModel is what the model has of it.
func (d *delegation) toModel() *session.Delegation {
	m := &session.Delegation{Agent: d.child, Child: d.child, Correlation: d.resultCorrelation()}
	if d.request != nil {
		m.Task, m.Tools, m.Timeout = d.request.said, d.request.tools, d.request.timeout
	}
	return m
}

// resolver finds out where a path of the workspace leads, by the names in it alone:
// it follows links itself and never past the folder.
type resolver struct {
	root  *os.Root
	above []string // the folder's absolute paths: as it was named, and without links
}

func newResolver(root *os.Root) *resolver {
	r := &resolver{root: root}
	if abs, err := filepath.Abs(root.Name()); err == nil {
		r.above = append(r.above, filepath.ToSlash(abs))
		if real, err := filepath.EvalSymlinks(abs); err == nil && filepath.ToSlash(real) != r.above[0] {
			r.above = append(r.above, filepath.ToSlash(real))
		}
	}
	return r
}

// target is where a path leads.
type target struct {
	real    string // below the folder without links; "" when there is nothing, or it is outside
	outside bool
	info    os.FileInfo // of real
	err     error       // why there is nothing
}

var (
	errOutside = errors.New("it is a link that leads out of the workspace")
	errLoop    = errors.New("its links lead in a circle")
)

// findFile finds the name to open a file or folder by, and what is there. An os.Root follows
// relative links itself, but takes every absolute one for one that leads out.
func (r *resolver) findFile(name string) (string, fs.FileInfo, error) {
	if info, err := r.root.Stat(name); err == nil {
		return name, info, nil
	}
	t := r.followPath(name)
	if t.outside {
		t.err = errOutside
	}
	return t.real, t.info, t.err
}

// mostLinks is how many links one path may go through, as on Linux. More are a loop.
const mostLinks = 40

// followPath walks a path below the folder; an absolute one must begin with the folder's.
func (r *resolver) followPath(name string) target {
	rest, ok := r.relativePath(name)
	if !ok {
		return target{outside: true}
	}
	var real []string
	parts := strings.Split(rest, "/")
	for links := 0; len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(real) == 0 {
				return target{outside: true}
			}
			real = real[:len(real)-1]
			continue
		}
		at := path.Join(append(real[:len(real):len(real)], part)...)
		info, err := r.root.Lstat(at)
		if err != nil {
			return target{outside: leavesFolder(len(real)+1, parts), err: err}
		}
		if info.Mode()&os.ModeSymlink == 0 {
			real = append(real, part)
			continue
		}
		link, err := r.root.Readlink(at)
		if links++; links > mostLinks {
			err = errLoop
		}
		if err != nil {
			return target{err: err}
		}
		if link = filepath.ToSlash(link); path.IsAbs(link) {
			if link, ok = r.relativePath(link); !ok {
				return target{outside: true}
			}
			real = nil
		}
		parts = append(strings.Split(link, "/"), parts...)
	}
	at := cmp.Or(path.Join(real...), ".")
	info, err := r.root.Lstat(at)
	if err != nil {
		return target{err: err}
	}
	return target{real: at, info: info}
}

// relativePath is a path relative to the folder.
func (r *resolver) relativePath(name string) (string, bool) {
	if !path.IsAbs(name) && !filepath.IsAbs(name) {
		return name, true
	}
	name = path.Clean(filepath.ToSlash(name))
	for _, above := range r.above {
		if rest, ok := strings.CutPrefix(name, above); ok && (rest == "" || strings.HasPrefix(rest, "/") || above == "/") {
			return strings.TrimPrefix(rest, "/"), true
		}
	}
	return "", false
}

// leavesFolder reports whether the rest of a path goes up past the folder from a place that
// is so deep below it.
func leavesFolder(depth int, parts []string) bool {
	for _, part := range parts {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// realFolder is where an agent's folder lies without links: two names may lead to one.
func (r *resolver) realFolder(name string) string {
	if t := r.followPath(name); t.real != "" {
		return displayName(t.real)
	}
	return displayName(name)
}

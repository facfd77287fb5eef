package loom

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// builder makes the session of one agent, at the outline level.
type builder struct {
	*loom
	*history
	session *session.Session
	looked  map[string]looked

	rows  []row
	calls map[*delegation]callPlace
}

// row is an item before it has its position.
type row struct {
	item      session.Item
	faults    []session.Fault // without Ref and Item
	step      int             // how many steps stand before it, its own among them
	number    int64           // of a step's first item: the file's number, else -1
	event     bool
	spawn     *delegation // of a call
	answer    *delegation // of a result
	notBefore time.Time   // of a result: when its call was made
}

// callPlace is where the call of a delegation stands.
type callPlace struct {
	id   string
	step int
	time time.Time
}

func (b *builder) build(ctx context.Context) error {
	s := b.session
	s.Agent, s.Delegated, s.Workspace = b.id, b.named, b.folder(b.dir)
	b.calls = map[*delegation]callPlace{}
	if err := b.readSteps(ctx); err != nil {
		return err
	}
	b.addEvents()
	b.arrange()
	b.finish()
	return ctx.Err()
}

// readSteps makes the items of the history.
func (b *builder) readSteps(ctx context.Context) error {
	files, err := b.loom.history(b.agent)
	if err != nil {
		b.fault(session.StoreDamaged, historyFolder, "the history of "+b.id+" cannot be read: "+reason(err))
	}
	for i, file := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.readStep(i+1, file)
	}
	if gaps := missing(files); gaps != "" {
		b.fault(session.StoreDamaged, historyFolder, "the history of "+b.id+" lacks "+gaps+": what these steps did is lost")
	}
	return nil
}

// readStep makes the items of a file: a call and its result, unless another record
// has that.
func (b *builder) readStep(nth int, file stepFile) {
	r := row{step: nth, number: file.number}
	raw, err := b.read(file.path)
	if err != nil {
		r.item = otherItem(nil)
		r.faults = []session.Fault{{Kind: session.Undecodable, Field: file.name, Detail: "it cannot be read: " + reason(err)}}
		b.add(r, keyOf(b.agent, file))
		return
	}
	s, usable, wrong := decodeStep(raw)
	if wrong != nil {
		r.faults = append(r.faults, session.Fault{Kind: wrong.kind, Field: file.name, Detail: wrong.why})
	}
	if !usable {
		r.item = otherItem(raw)
		b.add(r, keyOf(b.agent, file))
		return
	}
	r.item = stepItem(b.id, &s, raw)
	r.faults = append(r.faults, s.faults(file)...)
	r.item.Outputs = b.arguments(&s)
	result := row{step: nth, number: -1, item: observationItem(b.id, &s)}
	d := b.steps[file.path]
	if d != nil {
		r.item.Calls[0].Delegation, r.spawn = d.model(), d
		b.calls[d] = callPlace{s.ID, nth, r.item.Time}
	}
	if d == nil || d.answered() {
		result.item.Outputs = b.outcome(&s)
		b.add(r, keyOf(b.agent, file))
		result.answer = d
		b.add(result, keyOf(b.agent, file))
		return
	}
	r.item.Outputs = append(r.item.Outputs, b.outcome(&s)...)
	b.add(r, keyOf(b.agent, file))
}

func (b *builder) add(r row, key string) {
	r.item.Key = key
	forget(&r.item)
	b.rows = append(b.rows, r)
}

// fault notes what is wrong with the session as a whole.
func (b *builder) fault(kind session.FaultKind, field, detail string) {
	b.session.Faults = append(b.session.Faults, session.Fault{Kind: kind, Ref: b.session.Ref(), Item: -1, Field: field, Detail: detail})
}

// faults are what the values of a step say that cannot be.
func (s *step) faults(file stepFile) []session.Fault {
	var list []session.Fault
	if _, ok := instant(s.Time); !ok {
		list = append(list, badTime(s.Time))
	}
	if name := strings.TrimSuffix(file.name, path.Ext(file.name)); s.ID != name {
		list = append(list, session.Fault{
			Kind: session.CopiesDiffer, Field: "id",
			Detail: fmt.Sprintf("the file is %s, and the step in it says %.40q; sessctl takes the step's word for the id and the file's for the place", file.name, s.ID),
		})
	}
	return list
}

// missing names the numbers that lie between those of the files. What a history
// begins with is not known: the design counts from 1, and a counter may go on from
// an earlier run.
func missing(files []stepFile) string {
	var first, count int64
	for i := 1; i < len(files); i++ {
		if gap := files[i].number - files[i-1].number - 1; gap > 0 {
			if count += gap; first == 0 {
				first = files[i-1].number + 1
			}
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("step_%03d", first)
	}
	return fmt.Sprintf("%d steps, the first of them step_%03d", count, first)
}

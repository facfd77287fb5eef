package claudecode

import (
	"context"
	"time"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// readBrief reads the session of a transcript without items, as far as its first and its last lines
// tell, with those of the sub-agents that have files directly below it; nil where nothing was
// said.
func (c *claude) readBrief(ctx context.Context, t transcript) (*session.Tree, error) {
	log, err := filelog.Open(c.root, t.name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	s := &session.Session{ID: t.id, Writer: c.live.writerOf(t.id)}
	notes := newChain(filelog.NewNames())
	said := false
	glance := func(at filelog.Line) {
		var l line
		if at.Err != nil || jsonscan.Exact.Unmarshal(at.Text, &l) != nil {
			said = true // which is an item, too
			return
		}
		notes.noteLine(&l)
		k := kindOf(l.Type)
		said = said || l.UUID != "" && k != unsaid
		if k != user && k != assistant || l.UUID == "" {
			return
		}
		when, _ := time.Parse(time.RFC3339Nano, l.Time)
		s.SpreadTimes(when)
	}
	for at, err := range log.Lines(ctx) {
		if err != nil {
			return nil, err
		}
		if glance(at); !s.Created.IsZero() {
			break
		}
	}
	for at, err := range log.Last(ctx, 16<<10) {
		if err != nil {
			return nil, err
		}
		glance(at)
	}
	agents, err := c.listAgents(t)
	if err != nil || !said && len(agents) == 0 {
		return nil, err
	}
	s.Title = notes.title
	heads := []forest.Head{{Session: s}}
	for _, a := range agents {
		heads = append(heads, forest.Head{Session: &session.Session{ID: a.id, Parent: t.id, Agent: a.meta.Type, Title: a.meta.Title, Delegated: true}})
	}
	return forest.GroupHeads(heads)[0], nil
}

package browse

import (
	"context"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// jobs counts what runs beside the screen, so that the browser can wait for it.
type jobs struct {
	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
	last   int
}

// begin counts a job, unless the browser was left.
func (j *jobs) begin() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.group.Add(1)
	}
	return !j.closed
}

// wait waits for all that was begun; nothing begins from here on.
func (j *jobs) wait() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.group.Wait()
}

// job is something that runs and can be stopped.
type job struct {
	id     int
	what   string // "checking session.db"
	cancel context.CancelFunc
}

// runJob makes the command for a job, which tells how the state changes on its way and at its end.
func (m *Model) runJob(what string, work func(ctx context.Context, tell func(change func())) (end func() tea.Cmd, err error)) tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	m.jobs.last++
	id := m.jobs.last
	m.running = append(m.running, job{id, what, cancel})
	news := make(chan told)
	listen := func() tea.Msg {
		select {
		case msg := <-news:
			return msg
		case <-m.ctx.Done():
			return nil
		}
	}
	tell := func(msg told) {
		select {
		case news <- msg:
		case <-m.ctx.Done():
		}
	}
	return func() tea.Msg {
		if !m.jobs.begin() {
			cancel()
			return nil
		}
		go func() {
			defer m.jobs.group.Done()
			defer cancel()
			end, err := work(ctx, func(change func()) {
				tell(told{id, func() tea.Cmd { change(); return nil }, listen})
			})
			if err != nil {
				end = func() tea.Cmd { m.noteError(err); return nil }
			}
			tell(told{id: id, change: end})
		}()
		return listen()
	}
}

// endJobs cancels jobs and forgets them.
func (m *Model) endJobs(ends func(job) bool) {
	m.running = slices.DeleteFunc(m.running, func(j job) bool {
		if ends(j) {
			j.cancel()
		}
		return ends(j)
	})
}

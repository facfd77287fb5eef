package watch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// Glance is what a store tells before it is read.
type Glance struct {
	Writer     session.Writer
	WriterName string
	Marks      map[string]string // of each session, another text when it changed; nil where nothing tells
	Loose      bool              // a session may have changed although its mark did not
}

// Options say what is watched, and how.
type Options struct {
	Stores []string
	// Find are the stores that there are by now: those that came later are watched, too. nil for none.
	Find   func(ctx context.Context) []string
	Check  func(ctx context.Context, path string, of Part) (*Look, error)
	Glance func(ctx context.Context, path string) (Glance, error)
	Files  func(path string) []string // of a store, with those that are written beside it; nil for none
	// Sign is a way to ask for a text that is another one when a store without files was written to.
	Sign   func(path string) func(ctx context.Context) string
	Every  time.Duration // how often all of a store is checked, where only parts of it were
	Poll   time.Duration // how often a store is looked at of which the system does not tell
	Always bool          // it tells of none
	Now    func() time.Time
	Emit   func(Event) error
	Counts *Metrics // nil where nobody asks for them
}

// The times of the loop.
const (
	quiet   = 100 * time.Millisecond // without a write: a burst is one check
	longest = 500 * time.Millisecond // that a burst goes on
	share   = 9                      // checks that follow each other take a tenth of the time
	soonest = 2 * time.Second        // between looks at who has a store open
	latest  = time.Minute            // and between other looks that follow each other, and for new stores
)

// mostBusy is how often in a row a store may be locked before that is told: it passes.
const mostBusy = 3

// one is a store that is watched.
type one struct {
	*subscriber
	seen
	parted
	path string
	sign string // of a store that is polled
	ask  func(ctx context.Context) string

	first, due, rest time.Time // of a burst; when it is to be checked, zero for never; before which it is not
	polled, again    time.Time // when it is to be looked at, and checked, whatever was told; zero for never
	changed          time.Time // when it was written to
	written          bool      // since the last check
	unread           error     // why it cannot be read, which was told
	failed           int       // times in a row
}

type watcher struct {
	Options
	notes *notifier
	turn  sync.Mutex // to tell
}

// ErrNothing says that no store could be read at the beginning.
var ErrNothing = errors.New("no store can be read")

// Run watches until the context ends or nobody takes the events. At the beginning the stores are checked
// one after another; from then on none waits for another one.
func Run(ctx context.Context, opts Options) error {
	w := &watcher{Options: opts, notes: newNotifier(opts.Always)}
	defer w.notes.stop()
	var stores []*one
	var failed error
	readable := false
	for _, path := range opts.Stores {
		s, err := w.beginStore(ctx, path)
		if err != nil {
			return err
		}
		stores = append(stores, s)
		readable = readable || s.unread == nil
		failed = errors.Join(failed, s.unread)
	}
	if !readable {
		return errors.Join(ErrNothing, failed)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for _, s := range stores {
		all.Go(func() { stop(w.follow(ctx, s)) })
	}
	if opts.Find != nil {
		all.Go(func() {
			stop(w.findStores(ctx, func(s *one) { all.Go(func() { stop(w.follow(ctx, s)) }) }))
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// beginStore checks a store for the first time.
func (w *watcher) beginStore(ctx context.Context, path string) (*one, error) {
	s := &one{path: path, subscriber: w.notes.subscribe(), ask: w.Sign(path)}
	w.listen(ctx, s)
	return s, w.checkStore(ctx, s)
}

// findStores looks for stores that were not there before, for at most a twentieth of the time.
func (w *watcher) findStores(ctx context.Context, follow func(s *one)) error {
	known := slices.Clone(w.Stores)
	timer := time.NewTimer(min(latest, w.Every))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		start := w.Now()
		for _, path := range w.Find(ctx) {
			if slices.Contains(known, path) {
				continue
			}
			known = append(known, path)
			s, err := w.beginStore(ctx, path)
			if err != nil {
				return err
			}
			follow(s)
		}
		timer.Reset(max(min(latest, w.Every), 20*w.Now().Sub(start)))
	}
}

// follow checks a store when the system tells of it, or when its time has come.
func (w *watcher) follow(ctx context.Context, s *one) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.told:
			s.noteWrite(w.Now())
		case <-timer.C:
		}
		w.pollStore(ctx, s)
		if isPast(s.due, w.Now()) {
			if err := w.checkStore(ctx, s); err != nil {
				return err
			}
		}
		next := w.Now().Add(time.Hour)
		for _, at := range []time.Time{s.due, s.polled, s.again} {
			if !at.IsZero() && at.Before(next) {
				next = at
			}
		}
		timer.Reset(next.Sub(w.Now()))
	}
}

// isPast reports whether a time has come; zero never does.
func isPast(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// noteWrite has a store checked when the burst of writes is over, or goes on for long.
func (s *one) noteWrite(now time.Time) {
	if !s.written {
		s.first, s.written = now, true
	}
	s.changed, s.due = now, now.Add(quiet)
	if most := s.first.Add(longest); s.due.After(most) {
		s.due = most
	}
	if s.due.Before(s.rest) {
		s.due = s.rest
	}
}

// pollStore looks at a store of which the system does not tell, and has one checked whose time has come.
func (w *watcher) pollStore(ctx context.Context, s *one) {
	now := w.Now()
	if isPast(s.polled, now) {
		s.polled = now.Add(w.Poll)
		if before := s.sign; w.listen(ctx, s) != before {
			s.noteWrite(now)
		}
	}
	if isPast(s.again, now) {
		s.again = time.Time{}
		if s.due.IsZero() {
			s.due = now
		}
	}
}

// listen asks the system to tell of a store. Where that is not possible, it is polled for a sign, for
// at most a twentieth of the time.
func (w *watcher) listen(ctx context.Context, s *one) (sign string) {
	files, start := w.Files(s.path), w.Now()
	if w.notes.add(s.subscriber, files) {
		s.polled, s.sign = time.Time{}, ""
		return ""
	}
	if s.sign = signOf(files); files == nil {
		s.sign = s.ask(ctx)
	}
	now := w.Now()
	s.polled = now.Add(max(w.Poll, 20*now.Sub(start)))
	return s.sign
}

// checkStore checks what changed of a store, and tells what is new. An error ends the run.
func (w *watcher) checkStore(ctx context.Context, s *one) error {
	start, written := w.Now(), s.written
	s.written, s.due, s.again = false, time.Time{}, time.Time{}
	events, err := w.lookAt(ctx, s, written)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now := w.Now()
	if s.partly || s.slow >= tooSlow || s.marks == nil && s.heads == nil {
		s.rest = now.Add(min(latest, share*now.Sub(start)))
	}
	if err != nil {
		events = append(events, w.noteFailure(ctx, s, err, now)...)
	} else {
		if s.unread != nil {
			events = append([]Event{{Kind: Readable}}, events...)
		}
		s.unread, s.failed = nil, 0
		s.again = w.nextCheck(s, now)
	}
	w.turn.Lock()
	defer w.turn.Unlock()
	for _, e := range events {
		e.Time, e.Path, e.Store = now, s.path, s.store
		if e.Kind == Begun {
			e.Tally = s.tally()
		}
		if err := w.Emit(e); err != nil {
			return err
		}
	}
	return nil
}

// nextCheck is when a store is checked although nothing is told of it: one in use, whose runtime may
// end in silence, and one of which only parts were checked.
func (w *watcher) nextCheck(s *one, now time.Time) (at time.Time) {
	if s.isInUse() {
		at = now.Add(min(max(now.Sub(s.changed), soonest), latest))
	}
	if all := w.nextWhole(s); at.IsZero() || !all.IsZero() && all.Before(at) {
		at = all
	}
	return at
}

// noteFailure tells of a store that cannot be read, once, and has it checked as a whole when it can.
func (w *watcher) noteFailure(ctx context.Context, s *one, err error, now time.Time) (events []Event) {
	w.Counts.noteFailure(s.path)
	s.failed++
	s.again = now.Add(min(latest, time.Duration(s.failed)*w.Poll))
	w.listen(ctx, s)               // its folder may be another one now
	s.first, s.written = now, true // since the last check that was made
	busy := problem.ClassOf(err) == problem.Busy
	if !busy {
		s.parted = parted{}
	}
	if s.unread == nil && (!busy || s.failed > mostBusy) {
		events, s.unread = []Event{{Kind: Unreadable, Err: err}}, err
	}
	return events
}

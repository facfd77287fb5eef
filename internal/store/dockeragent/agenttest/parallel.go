package agenttest

import (
	"errors"
	"iter"
	"slices"
)

// lane is one of several calls that run at the same time.
type lane struct {
	next  func() (struct{}, bool) // lets it go on until its next event; false when it has ended
	pause func()                  // called inside it, hands over to the others
	err   error
}

// together runs calls at the same time: now one goes on to its next event, now
// another, as the seed of the database has it. All come to their end.
func (r *run) together(n int, call func(int) error) error {
	var lanes []*lane
	for i := range n {
		l := &lane{}
		l.next, _ = iter.Pull(func(yield func(struct{}) bool) {
			l.pause = func() { yield(struct{}{}) }
			r.stream.pause = l.pause
			l.err = call(i)
		})
		lanes = append(lanes, l)
	}
	var err error
	for outer := r.stream.pause; len(lanes) > 0; {
		i := r.db.rng.IntN(len(lanes))
		l := lanes[i]
		r.stream.pause = l.pause
		if _, goesOn := l.next(); !goesOn {
			lanes = slices.Delete(lanes, i, i+1)
			err = errors.Join(err, l.err)
		}
		if r.stream.pause = outer; outer != nil {
			outer() // what runs beside this batch goes on as well
		}
	}
	return err
}

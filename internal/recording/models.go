package recording

import "github.com/sessctl/sessctl/internal/replay"

// judge says what each model does with an event of the owner.
func (r *Recorder) judge(e *Event, at owner, step *Step) {
	if kinds[e.Kind] == nothing {
		step.Action, step.Other = replay.None, replay.None
		if step.Reason == replay.OwnItem {
			step.Reason = replay.NothingStored
		}
		return
	}
	step.Target = at.id
	step.Action, step.Reason = r.bySession(e, at)
	step.Other, step.OtherReason = r.byDepth(e)
	if r.model == ByDepth {
		step.Action, step.Reason, step.Other, step.OtherReason = step.Other, step.OtherReason, step.Action, step.Reason
	}
}

// bySession stores what belongs to the run's own session.
func (r *Recorder) bySession(e *Event, at owner) (replay.Action, replay.Reason) {
	own := at.stream == r.run && r.run != nil
	switch {
	case e.Kind == ChildCompleted && own:
		return replay.Persist, replay.OwnRecord
	case e.Kind == ChildCompleted:
		return replay.Skip, replay.ChildRecord
	}
	reason := [...]struct{ own, child replay.Reason }{
		byID:     {replay.OwnID, replay.ChildID},
		byCall:   {replay.OwnCall, replay.ChildCall},
		byStream: {replay.OwnStream, replay.ChildStream},
		byDepth:  {replay.AtDepthZero, replay.BelowZero},
	}[at.how]
	if own || at.id == "" && at.stream == nil {
		return replay.Persist, reason.own
	}
	return replay.Skip, reason.child
}

// byDepth stores what comes while no switch is open, and records at any depth.
func (r *Recorder) byDepth(e *Event) (replay.Action, replay.Reason) {
	if kinds[e.Kind] == record {
		return replay.Persist, replay.NotGuarded
	}
	for _, s := range r.open {
		if s.switched {
			return replay.Skip, replay.BelowZero
		}
	}
	return replay.Persist, replay.AtDepthZero
}

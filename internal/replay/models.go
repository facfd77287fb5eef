package replay

// judge says what each model does with an event of the owner.
func (r *Recorder) judge(e *Event, at owner, step *EventStep) {
	if kinds[e.Kind] == nothing {
		step.Action, step.Other = None, None
		if step.Reason == OwnItem {
			step.Reason = NothingStored
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
func (r *Recorder) bySession(e *Event, at owner) (Action, Reason) {
	own := at.stream == r.run && r.run != nil
	switch {
	case e.Kind == ChildCompleted && own:
		return Persist, OwnRecord
	case e.Kind == ChildCompleted:
		return Skip, ChildRecord
	}
	reason := [...]struct{ own, child Reason }{
		byID:     {OwnID, ChildID},
		byCall:   {OwnCall, ChildCall},
		byStream: {OwnStream, ChildStream},
		byDepth:  {AtDepthZero, BelowZero},
	}[at.how]
	if own || at.id == "" && at.stream == nil {
		return Persist, reason.own
	}
	return Skip, reason.child
}

// byDepth stores what comes while no switch is open, and records at any depth.
func (r *Recorder) byDepth(e *Event) (Action, Reason) {
	if kinds[e.Kind] == record {
		return Persist, NotGuarded
	}
	for _, s := range r.open {
		if s.switched {
			return Skip, BelowZero
		}
	}
	return Persist, AtDepthZero
}

package adktest

import "time"

// Shapes of times, summaries and rewinds.

// Compacted is a session of which a summary stands for the first turn.
func Compacted() Session {
	s := turns(Session{ID: "compacted", Events: []Event{
		asks("first"), says("root", ""), {Author: "user"}, asks("second"), says("root", ""),
	}}, 2).timed()
	s.Events[2].Invocation = "e-00000000-0000-4000-8000-000000000003"
	s.Events[2].Actions.Compaction = &Compaction{s.Events[0].Time, s.Events[1].Time, "the user said first"}
	return s
}

// Rewound is a session whose second turn was annulled, and done in another way.
func Rewound() Session {
	s := turns(Session{ID: "rewound", Events: []Event{
		asks("first"), says("root", ""), asks("second"), calls("root", Calls("adk-lost", "look", `{}`)), {Author: "user"}, asks("third"), says("root", ""),
	}}, 2)
	s.Events[4].Actions.RewindBefore = s.Events[2].Invocation
	for i := 4; i < len(s.Events); i++ {
		s.Events[i].Invocation = "e-00000000-0000-4000-8000-000000000003"
	}
	return s
}

// Ties are events of one time: a call and its answer that are told apart by nothing
// but the order of writing.
func Ties() Session {
	s := Session{ID: "ties", Events: []Event{
		asks("first"), calls("root", Calls("adk-one", "look", `{}`)), calls("root", Answers("adk-one", "look", `{"result":"seen"}`)), says("root", ""),
	}}
	for i := range s.Events {
		s.Events[i].Time = Start
	}
	return s
}

// MixedOffsets is a session that went on in another zone: an hour behind, although
// later.
func MixedOffsets() Session {
	s := turns(Session{ID: "mixed-offsets", Events: []Event{
		asks("first"), says("root", ""), asks("second"), says("root", ""),
	}}, 2).timed()
	for i := range s.Events[:2] {
		s.Events[i].Time = s.Events[i].Time.In(time.FixedZone("", 3600))
	}
	return s
}

// timed gives every event its time.
func (s Session) timed() Session {
	for i := range s.Events {
		s.Events[i].Time = Start.Add(time.Duration(i) * time.Millisecond)
	}
	return s
}

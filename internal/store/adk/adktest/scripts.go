package adktest

// Scripts are all sessions that are described here, by their ids. Not every
// generation can store every one of them: see Generation.Lacks.
func Scripts() []Session {
	return []Session{
		SequenceOfGroups(), NestedGroups(), PrefixNames(),
		Interrupted(), PartlyAnswered(), OrphanResponse(), LongRunning(), Pending(), Confirmed(), Asked(), AskedAndLeft(), Requested(), AnsweredTogether(),
		Transfer(), AgentTool(), SingleTurn(), SingleTurnOfCall(), TaskMode(),
		Compacted(), Rewound(), Ties(), MixedOffsets(),
	}
}

// For are those of the sessions that the generation can store.
func (g Generation) For(sessions []Session) []Session {
	var list []Session
	for _, s := range sessions {
		if g.Lacks(s) == "" {
			list = append(list, s)
		}
	}
	return list
}

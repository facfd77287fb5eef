package adktest

import "strings"

// Shapes of google/adk-python#3470, with its names.

// SequenceOfGroups is a sequence of three parallel groups. Every agent of a later
// group is on a branch of its own, so that it sees nothing of the earlier groups.
func SequenceOfGroups() Session {
	s := Session{ID: "sequence-of-groups", Events: []Event{asks("go")}}
	for _, line := range []string{"P1 Alice Bob Charlie", "P2 David Eve Frank", "P3 Grace Henry Iris"} {
		group, names, _ := strings.Cut(line, " ")
		for name := range strings.FieldsSeq(names) {
			s.Events = append(s.Events, says(name, group+"."+name))
		}
	}
	return s
}

// NestedGroups are two groups with a reducer each, side by side, and a reducer of
// both behind them. The reducers of the groups are on the branch above their
// agents', and so see nothing of what they are to reduce.
func NestedGroups() Session {
	s := Session{ID: "nested-groups", Events: []Event{asks("go")}}
	for _, line := range []string{"Final.Seq1 Reducer1 ABC Alice Bob Charlie", "Final.Seq2 Reducer2 DEF David Eve Frank"} {
		words := strings.Fields(line)
		for _, name := range words[3:] {
			s.Events = append(s.Events, says(name, words[0]+"."+words[2]+"."+name))
		}
		s.Events = append(s.Events, says(words[1], words[0]))
	}
	s.Events = append(s.Events, says("Final_Reducer", ""))
	return s
}

// PrefixNames are two agents side by side of which one's name begins with the
// other's: readers that compare branches as texts show agent_10 what agent_1 said.
func PrefixNames() Session {
	return Session{ID: "prefix-names", Events: []Event{
		asks("go"), says("agent_1", "par.agent_1"), says("agent_10", "par.agent_10"),
	}}
}

func asks(text string) Event { return Event{Author: "user", Parts: []Part{Text(text)}} }

func says(name, branch string) Event {
	return Event{Author: name, Branch: branch, Parts: []Part{Text(name + " says")}}
}

func calls(author string, parts ...Part) Event { return Event{Author: author, Parts: parts} }

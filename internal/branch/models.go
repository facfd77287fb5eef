package branch

// Named is a model and the name that flags, stores and machine formats call it by.
type Named struct {
	Name  string
	Model Model
}

// Models are all there are.
var Models = []Named{
	{"path", Path{}},
	{"raw-prefix", RawPrefix{}},
	{"tokens", Tokens{}},
	{"forks", Forks{}},
	{"session", Session{}},
}

// Find gives the model of a name, nil where no model is called so.
func Find(name string) Model {
	for _, m := range Models {
		if m.Name == name {
			return m.Model
		}
	}
	return nil
}

// judge asks a rule about branches, unless something hides the event under every
// rule: the store's reader passes it over, it is of another scope ("" is a scope,
// too), or it is for another node (adk-go and adk-python since 2.0).
func judge(viewer Viewer, event Event, sees func(Viewer, Event) (bool, Reason)) (bool, Reason) {
	switch {
	case event.Kept != None:
		return false, event.Kept
	case event.Scope != viewer.Scope, event.Node != "" && event.Node != viewer.Node:
		return false, OutOfScope
	}
	return sees(viewer, event)
}

// Session is the rule of runtimes that isolate agents by sessions, as docker agent
// does: an agent sees its own session, and of its children's the calls and results
// that stand in its own.
type Session struct{}

// Visible reports OwnSession or OtherSession. Scopes and nodes are no matter of
// such runtimes.
func (Session) Visible(viewer Viewer, event Event) (bool, Reason) {
	event.Scope, event.Node = viewer.Scope, ""
	return judge(viewer, event, func(viewer Viewer, event Event) (bool, Reason) {
		if event.Session == viewer.Session {
			return true, OwnSession
		}
		return false, OtherSession
	})
}

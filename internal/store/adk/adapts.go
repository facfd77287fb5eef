package adk

// Adaptations are what ADK sees to when it builds a request, in every release of a
// family that can read such a store, by the rule that would report it (3.5; adk-python
// 0.1.0 to 1.4.2 contents.py, adk-go v0.1.0 to v2.2.0 contents_processor.go). That each
// result goes behind its call is a fact of its own: session.Store.GathersResults. Not
// among them: calls without a result, which adk-go sends, and results without a call,
// which fail as the last event.
var Adaptations = map[string]string{
	"SC109": "sends the results of one turn in one message",
	// base_llm.py and google_llm.py of adk-python since 0.1.0, model/gemini of adk-go
	// since v0.1.0.
	"SC306 next":   "sends the user's text as a message of its own",
	"SC303 gemini": "adds a message of the user to a request that would end with an answer",
}

// Package adktest builds the databases that Google ADK's session services write,
// of all generations that are known, from one description.
//
// A Session is described as data: scripts.go and its neighbours have the ones that
// people meet, and Random makes agent trees of any shape together with what each
// agent was to see. Create writes sessions as one generation stores them. Nothing
// here reads the clock or the system's randomness: the same calls give the same
// database.
//
// The facts are those of docs/stores/adk.md: adk-python to 2.x, adk-go 1.5 and 2.2.
package adktest

// Package agenttest builds docker agent databases the way docker agent itself
// would have written them: for tests, for the demo and for the benchmark.
//
// There are four ways to get a database. Create with the methods of Session
// writes single items. A Program describes what agents do, and WriteLeaky and
// WriteFixed record the same program as two generations of the runtime would
// have; what they wrote tells the events that the runtime emitted meanwhile.
// Damage breaks one thing in a database that is whole. Big writes the
// database that the benchmark measures.
//
// Nothing here reads the clock or the system's randomness: the same calls give
// the same database.
package agenttest

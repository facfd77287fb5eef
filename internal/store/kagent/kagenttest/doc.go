// Package kagenttest builds databases as kagent's controller and its agents' runtimes
// write them, for tests.
//
// A Program says who asks whom for what: conversations of agents that call tools and
// other agents, in batches. Build plays it and writes the rows that come of it, of
// concurrent runs in the order of their times, in one of the Forms that are known;
// Written is the truth about it, to compare with. The scripts are the cases of
// kagent's issues; Random draws a program. Nothing here reads the clock or the
// system's randomness: the same calls give the same database.
//
// What the tables and documents look like is said in docs/stores/kagent.md. The names
// in events are those of adk-python's pydantic models and of the Go types of adk-go
// 1.4.0 and 2.2.0.
package kagenttest

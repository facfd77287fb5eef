// Package springtest builds databases as Spring AI Session writes them, in SQLite
// files that were made from the columns of its scripts: for tests.
//
// Append and Compact do what the library's repository does, in the order in which
// it does it. A Script is a list of such steps with a name; Random draws one.
// Nothing here reads the clock or the system's randomness.
package springtest

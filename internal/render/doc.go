// Package render prints results: as text for people, as tables, and in the
// machine formats. It decides nothing; what it is given is what it shows.
package render

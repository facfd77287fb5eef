// Package render is what the printers of all commands share: what they are given, and the
// words for stores, sessions and findings. The short lists (ls, stores, config, explain) it
// prints itself. It decides nothing; what it is given is what it shows.
package render

import (
	"strings"

	"github.com/sessctl/sessctl/internal/document"
)

// Tool is the program, as machine formats name it.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Build is the program with how it was built.
type Build struct {
	Tool
	Commit   string `json:"commit,omitzero"`
	Date     string `json:"date,omitzero"`
	Go       string `json:"go,omitzero"`
	Platform string `json:"platform,omitzero"`
}

// String is one line for people.
func (b Build) String() string {
	var facts []string
	if b.Commit != "" {
		facts = append(facts, "commit "+b.Commit)
	}
	for _, fact := range []string{b.Date, b.Go, b.Platform} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	return b.Name + " " + b.Version + " (" + strings.Join(facts, ", ") + ")"
}

// Command is a command to type, with the reason.
type Command = document.Command

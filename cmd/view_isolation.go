package cmd

import (
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/view"
)

// aboutAgents are the groups of rules about sessions and their children.
var aboutAgents = []string{"SC7", "SC8"}

// onlyBorders refuses what does not go with `view --isolation`.
func (p *program) onlyBorders(question *view.Question) error {
	c := p.config
	switch {
	case question != nil:
		return problem.New(problem.Usage, "Leave one of them out.", "--isolation shows what passed between sessions, and --branch, --agent, --all, --diff and --tokens who sees what")
	case c.ModelInput && c.Sources["model-input"] == "--model-input":
		return problem.New(problem.Usage, "Leave one of them out.", "--isolation shows what passed between sessions, and --model-input a request")
	}
	c.ModelInput = false
	return nil
}

package ui

import (
	"charm.land/lipgloss/v2"
)

// The styles. They use the sixteen colours that every terminal lets its user
// choose, so none of them depends on the background. Render always emits
// escape sequences: print the result to a Screen, which takes them out where
// colour is off.
var (
	Bold   = lipgloss.NewStyle().Bold(true)
	Dim    = lipgloss.NewStyle().Faint(true)
	Red    = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	Yellow = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Yellow)
	Blue   = lipgloss.NewStyle().Foreground(lipgloss.Blue)
	Green  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	Cyan   = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
)

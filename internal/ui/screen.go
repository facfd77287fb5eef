// Package ui is what sessctl knows about people: whether a stream is a
// terminal, how wide it is, whether colour is wanted, and how text that came
// out of a store is made safe to print.
package ui

import (
	"io"
	"os"
	"strconv"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"
)

// Screen is an output stream with what was decided about it. Styles reach the
// stream only when Color is set: Write takes them out otherwise.
type Screen struct {
	Terminal bool
	Dumb     bool // a terminal that cannot move its cursor
	Color    bool
	Width    int // columns, at least minWidth

	styled *colorprofile.Writer
	plain  io.Writer
}

const (
	minWidth     = 40
	defaultWidth = 80
	widestText   = 100 // longer lines are hard to read
)

// NewScreen decides about a stream. getenv is os.Getenv or a stand-in.
func NewScreen(w io.Writer, mode ColorMode, getenv func(string) string) *Screen {
	file, _ := w.(*os.File)
	s := &Screen{
		Terminal: file != nil && term.IsTerminal(int(file.Fd())),
		Dumb:     getenv("TERM") == "dumb",
		Width:    widthOf(file, getenv("COLUMNS")),
		plain:    w,
	}
	s.Color = wantsColor(mode, s.Terminal, getenv)
	s.styled = &colorprofile.Writer{Forward: w, Profile: colorprofile.NoTTY}
	if s.Color {
		s.styled.Profile = colorprofile.ANSI
	}
	if file != nil {
		lipgloss.EnableLegacyWindowsANSI(file) // the progress line needs it without colour, too
	}
	return s
}

// Write prints text for people.
func (s *Screen) Write(p []byte) (int, error) { return s.styled.Write(p) }

// Plain is the stream itself, for machine formats.
func (s *Screen) Plain() io.Writer { return s.plain }

// TextWidth is the column at which running text is wrapped.
func (s *Screen) TextWidth() int { return min(s.Width, widestText) }

// widthOf is COLUMNS, else the terminal's own width, else 80.
func widthOf(file *os.File, columns string) int {
	if n, err := strconv.Atoi(columns); err == nil && n > 0 {
		return max(n, minWidth)
	}
	if file != nil {
		if n, _, err := term.GetSize(int(file.Fd())); err == nil && n > 0 {
			return max(n, minWidth)
		}
	}
	return defaultWidth
}

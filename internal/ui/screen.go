// Package ui is what sessctl knows about people: whether a stream is a
// terminal, how wide it is, whether colour is wanted, and how text that came
// out of a store is made safe to print.
package ui

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

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
func (s *Screen) Write(p []byte) (int, error) {
	if !s.Color && bytes.IndexByte(p, '\x1b') < 0 && bytes.IndexByte(p, '\x7f') < 0 && utf8.Valid(p) {
		return s.styled.Forward.Write(p) // nothing is to be taken out
	}
	return s.styled.Write(p)
}

// Plain is the stream itself, for machine formats.
func (s *Screen) Plain() io.Writer { return s.plain }

// Hold has everything printed into another stream, until back is called, which gives that
// stream's place back and what is held to it.
func (s *Screen) Hold(to io.ReadWriter) (back func() error) {
	styled, plain := s.styled.Forward, s.plain
	s.styled.Forward, s.plain = to, to
	return func() error {
		s.styled.Forward, s.plain = styled, plain
		_, err := io.Copy(styled, to)
		return err
	}
}

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

// ColorMode is what --color says.
type ColorMode string

// The modes.
const (
	ColorAuto   ColorMode = "auto"
	ColorAlways ColorMode = "always"
	ColorNever  ColorMode = "never"
)

// wantsColor decides by the mode, then NO_COLOR (any value but the empty one),
// CLICOLOR_FORCE (any value but "0"), TERM=dumb, and at last by whether the
// stream is a terminal. The library's own decision is not used: it reads
// NO_COLOR as a boolean.
func wantsColor(mode ColorMode, terminal bool, getenv func(string) string) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case mode == ColorAlways:
		return true
	case mode == ColorNever, getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case getenv("TERM") == "dumb":
		return false
	}
	return terminal
}

// Progress is a counter of bytes on one line of a terminal. It appears when the
// work takes longer than 300 ms and vanishes at the end. Its methods may be
// called from several goroutines, and do nothing off a terminal.
type Progress struct {
	w     io.Writer // nil off a terminal
	width int
	what  string
	total int64
	now   func() time.Time

	mu     sync.Mutex
	next   time.Time // not painted before
	shown  bool
	closed bool
}

const (
	patience = 300 * time.Millisecond // before the first line
	pace     = 100 * time.Millisecond // between two

	clearLine = "\r\x1b[K"
)

// StartProgress starts a counter on this screen: what is "reading session.db", total
// its size in bytes, 0 when unknown.
func (s *Screen) StartProgress(what string, total int64) *Progress {
	p := &Progress{width: s.Width, what: what, total: total, now: time.Now}
	if s.Terminal && !s.Dumb {
		p.w = s.plain
	}
	p.next = p.now().Add(patience)
	return p
}

// Set says how many bytes are done.
func (p *Progress) Set(n int64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.closed || now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(pace), true
	_, _ = io.WriteString(p.w, clearLine+Truncate(p.what+": "+p.amountDone(n), p.width-1))
}

func (p *Progress) amountDone(n int64) string {
	if p.total <= 0 {
		return Bytes(n)
	}
	n = min(n, p.total)
	return fmt.Sprintf("%s of %s (%d %%)", Bytes(n), Bytes(p.total), n*100/p.total)
}

// Clear removes the line.
func (p *Progress) Clear() {
	p.Hide()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// Hide removes the line for a while, so that something else can be printed.
func (p *Progress) Hide() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next = p.now().Add(patience); p.shown {
		_, _ = io.WriteString(p.w, clearLine)
	}
	p.shown = false
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// AskYesNo puts a question that is answered with yes or no; anything but yes is no,
// and so is the end of the input. The error is that of a read which failed.
func AskYesNo(in io.Reader, out io.Writer, question string) (bool, error) {
	_, _ = fmt.Fprint(out, question+" [y/N] ")
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		_, _ = fmt.Fprintln(out) // the cursor still stands behind the question
	}
	switch {
	case err == io.EOF:
		return false, nil
	case err != nil:
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// AskPassword asks for what must not be seen, at a terminal that shows nothing until the line
// ends or the context does.
func AskPassword(ctx context.Context, terminal *os.File, out io.Writer, question string) (string, error) {
	type answer struct {
		word []byte
		err  error
	}
	fd, answers := int(terminal.Fd()), make(chan answer, 1)
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprint(out, question+": ")
	defer func() { _, _ = fmt.Fprintln(out) }()
	go func() {
		word, err := term.ReadPassword(fd)
		answers <- answer{word, err}
	}()
	select {
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	case a := <-answers:
		return string(a.word), a.err
	}
}

package ui

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"

	"charm.land/lipgloss/v2"
	"golang.org/x/term"
)

// Pager holds back what is printed until everything is there, and shows it in a pager
// if it is longer than the screen. So quitting the pager changes nothing: the work is
// done when it starts.
type Pager struct {
	screen *os.File
	width  int
	held   bytes.Buffer
}

// StartPager holds back what is printed here, and on the other screen where that is a
// terminal, too, so that the order stays. nil where there is no pager: off a terminal,
// at one that cannot be scrolled, in CI, or where the user wants none.
func (s *Screen) StartPager(other *Screen, stdin any, getenv func(string) string) *Pager {
	screen, _ := s.plain.(*os.File)
	if !s.Terminal || s.Dumb || !IsTerminal(stdin) || getenv("TERM") == "" || getenv("CI") != "" || runtime.GOOS == "windows" || pagerLine() == "" {
		return nil
	}
	p := &Pager{screen: screen, width: s.Width}
	s.styled.Forward = &p.held
	if other.Terminal {
		other.styled.Forward = &p.held
	}
	return p
}

// pagerLine is the command that git would take, with a variable of sessctl's own in front.
// An empty variable, or cat, says that there is none.
func pagerLine() string {
	line, set := os.LookupEnv("SESSCTL_PAGER")
	if !set {
		line, set = os.LookupEnv("PAGER")
	}
	switch {
	case !set:
		return "less"
	case line == "cat":
		return ""
	}
	return line
}

// Show prints what was held back. In an interrupted run it is short of something, and
// nobody wants to read on.
func (p *Pager) Show(interrupted bool) error {
	if p == nil {
		return nil
	}
	if !interrupted && p.countRows() >= p.screenHeight() && p.runPager() {
		return nil
	}
	_, err := p.screen.Write(p.held.Bytes())
	return err
}

// countRows counts the lines of the screen that the text fills.
func (p *Pager) countRows() (rows int) {
	for line := range strings.Lines(p.held.String()) {
		rows += 1 + max(lipgloss.Width(strings.TrimSuffix(line, "\n"))-1, 0)/p.width
	}
	return rows
}

func (p *Pager) screenHeight() int {
	const usual = 24
	_, height, _ := term.GetSize(int(p.screen.Fd()))
	return cmp.Or(height, usual)
}

// runPager shows the text in the pager, and reports whether there was one. As in git, a
// command that a shell has to read is read by one, less gets options if it has none, and
// an interruption is the pager's: less stops what it does, and stays.
func (p *Pager) runPager() bool {
	line := pagerLine()
	c := exec.Command(line)
	if strings.ContainsAny(line, "|&;<>()$`\\\"' \t\n*?[#~=%") {
		c = exec.Command("sh", "-c", line)
	}
	c.Stdin, c.Stdout, c.Stderr, c.Env = bytes.NewReader(p.held.Bytes()), p.screen, p.screen, os.Environ()
	for name, options := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := os.LookupEnv(name); !set {
			c.Env = append(c.Env, name+"="+options)
		}
	}
	interrupts := make(chan os.Signal, 1) // ignored by this process, but not by the pager
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	_ = c.Run()
	const notRun, notFound = 126, 127 // as a shell says it
	return c.ProcessState != nil && c.ProcessState.ExitCode() != notRun && c.ProcessState.ExitCode() != notFound
}

// Package browsetest is somebody at the browser, for tests: keys in, frames out, without a terminal.
package browsetest

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// User is somebody at a browser. What the browser asks for is done at once, unless User holds it.
type User struct {
	Model tea.Model
	Left  bool // the browser is over
	Holds bool // what is asked for waits for DoHeld
	held  []tea.Cmd
}

// Start is a user at a screen of this size, when all that a browser begins with is done.
func Start(m tea.Model, width, height int) *User {
	u := &User{Model: m}
	u.Tell(tea.WindowSizeMsg{Width: width, Height: height})
	u.Do(m.Init())
	return u
}

// Tell gives the browser a message.
func (u *User) Tell(msg tea.Msg) {
	var cmd tea.Cmd
	u.Model, cmd = u.Model.Update(msg)
	u.Do(cmd)
}

// Do does what the browser asks for.
func (u *User) Do(cmd tea.Cmd) {
	switch {
	case cmd == nil:
	case u.Holds:
		u.held = append(u.held, cmd)
	default:
		u.obey(cmd)
	}
}

// DoHeld does the first thing that was held, and reports whether there was one.
func (u *User) DoHeld() bool {
	if len(u.held) == 0 {
		return false
	}
	cmd := u.held[0]
	u.held = u.held[1:]
	u.obey(cmd)
	return true
}

func (u *User) obey(cmd tea.Cmd) {
	switch msg := cmd().(type) {
	case nil:
	case tea.QuitMsg:
		u.Left = true
	case tea.BatchMsg:
		for _, c := range msg {
			u.Do(c)
		}
	default:
		u.Tell(msg)
	}
}

// Type presses keys: "enter", "shift+tab", "ctrl+c", else letters.
func (u *User) Type(keys ...string) {
	for _, key := range keys {
		u.Tell(keyNamed(key))
	}
}

// Frame is the screen as text.
func (u *User) Frame() string { return ansi.Strip(u.Model.View().Content) }

func keyNamed(name string) tea.KeyPressMsg {
	switch name {
	case "space":
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	case "shift+tab":
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	case "ctrl+c":
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}
	code, is := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "right": tea.KeyRight, "left": tea.KeyLeft,
		"backspace": tea.KeyBackspace, "end": tea.KeyEnd, "pgdown": tea.KeyPgDown,
	}[name]
	if is {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

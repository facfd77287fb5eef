package ui

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

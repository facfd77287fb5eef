package config

import (
	"cmp"
	"runtime"
)

// Home is the folder of the user, "" where the environment names none. It is the one
// that Go's os.UserHomeDir gives, and so a runtime that is written in Go: on Windows
// USERPROFILE comes first, because shells that were ported set a HOME of their own.
func Home(getenv func(string) string) string { return homeOn(runtime.GOOS, getenv) }

func homeOn(system string, getenv func(string) string) string {
	if system == "windows" {
		return cmp.Or(getenv("USERPROFILE"), getenv("HOME"))
	}
	return getenv("HOME")
}

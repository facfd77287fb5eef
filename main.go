// Command sessctl checks the persisted sessions of AI agents.
package main

import (
	"os"
	"runtime/debug"

	"github.com/sessctl/sessctl/cmd"
)

func main() {
	if os.Getenv("GOGC") == "" {
		// Most of the heap is outlines without pointers, which cost the
		// collector nothing: a smaller heap is free.
		debug.SetGCPercent(50)
	}
	os.Exit(cmd.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

package render

import (
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/ui"
)

// CheckWriter prints the results of a check, store by store.
type CheckWriter interface {
	Store(result *check.Result, took time.Duration) error
	// Close prints what concerns all stores: the exit code, and what to type next.
	Close(exitCode int, next []Command) error
}

// CheckOptions say how a check is printed.
type CheckOptions struct {
	Screen      *ui.Screen
	Tool        Tool
	Home        string // the folder that ~ stands for
	Quiet       bool   // findings only
	MaxFindings int    // of one rule and store, in text and table; 0 for no limit
	Limited     bool   // not every session of the store was checked
}

// Check makes the writer of a format: text, table, json or ndjson.
func Check(format string, opts CheckOptions) CheckWriter {
	switch format {
	case "json":
		return &checkJSON{CheckOptions: opts}
	case "ndjson":
		return &checkLines{checkJSON{CheckOptions: opts}}
	case "table":
		return &checkText{CheckOptions: opts, body: findingsTable}
	}
	return &checkText{CheckOptions: opts, body: findingsText}
}

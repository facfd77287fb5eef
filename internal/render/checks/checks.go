// Package checks prints a check for people, and lists the formats that a check has.
package checks

import (
	"errors"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/ci"
	"github.com/sessctl/sessctl/internal/render/machine"
)

// Format is a format of a check.
type Format struct {
	Name  string
	Roots bool // it names every session, also those without findings: see check.Options.Roots
	New   func(render.CheckOptions) render.CheckWriter
}

// Formats are all of them; the first is for people at a terminal.
var Formats = []Format{
	{Name: "text", New: newCheckText},
	{Name: "json", New: machine.NewCheck},
	{Name: "ndjson", New: machine.CheckLines},
	{Name: "sarif", New: ci.SARIF},
	{Name: "junit", Roots: true, New: ci.JUnit},
	{Name: "github", New: ci.GitHub},
	{Name: "markdown", New: ci.NewPage("markdown")},
	{Name: "html", New: ci.HTML},
}

// FindFormat finds the format with a name, nil where there is none.
func FindFormat(name string) *Format {
	for i := range Formats {
		if Formats[i].Name == name {
			return &Formats[i]
		}
	}
	return nil
}

// FormatNames formats the names of all formats of a check.
func FormatNames() []string {
	return lists.MapEach(Formats, func(f Format) string { return f.Name })
}

// Writers print the same results in several formats.
type Writers []render.CheckWriter

// Store implements CheckWriter.
func (all Writers) Store(result *check.Result, took time.Duration) error {
	var failed error
	for _, w := range all {
		failed = errors.Join(failed, w.Store(result, took))
	}
	return failed
}

// Unread implements CheckWriter.
func (all Writers) Unread(u render.Unread) {
	for _, w := range all {
		w.Unread(u)
	}
}

// Close implements CheckWriter.
func (all Writers) Close(end render.Ending) error {
	var failed error
	for _, w := range all {
		failed = errors.Join(failed, w.Close(end))
	}
	return failed
}

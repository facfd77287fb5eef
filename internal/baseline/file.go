// Package baseline keeps the findings that a team knows of in a file, and tells
// which findings of a later run stand in it and which of its entries are gone.
package baseline

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/check"
)

// Schema names the form of the file.
const Schema = "sessctl.baseline/1"

// File is a baseline. Its keys stand in docs/json.md; a test compares them.
type File struct {
	Schema   string  `json:"schema"`
	Tool     Tool    `json:"tool"`
	Findings []Entry `json:"findings"`
}

// Tool is the program that wrote a file.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Entry is a finding that is known. It is compared by fingerprint, severity, items
// and store; the rest is for people and for what is gone.
type Entry struct {
	Fingerprint string `json:"fingerprint"`
	Rule        string `json:"rule"`
	Severity    string `json:"severity"`
	Store       string `json:"store"`            // as it was named, with slashes
	Root        string `json:"root,omitzero"`    // "" when it is the store's own
	Session     string `json:"session,omitzero"` // likewise
	Items       int    `json:"items"`            // how many it names
	Message     string `json:"message"`
}

// New makes a baseline of all findings of a run. The same findings make the same
// file, in whatever order they come.
func New(tool Tool, results []*check.Result) *File {
	file := &File{Schema: Schema, Tool: tool, Findings: []Entry{}}
	for _, r := range results {
		for _, f := range r.Findings {
			file.Findings = append(file.Findings, entry(r.Store.Path, f))
		}
	}
	slices.SortFunc(file.Findings, compare)
	return file
}

func entry(store string, f *check.Finding) Entry {
	e := Entry{
		Fingerprint: f.Fingerprint, Rule: f.Rule.ID, Severity: f.Severity.String(),
		Store: filepath.ToSlash(store), Session: f.Session, Items: len(f.Items), Message: f.Message,
	}
	if f.Root != nil {
		e.Root = f.Root.ID
	}
	return e
}

// compare orders entries so that a change of one session stays in one place of a
// diff. Every key counts, so that the order never depends on that of the findings.
func compare(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Store, b.Store), cmp.Compare(a.Root, b.Root),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Fingerprint, b.Fingerprint),
		cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Session, b.Session),
		cmp.Compare(a.Items, b.Items), cmp.Compare(a.Message, b.Message))
}

// Write writes the file with one finding a line, so that it reviews well.
func (f *File) Write(w io.Writer) error {
	tolerant := jsontext.AllowInvalidUTF8(true) // as in reports: it becomes U+FFFD
	tool, err := json.Marshal(f.Tool, tolerant)
	if err != nil {
		return err
	}
	out := bytes.NewBufferString("{\n  \"schema\": \"" + f.Schema + "\",\n  \"tool\": " + string(tool) + ",\n  \"findings\": [")
	for i, e := range f.Findings {
		line, err := json.Marshal(e, tolerant)
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(line)
	}
	if len(f.Findings) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("]\n}\n")
	_, err = w.Write(out.Bytes())
	return err
}

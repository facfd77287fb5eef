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
	Schema   string   `json:"schema"`
	Tool     Tool     `json:"tool"`
	Stores   []string `json:"stores"` // that were checked, those without findings too; as they were named, with slashes
	Findings []Entry  `json:"findings"`
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
	Store       string `json:"store"`            // one of the stores
	Root        string `json:"root,omitzero"`    // "" when it is the store's own
	Session     string `json:"session,omitzero"` // likewise
	Items       int    `json:"items"`            // how many it is about: see check.Extent
	Message     string `json:"message"`
}

// New makes a baseline of all findings of a run. The same findings make the same
// file, in whatever order they come.
func New(tool Tool, results []*check.Result) *File {
	file := &File{Schema: Schema, Tool: tool, Stores: []string{}, Findings: []Entry{}}
	for _, r := range results {
		file.Stores = append(file.Stores, filepath.ToSlash(r.Store.Path))
		for _, f := range r.Findings {
			file.Findings = append(file.Findings, entry(r.Store.Path, f))
		}
	}
	slices.Sort(file.Stores)
	slices.SortFunc(file.Findings, compare)
	return file
}

func entry(store string, f *check.Finding) Entry {
	e := Entry{
		Fingerprint: f.Fingerprint, Rule: f.Rule.ID, Severity: f.Severity.String(),
		Store: filepath.ToSlash(store), Session: f.Session, Items: f.Extent().Items, Message: f.Reported(),
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

// Write writes the file with one store and one finding a line, so that it reviews well.
func (f *File) Write(w io.Writer) error {
	tool, err := encoded(f.Tool)
	if err != nil {
		return err
	}
	out := bytes.NewBufferString("{\n  \"schema\": \"" + f.Schema + "\",\n  \"tool\": " + tool)
	if err := cmp.Or(writeList(out, "stores", f.Stores), writeList(out, "findings", f.Findings)); err != nil {
		return err
	}
	out.WriteString("\n}\n")
	_, err = w.Write(out.Bytes())
	return err
}

// writeList writes a list behind another key, with one value a line.
func writeList[T any](out *bytes.Buffer, key string, list []T) error {
	out.WriteString(",\n  \"" + key + "\": [")
	for i, value := range list {
		line, err := encoded(value)
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    " + line)
	}
	if len(list) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteByte(']')
	return nil
}

// encoded is a value as JSON. What is no UTF-8 becomes U+FFFD, as in reports.
func encoded(value any) (string, error) {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	return string(text), err
}

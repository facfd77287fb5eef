// Package baseline keeps the findings that a team knows of in a file, and tells
// which findings of a later run stand in it and which of its entries are gone.
package baseline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
)

// Schema names the form of the file.
const Schema = "sessctl.baseline/1"

// File is a baseline: docs/schema/baseline.json is made of it.
type File struct {
	Schema   string   `json:"schema"`
	Tool     Tool     `json:"tool"`
	Stores   []string `json:"stores"` // paths of all stores that were checked, as they were named, with slashes on every system
	Findings []Entry  `json:"findings"`
}

// Tool is the program that wrote a file.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"` // the version that wrote it
}

// Entry is a finding that is known. It is compared by fingerprint, severity, items
// and store; the rest is for people and for what is gone.
type Entry struct {
	Fingerprint string `json:"fingerprint"` // as of a finding of check
	Rule        string `json:"rule"`
	Severity    string `json:"severity"`
	Store       string `json:"store"`         // one of `stores`
	Root        string `json:"root,omitzero"` // left out, like `session`, when the finding is about the whole store
	Session     string `json:"session,omitzero"`
	Items       int    `json:"items"` // how many items, or whatever it counts, it is about
	Message     string `json:"message"`
}

// New makes a baseline of all findings of a run. The same findings make the same
// file, in whatever order they come.
func New(tool Tool, results []*check.Result) *File {
	file := &File{Schema: Schema, Tool: tool, Stores: []string{}, Findings: []Entry{}}
	for _, r := range results {
		file.Stores = append(file.Stores, filepath.ToSlash(r.Store.Path))
		for _, f := range r.Findings {
			file.Findings = append(file.Findings, newEntry(r.Store.Path, f))
		}
	}
	slices.Sort(file.Stores)
	slices.SortFunc(file.Findings, compareEntries)
	return file
}

func newEntry(store string, f *check.Finding) Entry {
	e := Entry{
		Fingerprint: f.Fingerprint, Rule: f.Rule.ID, Severity: f.Severity.String(),
		Store: filepath.ToSlash(store), Session: f.Session, Items: f.Extent().Items, Message: f.ReportedMessage(),
	}
	if f.Root != nil {
		e.Root = f.Root.ID
	}
	return e
}

// compareEntries orders entries so that a change of one session stays in one place of a
// diff. Every key counts, so that the order never depends on that of the findings.
func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Store, b.Store), cmp.Compare(a.Root, b.Root),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Fingerprint, b.Fingerprint),
		cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Session, b.Session),
		cmp.Compare(a.Items, b.Items), cmp.Compare(a.Message, b.Message))
}

// Write writes the file with one store and one finding a line, so that it reviews well.
func (f *File) Write(w io.Writer) error {
	tool, err := encodeJSON(f.Tool)
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
		line, err := encodeJSON(value)
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

// encodeJSON encodes a value as JSON. What is no UTF-8 becomes U+FFFD, as in reports.
func encodeJSON(value any) (string, error) {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	return string(text), err
}

// largest bounds the memory that a baseline takes, in bytes: an entry has about 250.
const largest = 1 << 30

// Read reads a baseline. Its errors are usage problems that name the file.
func Read(path string) (*File, error) {
	data, err := atomicfile.ReadRegular(path, largest)
	if err != nil {
		return nil, unreadableError(path, err)
	}
	file, err := Decode(data)
	if wrong, ok := errors.AsType[*wrongFile](err); ok {
		return nil, problem.New(problem.Usage, wrong.next, "%s cannot be used as a baseline: %s", path, wrong.why)
	}
	return file, err
}

func unreadableError(path string, err error) error {
	const next = "To write one: `sessctl check --write-baseline FILE`."
	if errors.Is(err, fs.ErrNotExist) {
		return problem.New(problem.Usage, next, "there is no baseline file %s", path)
	}
	return problem.New(problem.Usage, next, "the baseline %s cannot be read: %s", path, problem.Reason(err))
}

// wrongFile is an error about the contents of a file.
type wrongFile struct{ why, next string }

func (e *wrongFile) Error() string { return e.why }

func newWrongFile(next, format string, args ...any) error {
	return &wrongFile{fmt.Sprintf(format, args...), next}
}

// anew is what to do about a file that makes no sense.
const anew = "Name another file, or move this one and write a new one with `sessctl check --write-baseline FILE`."

// Decode reads the contents of a file. Keys that it does not know are passed over.
func Decode(data []byte) (*File, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, newWrongFile(anew, "it is empty")
	}
	tolerant := jsontext.AllowInvalidUTF8(true)
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head, tolerant); err != nil {
		return nil, noJSON(data, err)
	}
	if err := checkSchema(head.Schema); err != nil {
		return nil, err
	}
	file := &File{}
	if err := json.Unmarshal(data, file, tolerant); err != nil {
		return nil, noJSON(data, err)
	}
	for i, e := range file.Findings {
		if e.Fingerprint == "" {
			return nil, newWrongFile(anew, "entry %d has no fingerprint", i+1)
		}
		if _, known := rules.ParseSeverity(e.Severity); !known {
			return nil, newWrongFile(anew, "entry %d has the severity %q; the severities are error, warning and info", i+1, e.Severity)
		}
	}
	return file, nil
}

// checkSchema tells files of later versions from files that are something else.
func checkSchema(schema string) error {
	name, version, _ := strings.Cut(Schema, "/")
	switch given, number, _ := strings.Cut(schema, "/"); {
	case schema == Schema:
		return nil
	case schema == "":
		return newWrongFile(anew, "it has no schema")
	case given != name:
		return newWrongFile(anew, "its schema is %q, not %q", schema, Schema)
	case isLater(number, version):
		return newWrongFile("Use that version, or write a new baseline with this one into another file.", "a later version of sessctl wrote it, in the form %q", schema)
	}
	return newWrongFile(anew, "there is no version %q of it", schema)
}

func isLater(a, b string) bool {
	first, err1 := strconv.Atoi(a)
	second, err2 := strconv.Atoi(b)
	return err1 == nil && err2 == nil && first > second
}

// noJSON says where a file stops to make sense.
func noJSON(data []byte, err error) error {
	at := int64(0)
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = syntax.ByteOffset
	} else if meaning, ok := errors.AsType[*json.SemanticError](err); ok {
		line := lineOf(data, meaning.ByteOffset)
		return newWrongFile(anew, "line %d is not of the form %s", line, Schema)
	}
	return newWrongFile(anew, "line %d is not valid JSON", lineOf(data, at))
}

// lineOf is the number of the line in which a byte is, from 1.
func lineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Claude's Agent SDK keeps transcripts in a database, too: a row for each line, in a table that
// the program names. To resume a session, the SDK writes its rows into files in the layout
// of Claude Code (claude-agent-sdk-python e8bde60, examples/session_stores/postgres_session_store.py
// and _internal/session_resume.py), and so they are read here.

// mirrorColumns are the columns of such a table, the key of a file first.
var mirrorColumns = []string{"project_key", "session_id", "subpath", "seq", "entry", "mtime"}

// findMirror finds such a table, "" for none.
func findMirror(s table.Schema) string {
	for _, name := range s.Names() {
		if s.HasColumns(name, mirrorColumns...) {
			return name
		}
	}
	return ""
}

// detectMirror looks for such a table in a database.
func detectMirror(ctx context.Context, db table.Reader) store.Detection {
	schema, err := db.Schema(ctx)
	if err != nil || findMirror(schema) == "" {
		return store.Detection{}
	}
	return store.Detection{Sure: store.Certain, Why: "the table " + findMirror(schema) + " in the form of the session store of Claude's Agent SDK"}
}

// openMirror opens the transcripts of a table, which it writes into a private folder.
func openMirror(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	schema, err := src.DB.Schema(ctx)
	if err != nil {
		return nil, src.DB.Explain(err)
	}
	m := &mirror{}
	if m.folder, err = os.MkdirTemp("", "sessctl-"); err != nil {
		return nil, problem.New(problem.Unreadable, "Set TMPDIR to a folder with room for the transcripts.", "no folder could be made for the transcripts of %s: %s", src.Path, problem.Reason(err))
	}
	if m.root, err = os.OpenRoot(m.folder); err == nil {
		err = m.writeTranscripts(ctx, src.DB, findMirror(schema))
	}
	var opened store.Store
	if err == nil {
		opened, err = openTranscripts(ctx, &store.Source{Path: src.Path, Folder: m.root, Bytes: src.Bytes}, opts)
	}
	c, ok := opened.(*claude)
	if !ok {
		return nil, errors.Join(src.DB.Explain(err), m.remove())
	}
	c.removeCopy = m.remove
	c.facts.ReadOnly = "the table is a copy that the Agent SDK appends to; sessctl repairs transcripts in files"
	c.facts.Faults = append(c.facts.Faults, m.lost...)
	if len(m.strange) > 0 {
		c.facts.Incomplete = fmt.Sprintf("keys of its table that are no names of files, or not beside the others, were not read (%d): the first is %.80q", len(m.strange), m.strange[0])
	}
	return c, nil
}

// mirror writes the rows of a table into files.
type mirror struct {
	folder  string
	root    *os.Root
	lost    []session.Fault
	strange []string // keys that would lead out of the folder, or that no file can be called
}

func (m *mirror) remove() error {
	if m.root != nil {
		_ = m.root.Close()
	}
	return os.RemoveAll(m.folder)
}

// mirrored is where the line of a row is in the spool, and where it belongs.
type mirrored struct {
	file          string
	seq, at, size int64
	written       int64 // in milliseconds since 1970
}

// writeTranscripts writes all rows, those of each file in the order of their numbers.
func (m *mirror) writeTranscripts(ctx context.Context, db table.Reader, name string) error {
	spool, err := m.root.OpenFile("spool", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	var rows []mirrored
	end := int64(0)
	m.lost, err = db.Scan(ctx, table.Selection{Table: name, Columns: mirrorColumns}, func(_ table.Place, row []table.Value) error {
		one := mirrored{file: fileOf(column.Text(row[0]), column.Text(row[1]), column.Text(row[2])), at: end}
		one.seq, _ = row[3].(int64)
		one.written, _ = row[5].(int64)
		line := onOneLine(column.Bytes(row[4]))
		n, err := spool.Write(line)
		one.size = int64(n)
		end += one.size
		rows = append(rows, one)
		return err
	})
	slices.SortStableFunc(rows, func(a, b mirrored) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.seq, b.seq))
	})
	for from := 0; err == nil && from < len(rows); {
		to := from
		for to < len(rows) && rows[to].file == rows[from].file {
			to++
		}
		if err = m.writeFile(spool, rows[from:to]); refusesName(err) {
			m.strange, err = append(m.strange, rows[from].file), nil
		}
		from = to
	}
	return errors.Join(err, spool.Close(), m.root.Remove("spool"))
}

// fileOf is the file of a key: that of a session, or of one of its sub-agents.
func fileOf(project, id, subpath string) string {
	name := path.Join(projects, project, id)
	if subpath != "" {
		name += "/" + subpath
	}
	return name + ending
}

// onOneLine is a JSON text without line breaks, and one at its end.
func onOneLine(text []byte) []byte {
	line := bytes.Clone(text)
	if value := jsontext.Value(line); bytes.ContainsAny(line, "\r\n") && value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) == nil {
		line = value
	}
	return append(line, '\n')
}

// refusesName reports whether an error is about the name of a file: it is too long, has a NUL, or is in a folder
// whose name another file has.
func refusesName(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.ENAMETOOLONG, syscall.EINVAL, syscall.ENOTDIR, syscall.EISDIR, syscall.EEXIST}, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// writeFile writes the lines of one file. What the SDK notes of a sub-agent goes into the file
// beside it in which Claude Code has that.
func (m *mirror) writeFile(spool io.ReaderAt, rows []mirrored) error {
	name := rows[0].file
	if !filepath.IsLocal(name) || path.Clean(name) != name || strings.ContainsRune(name, '\\') {
		m.strange = append(m.strange, name)
		return nil
	}
	if err := m.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := m.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	var written int64
	for _, row := range rows {
		line := make([]byte, row.size)
		if _, err = spool.ReadAt(line, row.at); err != nil {
			break
		}
		written = max(written, row.written)
		if note := agentNote(line); note != nil {
			err = m.root.WriteFile(strings.TrimSuffix(name, ending)+".meta.json", note, 0o600)
		} else {
			_, err = f.Write(line)
		}
		if err != nil {
			break
		}
	}
	if err = errors.Join(err, f.Close()); refusesName(err) { // that of its note
		return errors.Join(err, m.root.Remove(name))
	}
	if at := time.UnixMilli(written); err == nil && written > 0 {
		err = m.root.Chtimes(name, at, at)
	}
	return err
}

// agentNote is a line that notes what a sub-agent is, nil for any other.
func agentNote(line []byte) []byte {
	if !bytes.Contains(line, []byte(`"agent_metadata"`)) {
		return nil
	}
	var l struct {
		Type string `json:"type"`
	}
	if jsonscan.Exact.Unmarshal(line, &l) != nil || l.Type != "agent_metadata" {
		return nil
	}
	return line
}

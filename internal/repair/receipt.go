package repair

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
)

// ReceiptSchema names the form of a receipt.
const ReceiptSchema = "sessctl.receipt/1"

// The states of a receipt and of its batches. A pending batch may or may not
// have been committed: the digests of its sessions tell.
const (
	Pending = "pending"
	Done    = "done"
	Undone  = "undone"
)

// Receipt is what a repair did: enough to take it back, and everything that
// left the store. It is written before the change is committed.
type Receipt struct {
	Schema  string   `json:"schema"`
	State   string   `json:"state"`
	Store   Subject  `json:"store"`
	Backup  string   `json:"backup,omitempty"`
	Ledger  Ledger   `json:"ledger"`
	Batches []*Batch `json:"batches"`

	path    string
	written bool
}

// Batch is what one transaction changed.
type Batch struct {
	State    string          `json:"state"`
	Sessions []Touched       `json:"sessions"`
	Fixes    []Fix           `json:"fixes"`
	Kept     []Kept          `json:"kept,omitempty"`
	Ledger   Ledger          `json:"ledger"`
	Journal  json.RawMessage `json:"journal"` // the adapter's own: see store.Editor
}

// Touched is a session that a batch changed, with the digests of what was
// stored of it before and after. "" means that there was no such session.
type Touched struct {
	ID     string `json:"id"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// touch notes the sessions whose digests differ.
func (b *Batch) touch(before, after map[string]store.Sum) {
	for _, id := range sortedKeys(after) {
		if before[id].Record != after[id].Record {
			b.Sessions = append(b.Sessions, Touched{ID: id, Before: before[id].Record, After: after[id].Record})
		}
	}
}

// Path is where the receipt is.
func (r *Receipt) Path() string { return r.path }

// write puts the receipt on the disk, complete or not at all, for its owner
// only. The first time, the file must not exist.
func (r *Receipt) write() error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	if !r.written {
		if _, err := os.Lstat(r.path); err == nil {
			return problem.New(problem.Usage, "Move it away and try again.", "%s exists already, and nothing is overwritten", r.path)
		}
	}
	if err := atomicfile.Replace(r.path, data, 0o600); err != nil {
		return problem.New(problem.Unreadable, "Nothing was changed. Make room in "+filepath.Dir(r.path)+", or see that you may write there, and try again.",
			"the receipt %s cannot be written: %s", r.path, problem.Reason(err))
	}
	r.written = true
	return nil
}

// encode writes the receipt as JSON, the journals as they are: they can be a
// hundred times as long as the rest, and the store is locked meanwhile. The
// batches are the last of a receipt, and the journal is the last of a batch.
func (r *Receipt) encode() ([]byte, error) {
	bare := *r
	bare.Batches = []*Batch{}
	frame, err := json.Marshal(&bare)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(frame, []byte("]}")))
	for i, b := range r.Batches {
		bare := *b
		bare.Journal = nil
		frame, err := json.Marshal(&bare)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		if len(b.Journal) == 0 {
			out.Write(frame)
			continue
		}
		out.Write(bytes.TrimSuffix(frame, []byte("null}")))
		out.Write(b.Journal)
		out.WriteByte('}')
	}
	out.WriteString("\n]}\n")
	return out.Bytes(), nil
}

// mark notes in the receipt what became of it. Undo tells by the store itself,
// so nothing is lost where that fails; done says what is done all the same.
func (r *Receipt) mark(state, done, next string) error {
	r.State = state
	if err := r.write(); err != nil {
		return &problem.Error{
			Class: problem.Unreadable, Next: next, Err: err,
			What: fmt.Sprintf("%s; only the note of that could not be written into %s", done, r.path),
		}
	}
	return nil
}

// rewrite writes the receipt again without a batch that failed; one that never
// had another is removed.
func (r *Receipt) rewrite() error {
	if !r.written {
		return nil
	}
	if len(r.Batches) == 0 {
		return removeFile(r.path)
	}
	return r.write()
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadReceipt reads the receipt of a repair.
func ReadReceipt(path string) (*Receipt, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, problem.New(problem.Unreadable, "Name the file that the repair printed: it ends in .receipt.json.", "%s cannot be read: %s", path, problem.Reason(err))
	}
	r := &Receipt{path: path, written: true}
	if err := json.Unmarshal(data, r); err != nil || r.Schema != ReceiptSchema {
		return nil, problem.New(problem.Unreadable, "Name the file that the repair printed: it ends in .receipt.json.",
			"%s is no receipt of a repair%s", path, detailOf(err))
	}
	return r, nil
}

func detailOf(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf(": %v", err)
}

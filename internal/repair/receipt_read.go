package repair

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
)

// ReceiptEnding is how the names of receipts end.
const ReceiptEnding = ".receipt.json"

const nameAReceipt = "Name the file that the repair printed: it ends in " + ReceiptEnding + "."

// ErrNoReceipt is the cause of the error about a file that is something else.
var ErrNoReceipt = errors.New("no receipt of a repair")

// ReadReceipt reads the receipt of a repair, and makes sure that all of it is what
// was written: its error is a problem of class Busy where it is not. A record that
// was cut off at the end was never committed, and is left out. The receipt has to
// be closed.
func ReadReceipt(path string) (*Receipt, error) {
	f, err := atomicfile.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, problem.New(problem.Unreadable, nameAReceipt, "%s cannot be read: %s", path, problem.Reason(err))
	}
	r := &Receipt{State: Pending, path: path, file: f}
	in := bufio.NewReaderSize(f, 1<<20)
	start, _ := in.Peek(4096)
	if err = r.begins(start); err == nil {
		err = r.read(in)
	}
	if err == nil {
		err = r.own()
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// olderBackup finds the backup in a receipt without checksums.
var olderBackup = regexp.MustCompile(`,"backup":("(?:[^"\\]|\\.)*")`)

// begins tells by its first bytes what is no receipt, before more of it is read.
func (r *Receipt) begins(start []byte) error {
	switch {
	case len(start) == 0:
		return r.refused("%s is empty: the repair was killed before it changed anything, or the file was damaged since", r.path)
	case bytes.Contains(start[:min(64, len(start))], []byte(`"sessctl.receipt/1"`)):
		if named := olderBackup.FindSubmatch(start); named != nil {
			_ = json.Unmarshal(named[1], &r.Backup) // else it has the name that it always has
		}
		return r.refused("%s was written by an older sessctl, without checksums, so nothing tells whether it is still what was written", r.path)
	case bytes.Contains(start[:min(256, len(start))], []byte(`"record":"`)), bytes.Contains(start[:min(256, len(start))], []byte(`sessctl.receipt/`)):
		return nil
	}
	return &problem.Error{Class: problem.Unreadable, Next: nameAReceipt, What: r.path + " is no receipt of a repair", Err: ErrNoReceipt}
}

// read reads all records.
func (r *Receipt) read(in *bufio.Reader) error {
	for n := 1; ; n++ {
		text, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF): // what is behind the last line break was cut off
			return r.complete()
		case errors.Is(err, errTooLong):
			return r.damaged(n, "is longer than any that sessctl writes")
		case err != nil:
			return problem.New(problem.Unreadable, "", "%s cannot be read: %s", r.path, problem.Reason(err))
		}
		sum, whole, fits := unseal(text, r.tail.sum)
		switch {
		case !whole:
			return r.damaged(n, "was changed after it was written, because its checksum does not fit")
		case !fits:
			return r.damaged(n, "does not follow the line before it: a line was taken out, moved or replaced")
		}
		at := line{offset: r.tail.size, size: int64(len(text)), sum: sum}
		r.tail = tail{at.offset + at.size + 1, sum}
		if why := r.take(text, at); why != "" {
			return r.damaged(n, "cannot be used: "+why)
		}
	}
}

// complete makes sure that there is a header.
func (r *Receipt) complete() error {
	if r.tail.size == 0 {
		return r.refused("the first record of %s was cut off: the repair was killed before it changed anything, or the file was damaged since", r.path)
	}
	return nil
}

// take takes in a record, or says what is wrong with it.
func (r *Receipt) take(text []byte, at line) (wrong string) {
	var kind note
	if err := json.Unmarshal(text, &kind); err != nil {
		return err.Error()
	}
	if (at.offset == 0) != (kind.Record == recordRepair) {
		return "it is not where such a record belongs"
	}
	var err error
	switch kind.Record {
	case recordRepair:
		if err = json.Unmarshal(text, &r.header); err == nil && r.Schema != ReceiptSchema {
			return "its form is " + r.Schema + ", and this sessctl knows " + ReceiptSchema
		}
	case recordBatch:
		b := &Batch{}
		if err = json.Unmarshal(text, b); r.State != Pending {
			return "it is behind the end"
		}
		b.at, b.Journal = at, nil
		r.Batches = append(r.Batches, b)
		r.Ledger.add(b.Ledger)
	case recordEnd:
		e := end{}
		if err = json.Unmarshal(text, &e); err == nil && e.Batches != len(r.Batches) {
			return fmt.Sprintf("it closes %d batches, and there are %d", e.Batches, len(r.Batches))
		}
		r.State, r.closed = e.State, true
	case recordUndo:
		r.State = Undoing
	case recordUndone:
		r.State = Undone
	default:
		return fmt.Sprintf("this sessctl knows no record of the kind %q", kind.Record)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// own makes sure that nobody else wrote the file: a receipt says what is written
// into a store.
func (r *Receipt) own() error {
	info, err := r.file.Stat()
	if err != nil {
		return problem.New(problem.Unreadable, "", "%s cannot be read: %s", r.path, problem.Reason(err))
	}
	r.seen = info.Size()
	subject, _ := os.Stat(r.Store.Path) // nil where there is none
	if user, foreign := atomicfile.Foreign(info, subject); foreign {
		return r.refused("%s belongs to another user (id %d), who can have written anything into it", r.path, user)
	}
	return nil
}

// journal reads the journal of a batch again.
func (r *Receipt) journal(n int) (json.RawMessage, error) {
	b := r.Batches[n]
	text := make([]byte, b.at.size)
	if _, err := r.file.ReadAt(text, b.at.offset); err != nil {
		return nil, problem.New(problem.Unreadable, "", "%s cannot be read: %s", r.path, problem.Reason(err))
	}
	again := Batch{}
	if sum, whole, _ := unseal(text, ""); !whole || sum != b.at.sum {
		return nil, r.damaged(n+2, "changed while it was read")
	}
	if err := json.Unmarshal(text, &again); err != nil {
		return nil, r.damaged(n+2, "cannot be used: "+err.Error())
	}
	return again.Journal, nil
}

// damaged is the problem with a record, by its line, that cannot be trusted.
func (r *Receipt) damaged(n int, why string) error {
	return r.refused("%s is damaged: line %d %s", r.path, n, why)
}

// refused is the problem with a receipt that is not carried out.
func (r *Receipt) refused(format string, args ...any) error {
	return problem.New(problem.Busy, "Nothing was changed. "+r.Restore(), format, args...)
}

// Restore says what helps where a receipt does not: the backup. A header that
// cannot be read does not name it, its own name does.
func (r *Receipt) Restore() string {
	backup := r.Backup
	if at := strings.TrimSuffix(r.path, ReceiptEnding); backup == "" && r.tail.size == 0 && at != r.path {
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			backup = at
		}
	}
	if backup == "" {
		return "If the repair made a backup, that holds the whole store as it was before: its name is that of the receipt without " + ReceiptEnding + "."
	}
	return "The backup " + backup + " holds the whole store as it was before the repair: look at it with `sessctl view`. To go back to it, " +
		"close the runtime, remove what ends in -wal and -shm beside the store, and copy the backup over the store; what came since is lost with that."
}

package repair

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
)

// appendBatch puts a batch into the receipt and onto the disk, before it is committed. The
// first one makes the file.
func (r *Receipt) appendBatch(b *Batch) error {
	var objects [][]byte
	if r.file == nil {
		head, err := json.Marshal(&r.header)
		if err != nil {
			return err
		}
		objects = append(objects, head)
	}
	object, err := b.encodeJSON()
	if err != nil {
		return err
	}
	return r.appendRecords(append(objects, object)...)
}

// countCommitted counts a batch that was committed, and lets go of what only an undo needs.
func (r *Receipt) countCommitted(b *Batch) {
	b.Journal = nil
	r.Batches = append(r.Batches, b)
	r.Ledger.addCounts(b.Ledger)
}

// appendEnd closes the receipt. Where that fails nothing is lost: the digests of the
// sessions tell what was committed.
func (r *Receipt) appendEnd(state string) error {
	r.State = state
	object, err := json.Marshal(end{Record: recordEnd, State: state, Batches: len(r.Batches), Ledger: r.Ledger})
	return r.appendLast(object, err)
}

// appendNote appends a record without anything else, or about a batch.
func (r *Receipt) appendNote(kind string, batch int) error {
	object, err := json.Marshal(note{kind, batch})
	return r.appendLast(object, err)
}

// appendLast appends a record behind the batches.
func (r *Receipt) appendLast(object []byte, err error) error {
	if err == nil {
		err = r.appendRecords(object)
	}
	if err == nil {
		err = r.verifyInPlace()
	}
	return err
}

// encodeJSON writes the batch as JSON, the journal as it is: it can be a hundred times
// as long as the rest, and the store is locked meanwhile. It is the last member.
func (b *Batch) encodeJSON() ([]byte, error) {
	bare := *b
	bare.Record, bare.Journal = recordBatch, nil
	frame, err := json.Marshal(&bare)
	if err != nil || len(b.Journal) == 0 {
		return frame, err
	}
	const seals = len(beforePrev) + len(beforeSum) + 2*lengthSum + 8
	frame = bytes.TrimSuffix(frame, []byte("null}"))
	out := append(make([]byte, 0, len(frame)+len(b.Journal)+seals), frame...)
	return append(append(out, b.Journal...), '}'), nil
}

// appendRecords seals records, writes them behind the last whole one, and makes them last.
func (r *Receipt) appendRecords(objects ...[]byte) error {
	sum := r.tail.sum
	var lines []byte
	for _, object := range objects {
		var sealed []byte
		if sealed, sum = sealLine(object, sum); lines == nil {
			lines = sealed
		} else {
			lines = append(lines, sealed...)
		}
	}
	if err := r.openForWriting(); err != nil {
		return err
	}
	n, err := atomicfile.WriteAt(r.file, lines, r.tail.size)
	if err == nil {
		err = atomicfile.Sync(r.file)
	}
	if err == nil && r.unnamed != nil {
		err = r.publishFile()
	}
	if err != nil {
		return r.notWritten(err)
	}
	r.tail = tail{r.tail.size + int64(n), sum}
	return nil
}

// openForWriting makes sure that the file can be written to: it is made, or opened again,
// and a record that was cut off is taken away.
func (r *Receipt) openForWriting() error {
	if r.writes {
		return nil
	}
	if r.file == nil {
		return r.createFile()
	}
	file, err := atomicfile.OpenOwn(r.path, os.O_RDWR)
	if err != nil {
		return r.notWritten(err)
	}
	read := r.file
	if info, err := file.Stat(); err != nil || info.Size() != r.seen || !sameFile(read, file) {
		return errors.Join(r.replacedReceipt(), file.Close())
	}
	r.file, r.writes = file, true
	if err := errors.Join(read.Close(), atomicfile.Truncate(file, r.tail.size)); err != nil {
		return r.notWritten(err)
	}
	return nil
}

// createFile makes the file, for the owner of the store only. It gets its name when it
// has a header, but on Windows, which gives no other name to a file that is open.
func (r *Receipt) createFile() (err error) {
	if runtime.GOOS == "windows" {
		r.file, err = os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	} else {
		r.file, r.unnamed, err = atomicfile.CreateTemporary(filepath.Dir(r.path), 0o600)
	}
	if err != nil {
		return r.notWritten(err)
	}
	r.writes = true
	if owner, err := os.Stat(r.owner); err == nil { // standard input is no file
		if err := atomicfile.GiveTo(r.file, owner); err != nil {
			return r.notWritten(err)
		}
	}
	return nil
}

// publishFile gives the file its name. Nothing may stand there, not even a symbolic link.
func (r *Receipt) publishFile() error {
	atStep("name the receipt")
	if err := atomicfile.Publish(r.file.Name(), r.path); err != nil {
		return err
	}
	r.unnamed()
	r.unnamed = nil
	return nil
}

// verifyInPlace makes sure that what stands at the path is what was written: somebody who
// may write to the folder can have put another file there, or a link.
func (r *Receipt) verifyInPlace() error {
	there, err := os.Lstat(r.path)
	if err != nil {
		return r.replacedReceipt()
	}
	own, err := r.file.Stat()
	if err != nil || !os.SameFile(own, there) || own.Size() != r.tail.size {
		return r.replacedReceipt()
	}
	return nil
}

// truncateTo takes away what stands behind a record, with the file if that leaves none.
// What somebody put in its place is let be.
func (r *Receipt) truncateTo(to tail) error {
	if r.file == nil || !r.writes {
		return nil
	}
	r.tail = to
	if to.size > 0 {
		return atomicfile.Truncate(r.file, to.size)
	}
	path := r.path
	if r.unnamed != nil {
		path = r.file.Name()
		defer r.unnamed()
	}
	there, _ := os.Lstat(path) // nil where it is gone
	own, err := r.file.Stat()
	r.writes, r.unnamed = false, nil
	if err = errors.Join(err, r.Close()); err != nil || there == nil || !os.SameFile(own, there) {
		return err
	}
	return removeFile(path)
}

func sameFile(a, b *os.File) bool {
	first, err1 := a.Stat()
	second, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

func (r *Receipt) notWritten(err error) error {
	if there, statErr := os.Lstat(r.path); errors.Is(err, fs.ErrExist) && r.Backup != "" && statErr == nil && there.Mode().IsRegular() {
		return problem.New(problem.Busy, "Nothing was changed. Run the repair again.", "another repair has the receipt %s: its name was made for this one, in the same second", r.path)
	}
	if errors.Is(err, fs.ErrExist) {
		return problem.New(problem.Usage, "Move that file and try again.", "%s already exists, and sessctl overwrites no file", r.path)
	}
	return problem.New(problem.Unreadable, "Nothing was changed. Free some space in "+filepath.Dir(r.path)+", or make it writable, and try again.",
		"the receipt %s cannot be written: %s", r.path, problem.Reason(err))
}

func (r *Receipt) replacedReceipt() error {
	return problem.New(problem.Busy, "Nothing was changed. Find out which program writes to "+filepath.Dir(r.path)+", and try again.",
		"another program replaced or changed the receipt %s while sessctl was writing it", r.path)
}

// noteError says of a note that could not be written that what it is about is done.
// Undo tells by the store itself, so nothing is lost.
func (r *Receipt) noteError(err error, done, next string) error {
	if err == nil {
		return nil
	}
	if problem.ClassOf(err) == problem.Busy { // it is not there any more
		return &problem.Error{Class: problem.Busy, Err: err, What: done + "; but " + err.Error(), Next: r.RestoreAdvice()}
	}
	return &problem.Error{
		Class: problem.Unreadable, Next: next, Err: err,
		What: fmt.Sprintf("%s; only %s could not be updated", done, "the receipt "+r.path),
	}
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

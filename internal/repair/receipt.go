package repair

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
)

// ReceiptSchema names the form of a receipt: a record a line, each sealed (see
// seal), and each written by appending to those before.
const ReceiptSchema = "sessctl.receipt/2"

// The states of a receipt. A pending one was never closed: the repair was killed,
// and the digests of the sessions tell what was committed.
const (
	Pending = "pending"
	Stopped = "stopped" // closed before all of the plan was done
	Done    = "done"
	Undoing = "undoing" // an undo began, and nobody noted its end
	Undone  = "undone"
)

// Receipt is what a repair did: enough to take it back, and everything that
// left the store. Each batch is on the disk before it is committed.
type Receipt struct {
	header
	State   string
	Ledger  Ledger
	Batches []*Batch
	// Removed are how many sessions an undo removed, because the repair had made them.
	Removed int

	// LeftOut are the trees of the plan that stayed as they were.
	LeftOut []LeftOut

	path   string
	owner  string // the path of the file to whose owner it belongs
	closed bool   // its end is there: no batch is missing
	file   *os.File
	writes bool  // to file
	seen   int64 // bytes when it was read
	tail   tail  // of the records that are whole

	// unnamed lets go of the name that the file has until its first records are on
	// the disk. nil when it has its own.
	unnamed func()
}

// The kinds of records, in their order.
const (
	recordRepair = "repair" // the header
	recordBatch  = "batch"
	recordEnd    = "end"
	recordUndo   = "undo" // is about to be committed
	recordUndone = "undone"
)

// header is the first record of a receipt.
type header struct {
	Record string  `json:"record"`
	Schema string  `json:"schema"`
	Tool   string  `json:"tool,omitempty"`   // name and version of the program
	Store  Subject `json:"store"`            // the store, by its absolute path
	Role   string  `json:"role,omitempty"`   // of a database on a server: the role that made the repair
	Backup string  `json:"backup,omitempty"` // path of the copy; left out with `--output`
	// digests of all sessions of the plan as they were before, by id. Without an `end` they tell
	// whether a batch is missing
	Sessions map[string]string `json:"sessions"`
}

// Batch is what one transaction changed.
type Batch struct {
	Record   string    `json:"record"`
	Sessions []Touched `json:"sessions"`       // those that changed
	Fixes    []Fix     `json:"fixes"`          // what was done, as in the plan
	Kept     []Kept    `json:"kept,omitempty"` // items that were removed or changed
	Ledger   Ledger    `json:"ledger"`
	// the rows that changed, before and after: what `undo` puts back. Of a store of files: the bytes
	// that changed, by their places
	Journal json.RawMessage `json:"journal"`

	at     line
	undone bool // an undo noted that it took this one back
}

// end is the record that closes a receipt, so that no batch can be missing.
type end struct {
	Record string `json:"record"`
	// `done`, or `stopped` when an error or an interruption ended the repair before all of the plan
	// was done
	State   string `json:"state"`
	Batches int    `json:"batches"` // how many there are
	Ledger  Ledger `json:"ledger"`
}

// note is a record without anything else, or about one batch, counted from 1.
type note struct {
	Record string `json:"record"`
	Batch  int    `json:"batch,omitempty"` // of `undone`, on a server: which one, from 1; left out where all are undone
}

// Touched is a session that a batch changed, with the digests of what was
// stored of it before and after. "" means that there was no such session.
type Touched struct {
	ID     string `json:"id"`
	Before string `json:"before"` // digest of all that was stored of it; empty: there was no such session
	After  string `json:"after"`  // the same after the repair
}

// newReceipt is a receipt that is not on the disk yet.
func newReceipt(plan *Plan, a Apply) *Receipt {
	r := &Receipt{State: Pending, path: a.Receipt, owner: cmp.Or(a.source, plan.Store.Path), header: header{
		Record: recordRepair, Schema: ReceiptSchema, Tool: a.Tool, Store: plan.Store, Role: a.Role, Backup: a.Backup, Sessions: map[string]string{},
	}}
	for _, t := range plan.Trees {
		maps.Copy(r.Sessions, t.Sums)
	}
	return r
}

// noteTouched notes the sessions whose digests differ. By them an undo tells whether the
// batch was committed, so there has to be one.
func (b *Batch) noteTouched(before, after map[string]store.Sum) error {
	for _, id := range sortedKeys(after) {
		if before[id].Exact != after[id].Exact {
			b.Sessions = append(b.Sessions, Touched{ID: id, Before: before[id].Exact, After: after[id].Exact})
		}
	}
	if len(b.Sessions) == 0 {
		return errors.New("no session was changed")
	}
	return nil
}

// Path is where the receipt is.
func (r *Receipt) Path() string { return r.path }

// Close lets go of the file.
func (r *Receipt) Close() error {
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

// ReceiptEnding is how the names of receipts end.
const ReceiptEnding = ".receipt.json"

const nameAReceipt = "Name the file that the repair printed: it ends in " + ReceiptEnding + "."

// ErrNoReceipt is the cause of the error about a file that is something else.
var ErrNoReceipt = errors.New("not a receipt of a repair")

// ReadReceipt reads the receipt of a repair, and makes sure that all of it is what
// was written: its error is a problem of class Busy where it is not. A record that
// was cut off at the end was never committed, and is left out. The receipt has to
// be closed.
func ReadReceipt(path string) (*Receipt, error) {
	f, err := atomicfile.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, problem.New(problem.Unreadable, nameAReceipt, "there is no file %s", path)
		}
		return nil, problem.New(problem.Unreadable, nameAReceipt, "%s cannot be read: %s", path, problem.Reason(err))
	}
	r := &Receipt{State: Pending, path: path, file: f}
	in := bufio.NewReaderSize(f, 1<<16)
	start, _ := in.Peek(4096)
	if err = r.checkStart(start); err == nil {
		err = r.readRecords(in)
	}
	if err == nil {
		err = r.checkOwner()
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// olderBackup finds the backup in a receipt without checksums.
var olderBackup = pattern.Lazy(`,"backup":("(?:[^"\\]|\\.)*")`)

// checkStart tells by its first bytes what is no receipt, before more of it is read.
func (r *Receipt) checkStart(start []byte) error {
	switch {
	case len(start) == 0:
		return r.refusedReceipt("%s is empty: the repair was killed before it changed anything, or the file was damaged later", r.path)
	case bytes.Contains(start[:min(64, len(start))], []byte(`"sessctl.receipt/1"`)):
		if named := olderBackup().FindSubmatch(start); named != nil {
			_ = json.Unmarshal(named[1], &r.Backup) // else it has the name that it always has
		}
		return r.refusedReceipt("%s was written by an older sessctl, without checksums, so sessctl cannot tell whether it was changed since", r.path)
	case bytes.Contains(start[:min(256, len(start))], []byte(`"record":"`)), bytes.Contains(start[:min(256, len(start))], []byte(`sessctl.receipt/`)):
		return nil
	}
	return &problem.Error{Class: problem.Unreadable, Next: nameAReceipt, What: r.path + " is not a receipt of a repair", Err: ErrNoReceipt}
}

// readRecords reads all records.
func (r *Receipt) readRecords(in *bufio.Reader) error {
	for n := 1; ; n++ {
		text, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF): // what is behind the last line break was cut off
			return r.checkComplete()
		case errors.Is(err, errTooLong):
			return r.damagedLine(n, "is longer than any that sessctl writes")
		case err != nil:
			return problem.New(problem.Unreadable, "", "%s cannot be read: %s", r.path, problem.Reason(err))
		}
		sum, whole, fits := verifySeal(text, r.tail.sum)
		switch {
		case !whole:
			return r.damagedLine(n, "was changed after it was written: its checksum does not match")
		case !fits:
			return r.damagedLine(n, "does not follow the line before it: a line was removed, moved or replaced")
		}
		at := line{offset: r.tail.size, size: int64(len(text)), sum: sum}
		r.tail = tail{at.offset + at.size + 1, sum}
		if why := r.takeRecord(text, at); why != "" {
			return r.damagedLine(n, "cannot be used: "+why)
		}
	}
}

// checkComplete makes sure that there is a header.
func (r *Receipt) checkComplete() error {
	if r.tail.size == 0 {
		return r.refusedReceipt("the first record of %s was cut off: the repair was killed before it changed anything, or the file was damaged later", r.path)
	}
	return nil
}

// takeRecord takes in a record, or says what is wrong with it.
func (r *Receipt) takeRecord(text []byte, at line) (wrong string) {
	var kind note
	if err := json.Unmarshal(text, &kind); err != nil {
		return err.Error()
	}
	if (at.offset == 0) != (kind.Record == recordRepair) {
		return "it is in the wrong place"
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
			return "it comes after the end"
		}
		b.at, b.Journal = at, nil
		r.Batches = append(r.Batches, b)
		r.Ledger.addCounts(b.Ledger)
	case recordEnd:
		e := end{}
		if err = json.Unmarshal(text, &e); err == nil && e.Batches != len(r.Batches) {
			return fmt.Sprintf("it says that there are %d batches, and there are %d", e.Batches, len(r.Batches))
		}
		r.State, r.closed = e.State, true
	case recordUndo:
		r.State = Undoing
	case recordUndone:
		if kind.Batch < 0 || kind.Batch > len(r.Batches) {
			return "it is about a batch that the receipt does not have"
		}
		if kind.Batch > 0 {
			r.Batches[kind.Batch-1].undone = true
		} else {
			r.State = Undone
		}
	default:
		return fmt.Sprintf("this sessctl knows no record of the kind %q", kind.Record)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// checkOwner makes sure that nobody else wrote the file: a receipt says what is written
// into a store.
func (r *Receipt) checkOwner() error {
	info, err := r.file.Stat()
	if err != nil {
		return problem.New(problem.Unreadable, "", "%s cannot be read: %s", r.path, problem.Reason(err))
	}
	r.seen = info.Size()
	subject, _ := os.Stat(r.Store.Path) // nil where there is none
	if user, foreign := atomicfile.ForeignOwner(info, subject); foreign {
		return r.refusedReceipt("%s belongs to another user (id %d), who may have written anything into it", r.path, user)
	}
	return nil
}

// readJournal reads the journal of a batch again.
func (r *Receipt) readJournal(n int) (json.RawMessage, error) {
	b := r.Batches[n]
	text := make([]byte, b.at.size)
	if _, err := r.file.ReadAt(text, b.at.offset); err != nil {
		return nil, problem.New(problem.Unreadable, "", "%s cannot be read: %s", r.path, problem.Reason(err))
	}
	again := Batch{}
	if sum, whole, _ := verifySeal(text, ""); !whole || sum != b.at.sum {
		return nil, r.damagedLine(n+2, "changed while it was read")
	}
	if err := json.Unmarshal(text, &again); err != nil {
		return nil, r.damagedLine(n+2, "cannot be used: "+err.Error())
	}
	return again.Journal, nil
}

// damagedLine is the problem with a record, by its line, that cannot be trusted.
func (r *Receipt) damagedLine(n int, why string) error {
	return r.refusedReceipt("%s is damaged: line %d %s", r.path, n, why)
}

// refusedReceipt is the problem with a receipt that is not carried out.
func (r *Receipt) refusedReceipt(format string, args ...any) error {
	return problem.New(problem.Busy, "Nothing was changed. "+r.RestoreAdvice(), format, args...)
}

// RestoreAdvice says what helps where a receipt does not: the backup. A header that
// cannot be read does not name it, its own name does.
func (r *Receipt) RestoreAdvice() string {
	backup := r.Backup
	if at := strings.TrimSuffix(r.path, ReceiptEnding); backup == "" && r.tail.size == 0 && at != r.path {
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			backup = at
		}
	}
	if r.Store.Identity != "" && backup != "" {
		return "The backup " + backup + " has all rows of these sessions as they were before the repair, one a line."
	}
	if backup == "" {
		return "If the repair made a backup, it holds the whole store as it was before: its name is that of the receipt without " + ReceiptEnding + "."
	}
	if info, err := os.Stat(backup); err == nil && info.IsDir() {
		return "The backup " + backup + " holds the files that the repair changed, as they were before it. To go back to them, close the runtime and " +
			"copy the files in it over those of the store. What was written to them since the repair is lost then."
	}
	return "The backup " + backup + " holds the whole store as it was before the repair: look at it with `sessctl view`. To go back to it, " +
		"close the runtime, delete the files beside the store that end in -wal and -shm, and copy the backup over the store. What was written to the store since the repair is lost then."
}

// A record is a JSON object on a line of its own. Its last two members are `prev`,
// the sum of the record before ("" for the first), and `sum`: the SHA-256, in
// hexadecimal, of all bytes of the line before `,"sum":`. So a record that was
// changed, added, moved or taken out does not fit, and neither does one of
// another receipt. What stands behind the last line break is a record that was
// cut off.
const (
	beforePrev = `,"prev":"`
	beforeSum  = `,"sum":"`
	behindSum  = `"}`
	lengthSum  = 2 * sha256.Size
)

// sealLine makes the line of an object that has a member, in place if there is room.
func sealLine(object []byte, prev string) (sealed []byte, sum string) {
	body := append(bytes.TrimSuffix(object, []byte("}")), beforePrev+prev+`"`...)
	sum = sumOf(body)
	return append(body, beforeSum+sum+behindSum+"\n"...), sum
}

// verifySeal gives the sum of a line without its break, and reports whether it is what
// was sealed, and behind that record.
func verifySeal(sealed []byte, prev string) (sum string, whole, fits bool) {
	n := len(sealed) - len(behindSum) - lengthSum
	if n < len(beforeSum) || string(sealed[len(sealed)-len(behindSum):]) != behindSum {
		return "", false, false
	}
	body := sealed[:n-len(beforeSum)]
	sum = string(sealed[n : n+lengthSum])
	if string(sealed[len(body):n]) != beforeSum || sum != sumOf(body) {
		return "", false, false
	}
	return sum, true, bytes.HasSuffix(body, []byte(beforePrev+prev+`"`))
}

func sumOf(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:])
}

// tail is where the last whole record of a receipt ends, and its sum.
type tail struct {
	size int64
	sum  string
}

// line is where a record stands, without its line break, and its sum.
type line struct {
	offset, size int64
	sum          string
}

// longest is how long a record may be: a journal holds what SQLite stores, no
// value of which is longer than 1 GiB as it is set up here.
const longest = 4 << 30 // bytes

var errTooLong = errors.New("the line is too long")

// readLine reads up to a line break, which is not in the result. At the end, what
// stands behind the last one comes with io.EOF.
func readLine(r *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		part, err := r.ReadSlice('\n')
		if int64(len(all))+int64(len(part)) > longest {
			return nil, errTooLong
		}
		all = append(all, part...)
		switch {
		case err == nil:
			return all[:len(all)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return all, err
		}
	}
}

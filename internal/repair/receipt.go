package repair

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"

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
	Tool   string  `json:"tool,omitempty"`
	Store  Subject `json:"store"`
	Backup string  `json:"backup,omitempty"`
	// Sessions are the digests of all sessions of the plan before the repair (see
	// Tree.Sums). Where a receipt has no end, they tell whether it lacks a batch.
	Sessions map[string]string `json:"sessions"`
}

// Batch is what one transaction changed.
type Batch struct {
	Record   string          `json:"record"`
	Sessions []Touched       `json:"sessions"`
	Fixes    []Fix           `json:"fixes"`
	Kept     []Kept          `json:"kept,omitempty"`
	Ledger   Ledger          `json:"ledger"`
	Journal  json.RawMessage `json:"journal"` // the adapter's own: see store.Editor; in memory only while it is needed

	at line
}

// end is the record that closes a receipt, so that no batch can be missing.
type end struct {
	Record  string `json:"record"`
	State   string `json:"state"`
	Batches int    `json:"batches"`
	Ledger  Ledger `json:"ledger"`
}

// note is a record without anything else.
type note struct {
	Record string `json:"record"`
}

// Touched is a session that a batch changed, with the digests of what was
// stored of it before and after. "" means that there was no such session.
type Touched struct {
	ID     string `json:"id"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// newReceipt is a receipt that is not on the disk yet.
func newReceipt(plan *Plan, a Apply) *Receipt {
	r := &Receipt{State: Pending, path: a.Receipt, owner: cmp.Or(a.source, plan.Store.Path), header: header{
		Record: recordRepair, Schema: ReceiptSchema, Tool: a.Tool, Store: plan.Store, Backup: a.Backup, Sessions: map[string]string{},
	}}
	for _, t := range plan.Trees {
		for id, sum := range t.Sums {
			r.Sessions[id] = sum
		}
	}
	return r
}

// touch notes the sessions whose digests differ. By them an undo tells whether the
// batch was committed, so there has to be one.
func (b *Batch) touch(before, after map[string]store.Sum) error {
	for _, id := range sortedKeys(after) {
		if before[id].Exact != after[id].Exact {
			b.Sessions = append(b.Sessions, Touched{ID: id, Before: before[id].Exact, After: after[id].Exact})
		}
	}
	if len(b.Sessions) == 0 {
		return errors.New("no session is another than before")
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

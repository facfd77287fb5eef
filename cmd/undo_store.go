package cmd

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/shell"
)

// notAReceipt is the problem with a store, or the copy of one, in place of its
// receipt: it names the one of the last repair that is not undone yet. Of any other
// file it is err.
func notAReceipt(path string, err error) error {
	receipts := receiptsOf(path)
	next := "Name the receipt of a repair; no receipt was found beside the store."
	switch last := undoable(receipts); {
	case last != "":
		next = "Its last receipt is " + last + ": `sessctl undo " + shell.Path(last) + "`."
	case len(receipts) > 0:
		next = "All repairs of it are undone: there is nothing to take back."
	case !isDatabase(path):
		return err
	}
	return &problem.Error{Class: problem.Unreadable, Err: err, What: path + " is a store, not a receipt", Next: next}
}

// undoable is the last of the receipts that is not undone, "" when all are.
func undoable(receipts []string) string {
	for _, path := range slices.Backward(receipts) {
		r, err := repair.ReadReceipt(path)
		if err != nil {
			return path // undo says what is wrong with it
		}
		if r.Close() == nil && r.State != repair.Undone {
			return path
		}
	}
	return ""
}

// receiptsOf are the receipts that stand beside a store or a copy of one, by their
// names, in the order of the repairs.
func receiptsOf(path string) []string {
	folder, file := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(folder))
	if err != nil {
		return nil
	}
	var found []string // what stands between the name of the store and the ending
	for _, e := range entries {
		rest, of := strings.CutPrefix(e.Name(), file)
		rest, is := strings.CutSuffix(rest, receiptEnding)
		if of && is && (rest == "" || strings.HasPrefix(rest, backupMark)) {
			found = append(found, rest)
		}
	}
	slices.SortFunc(found, func(a, b string) int { // the second one of a second is TIME-2
		const n = len(backupMark) + len(backupTime)
		return cmp.Or(cmp.Compare(a[:min(n, len(a))], b[:min(n, len(b))]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for i, rest := range found {
		found[i] = path + rest + receiptEnding
	}
	return found
}

// isDatabase reports whether a file is one of SQLite.
func isDatabase(path string) bool {
	f, err := atomicfile.OpenRegular(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	const magic = "SQLite format 3\x00"
	start := make([]byte, len(magic))
	_, err = f.Read(start)
	return err == nil && string(start) == magic
}

package sqlite

import "context"

// Second opens a second connection, to read two tables at once. It exists only
// where nothing can change between the two connections: ok is false where
// another process may write, since their snapshots could differ then. The
// second one must be closed before the first.
func (db *DB) Second(ctx context.Context) (second *DB, ok bool, err error) {
	if db.access != immutable {
		return nil, false, nil
	}
	second = &DB{File: db.File, Writer: db.Writer, access: db.access, raw: db.raw, scanned: db.scanned}
	if err := second.connect(ctx, false); err != nil {
		return nil, false, second.disconnect()
	}
	return second, true, nil
}

package agenttest

// WriteFixed records a program as v1.32.4 did: the root's session holds its own
// messages only. A child is stored when it is complete; of one that fails or is
// killed nothing is kept, unless the program says so (KeepsFailed).
func WriteFixed(db *DB, p Program) (Written, error) {
	r := write(db, &p, true)
	return Written{Root: r.record.stored[r.root], events: r.stream.events}, db.Err()
}

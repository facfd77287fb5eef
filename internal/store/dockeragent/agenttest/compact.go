package agenttest

// compact writes a summary of a conversation, as the runtime does since v1.41.0: with
// the index of the first entry that it keeps, in the list that it loads.
func (r *run) compact(c *conversation, text string, keep int) {
	s := &Summary{Text: text}
	if session := r.record.stored[c]; session != nil && r.db.Generation >= withKept {
		s.FirstKept = r.firstKept(session, keep)
	}
	r.record.summarized(c, c.add(&entry{summary: s}))
	r.stream.summarized(c, s)
}

// firstKept is where a tail of at least so many messages starts: at what the user or an
// agent said, behind the first message of the last request, and never in what a
// summary covers (v1.55.0; releases before got that wrong). Where nothing is kept it is
// the length of the list, and so the place of the summary itself.
func (r *run) firstKept(session *Session, keep int) int64 {
	rows := r.db.itemRows(session.ID)
	first, nothing := 1, int64(len(rows)+r.program.Unstored)
	for i := range rows {
		if rows[i].kind == "summary" {
			first = i + 1
			if kept := int(r.db.kept(rows[i].id)); kept > 0 && kept < i {
				first = kept
			}
		}
	}
	if keep == 0 {
		return nothing
	}
	for i := len(rows) - 1; i >= first; i-- {
		if rows[i].kind != "message" || rows[i].role() == roleSystem {
			continue
		}
		if keep--; keep <= 0 && rows[i].role() != roleTool {
			return int64(i)
		}
	}
	return nothing
}

// kept is the boundary that a summary has on record.
func (db *DB) kept(row int64) int64 {
	var kept int64
	db.scan([]any{&kept}, "SELECT first_kept_entry FROM session_items WHERE id = ?", row)
	return kept
}

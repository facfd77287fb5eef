package springtest

// Compact is what the library's compaction does: events are archived by id, all
// that are still active are deleted, and those that are kept are written anew, the
// summary first (d). Before 0.6.0 what is archived is deleted as well.
func (db *DB) Compact(session string, archived []string, summary []Event, kept []Event) {
	db.Exec("UPDATE ai_session SET event_version = event_version + 1 WHERE id = ?", session)
	if db.Form.ByTime {
		db.Exec("DELETE FROM ai_session_event WHERE session_id = ?", session)
	} else {
		for _, id := range archived {
			db.Exec("UPDATE ai_session_event SET archived = ? WHERE id = ?", db.truth(true), id)
		}
		db.Exec("DELETE FROM ai_session_event WHERE session_id = ? AND archived = ?", session, db.truth(false))
	}
	for _, e := range append(append([]Event{}, summary...), kept...) {
		db.write(session, db.complete(e))
	}
}

// log is what a program has said in a session, so that it can be compacted.
type log struct {
	db      *DB
	session string
	active  []Event
}

func (l *log) append(events ...Event) {
	for _, e := range events {
		e = l.db.complete(e)
		l.active = append(l.active, e)
		l.db.Append(l.session, e)
	}
}

// compact archives what stands before the event with an index in the active
// window, and puts a summary in its place. Summaries before are deleted.
func (l *log) compact(cut int, text string) {
	var ids []string
	for _, e := range l.active[:cut] {
		if !e.Synthetic {
			ids = append(ids, e.ID)
		}
	}
	summary := Summary(text)
	for i := range summary {
		summary[i] = l.db.complete(summary[i])
	}
	kept := append([]Event{}, l.active[cut:]...)
	l.db.Compact(l.session, ids, summary, kept)
	l.active = append(summary, kept...)
}

// window archives what stands before the event with an index in the active window, as
// the strategies do that write no summary: those before stay.
func (l *log) window(cut int) {
	var ids []string
	var summaries []Event
	for _, e := range l.active[:cut] {
		if e.Synthetic {
			summaries = append(summaries, e)
		} else {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == 0 {
		return // nothing to archive, and nothing is written
	}
	kept := append([]Event{}, l.active[cut:]...)
	l.db.Compact(l.session, ids, summaries, kept)
	l.active = append(summaries, kept...)
}

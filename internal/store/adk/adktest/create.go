package adktest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	_ "modernc.org/sqlite"
)

// Start is when the first event of a session was written, unless it says so itself.
var Start = time.Date(2026, 11, 20, 21, 40, 0, 58_338_000, time.UTC)

// Create writes a new database with these sessions. The error names what the
// generation has no place for.
func Create(path string, g Generation, sessions ...Session) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(1)&_pragma=synchronous(off)")
	if err != nil {
		return err
	}
	return errors.Join(create(db, g, sessions), db.Close())
}

func create(db *sql.DB, g Generation, sessions []Session) error {
	db.SetMaxOpenConns(1)
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	for _, statement := range g.schema() {
		if _, err := tx.Exec(statement); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", statement, err), tx.Rollback())
		}
	}
	for _, s := range sessions {
		if err := write(tx, g, s); err != nil {
			return errors.Join(fmt.Errorf("session %s of %s: %w", s.ID, g, err), tx.Rollback())
		}
	}
	return tx.Commit()
}

// CreateOf writes a new database with one session whose events are stored as these
// documents of adk-js.
func CreateOf(path string, session string, documents []json.RawMessage) error {
	if err := Create(path, J1, Session{ID: session}); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", path)
	for _, d := range documents {
		if err == nil {
			_, err = db.Exec(`insert into events select d ->> 'id', app_name, user_id, id, d ->> 'invocation_id', d ->> 'timestamp', d
				from sessions, (select ? as d)`, string(d))
		}
	}
	return errors.Join(err, db.Close())
}

func write(tx *sql.Tx, g Generation, s Session) error {
	if lacks := g.Lacks(s); lacks != "" {
		return fmt.Errorf("it has no place for %s", lacks)
	}
	s = s.completed()
	first, last := Start, Start
	if len(s.Events) > 0 {
		first, last = s.Events[0].Time, s.Events[len(s.Events)-1].Time
	}
	err := insert(tx, "sessions", fields{
		{"app_name", s.App}, {"user_id", s.User}, {"id", s.ID}, {"state", s.State},
		{"create_time", g.stamp(first.Add(-time.Millisecond))}, {"update_time", g.stamp(last)},
	})
	for i := range s.Events {
		var row fields
		if err == nil {
			row, err = g.row(s, &s.Events[i])
		}
		if err == nil {
			err = insert(tx, "events", row)
		}
	}
	return err
}

// completed is the session with everything that its description leaves open.
func (s Session) completed() Session {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(s.App + "\x00" + s.User + "\x00" + s.ID)) // a hash takes everything
	rng := rand.New(rand.NewPCG(seed.Sum64(), 1))
	s.App, s.User, s.State = or(s.App, "app"), or(s.User, "u"), or(s.State, "{}")
	events := make([]Event, len(s.Events))
	now := Start
	for i, e := range s.Events {
		e.ID = or(e.ID, uuid(rng))
		e.Invocation = or(e.Invocation, "e-00000000-0000-4000-8000-000000000001")
		if e.Time.IsZero() {
			e.Time = now
		}
		now = e.Time.Add(time.Millisecond)
		events[i] = e
	}
	s.Events = events
	return s
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

// uuid is a random UUID of version 4.
func uuid(rng *rand.Rand) string {
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

package agenttest

import (
	"fmt"
	"os"
)

// SetAsideBackup leaves the database with its present content beside itself
// under the name that the runtime uses when it gives up on one (path.bak), and
// deletes the given sessions from the database itself.
func SetAsideBackup(sessions ...string) Damage {
	return Damage{name: "SetAsideBackup", enforceKeys: true, onFiles: true, apply: func(db *DB) {
		db.exec("PRAGMA wal_checkpoint(TRUNCATE)") // now the file holds everything
		content, err := os.ReadFile(db.Path)
		db.fail(err)
		if db.err == nil {
			db.fail(os.WriteFile(db.Path+".bak", content, 0o600))
		}
		db.Batch(func() {
			for _, id := range sessions {
				db.change("DELETE FROM sessions WHERE id = ?", id)
			}
		})
	}}
}

// LegacyColumnFuller loses the last n items of a session, while the messages
// column still has them. It needs generations 14 to 19.
func LegacyColumnFuller(session string, n int) Damage {
	return Damage{name: "LegacyColumnFuller", columnIsOlder: true, apply: func(db *DB) {
		if db.Generation >= withoutLegacy {
			db.fail(fmt.Errorf("generation %d has no messages column", db.Generation))
		}
		db.change(`DELETE FROM session_items WHERE id IN
			(SELECT id FROM session_items WHERE session_id = ? ORDER BY position DESC LIMIT ?)`, session, n)
	}}
}

// NewerMigration records a migration that nobody knows yet.
func NewerMigration() Damage {
	return sets("NewerMigration", `INSERT INTO migrations SELECT MAX(id) + 100, printf('%03d_from_the_future', MAX(id) + 100),
		'Something new', MAX(applied_at) FROM migrations`)
}

// UnrecordedMigration forgets that a migration ran.
func UnrecordedMigration(id int) Damage {
	return sets("UnrecordedMigration", "DELETE FROM migrations WHERE id = ?", id)
}

// OrphanMedia records a generated file of a session that does not exist. It
// needs generation 28.
func OrphanMedia() Damage {
	return Damage{name: "OrphanMedia", apply: func(db *DB) {
		db.needs(28, "generated_media_manifest")
		db.exec(`INSERT INTO generated_media_manifest (session_id, rel_path, mime_type, created_at)
			VALUES (?, 'chart.png', 'image/png', ?)`, db.newID(), db.tick())
	}}
}

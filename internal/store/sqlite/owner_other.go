//go:build !linux

package sqlite

// changesOwners: SQLite does so on Unix only, and every read here works on a
// copy.
func changesOwners(look) bool { return false }

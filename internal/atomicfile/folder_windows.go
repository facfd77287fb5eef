package atomicfile

// SyncFolder does nothing: Windows cannot flush a folder, and NTFS keeps names in
// its own journal.
func SyncFolder(string) error { return nil }

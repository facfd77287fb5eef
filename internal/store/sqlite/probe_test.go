package sqlite

// Sniff looks at a file and closes it again.
func Sniff(path string) (File, error) {
	handle, f, err := sniffFile(path)
	if err == nil {
		err = handle.Close()
	}
	return f, err
}

// ProbeWriter says whether another process holds the database at path. It
// changes nothing. This process must not have the database open: see the
// package comment.
func ProbeWriter(path string) (Writer, error) {
	handle, f, err := sniffFile(path)
	if err != nil {
		return Writer{}, err
	}
	defer func() { _ = handle.Close() }()
	return probeWriter(handle, f, new(openFiles).findWriter), nil
}

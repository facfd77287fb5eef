//go:build !unix

package atomicfile

const (
	noFollow = 0 // to make a link takes a right that few have
	noWait   = 0 // pipes are no files of a folder
)

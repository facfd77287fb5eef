//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

const (
	noFollow = 0 // to make a link takes a right that few have
	noWait   = 0 // pipes are no files of a folder
)

// ForeignOwner is false: elsewhere a file's access list says who may write to it.
func ForeignOwner(_, _ fs.FileInfo) (user int, foreign bool) { return 0, false }

// GiveTo does nothing: elsewhere a new file gets its owner and its access list from
// its folder.
func GiveTo(*os.File, fs.FileInfo) error { return nil }

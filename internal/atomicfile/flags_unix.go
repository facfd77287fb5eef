//go:build unix

package atomicfile

import "syscall"

const (
	noFollow = syscall.O_NOFOLLOW // the last part of the path is no symbolic link
	noWait   = syscall.O_NONBLOCK // a pipe is opened without a writer; files know no such thing
)

package filelog

import (
	"fmt"
	"os"
	"strings"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/session"
)

// HolderOf reports whether a process holds the lock of a file.
func HolderOf(root *os.Root, name string) session.Writer {
	file, err := Open(root, name)
	if err != nil {
		return session.WriterUnknown
	}
	defer func() { _ = file.Close() }() // nothing was written to it
	switch locked, known := atomicfile.IsLocked(file.File()); {
	case locked:
		return session.WriterLive
	case known:
		return session.WriterDead
	}
	return session.WriterUnknown
}

// ProbeProcess reports whether the process that wrote a note still runs: the time at which it
// started is field 22 of its line in /proc. Where the note does not say that, another one may have its number by now.
func ProbeProcess(pid int, started, domain string) session.Writer {
	if !isHere(domain) {
		return session.WriterUnknown
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if _, none := os.Stat("/proc/self/stat"); none != nil {
		return session.WriterUnknown
	}
	if err != nil {
		return session.WriterDead
	}
	const startedAt = 22 - 3 // behind the name, which may hold spaces and brackets
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest)
	switch {
	case len(fields) <= startedAt || started == "":
		return session.WriterUnknown
	case fields[startedAt] == started:
		return session.WriterLive
	}
	return session.WriterDead
}

// isHere reports whether numbers of processes mean the same as they do here: the domain
// names the host and the namespace.
func isHere(domain string) bool {
	if domain == "" {
		return true
	}
	host, err := os.Hostname()
	space, _ := os.Readlink("/proc/self/ns/pid")
	space = strings.Trim(strings.TrimPrefix(space, "pid:"), "[]")
	return err == nil && space != "" && strings.Contains(domain, host) && strings.Contains(domain, space)
}

package claudecode

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// mostNote is how many bytes of a note beside a transcript are read.
const mostNote = 1 << 20

// liveness are the notes of processes about the sessions that they have, by session.
type liveness map[string]note

// note is what the note of a process says of its session.
type note struct {
	writer       session.Writer
	name, folder string // of the file; in which the process was started
}

// writerOf is who writes to a session, whatever is behind its name (transcript.copied).
func (l liveness) writerOf(id string) session.Writer { return l[strings.Split(id, "@")[0]].writer }

// findLiving finds the processes that have sessions of a folder: that of Claude Code, or of a
// project in it.
func findLiving(folder string) liveness {
	if full, err := filepath.Abs(folder); err == nil && filepath.Base(filepath.Dir(full)) == projects {
		folder = filepath.Dir(filepath.Dir(full))
	}
	home, err := os.OpenRoot(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = home.Close() }()
	return readProcessNotes(home)
}

// readProcessNotes reads what running processes of Claude Code 2.1 note of themselves: the file
// sessions/PID.json, which stays where one is killed. One of another container or host
// cannot be looked for.
func readProcessNotes(root *os.Root) liveness {
	live := liveness{}
	names, _ := fs.Glob(root.FS(), "sessions/*.json") // its one error is a bad pattern
	for _, name := range names {
		var p struct {
			PID     int            `json:"pid"`
			Session string         `json:"sessionId"`
			Started jsontext.Value `json:"procStart"`
			Domain  string         `json:"pidDomain"`
			Folder  string         `json:"cwd"`
		}
		text, err := filelog.Read(root, name, mostNote)
		if err != nil || jsonscan.Exact.Unmarshal(text, &p) != nil || p.Session == "" || fmt.Sprint(p.PID) != strings.TrimSuffix(path.Base(name), ".json") {
			continue
		}
		if now := filelog.ProbeProcess(p.PID, strings.Trim(string(p.Started), `"`), p.Domain); live[p.Session].writer != session.WriterLive {
			live[p.Session] = note{now, name, p.Folder}
		}
	}
	return live
}

// Package copilot reads the sessions of GitHub Copilot CLI: a folder for each, with one file
// of the lines of its agents. The facts were seen with 1.0.24 and 1.0.102;
// docs/stores/copilot-cli.md has them.
package copilot

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/logstore"
)

const (
	kindName    = "copilot-cli"
	kindTitle   = "Copilot CLI"
	producer    = "copilot-agent"
	lastVersion = "1.0.102"
	events      = "events.jsonl"
	ending      = ".jsonl"
)

var files = logstore.Kind{Ending: ending, Facts: storeFacts, List: listFiles, Session: sessionOf, Writer: writerOf, Title: titleOf, Glance: glanceAt, Read: readFile, Plain: plainLine, Relate: relatePassed}

// Kind is Copilot CLI's row in the table of adapters.
var Kind = store.Kind{
	Name: kindName, Title: kindTitle, Folder: true, Locations: filelog.HomeFolder("COPILOT_HOME", ".copilot"), Detect: detectEvents, Marks: files.Marks, Open: files.Open, Edit: files.Edit,
	Index: []string{"turns", "session_id", "turn_index", "user_message", "assistant_response"}, // session-store.db
	Empty: func(src *store.Source) bool { return len(listFiles(src.Folder)) == 0 },
}

// listFiles lists the files of events of a folder: of that of Copilot CLI, of its sessions, or of one
// of these. Backups of repairs hold the sessions once more.
func listFiles(root *os.Root) (names []string) {
	for _, top := range []string{"session-state", "."} {
		for _, folder := range append(listFolder(root, top, ""), top) {
			info, err := root.Stat(folder) // nobody waits for a pipe
			if err != nil || !info.IsDir() || strings.Contains(folder, ".sessctl-") {
				continue
			}
			if _, err := root.Lstat(path.Join(folder, events)); err == nil {
				names = append(names, path.Join(folder, events))
			}
		}
		if len(names) > 0 {
			break
		}
	}
	return names
}

// listFolder lists what begins with a text in a folder.
func listFolder(root *os.Root, folder, prefix string) (names []string) {
	entries, _ := fs.ReadDir(root.FS(), folder) // what cannot be listed is not there
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, path.Join(folder, e.Name()))
		}
	}
	return names
}

// sessionOf is the id of the root session of a file: the name of its folder.
func sessionOf(folder, name string) string {
	if base := path.Base(name); base != events {
		return strings.TrimSuffix(base, ending)
	}
	return filepath.Base(filepath.Dir(filepath.Join(folder, filepath.FromSlash(name))))
}

// detectEvents looks into the first lines of the first files.
func detectEvents(ctx context.Context, src *store.Source) store.Detection {
	names := func(yield func(string) bool) { slices.Values(listFiles(src.Folder))(yield) }
	return filelog.Recognize(ctx, src.Stream, src.Folder, names, "lines with type, data, id, timestamp and parentId", func(text []byte) bool {
		e := parseEvent(text)
		return e != nil && e.Data.Kind() == '{' && schema()[e.Type] != nil && (e.text("producer") == producer || len(e.ID)*len(e.Time)*len(e.Parent) > 0)
	})
}

// placeholder is what 1.0.102 sends in place of a result that is not where it looks for one, and interrupted
// begins what it writes as the result of a call that has none.
const (
	placeholder = "The execution of this tool, or a previous tool was interrupted."
	interrupted = "Tool execution was interrupted before a result was recorded"
)

// storeFacts are what is known of the store before a session is read.
func storeFacts(src *store.Source) session.Store {
	const instead = "sends an error in its place"
	const unanswered = instead + "; 1.0.24 sends the call alone, and the provider refuses that"
	return session.Store{
		Path: src.Path, Kind: kindName, Title: kindTitle, Bytes: src.Bytes, Generation: events,
		Runtime: session.Runtime{
			Name: kindTitle,
			Sanitiser: &session.Sanitiser{
				By: "Copilot CLI " + lastVersion + " and later", Pairs: "anthropic", Always: true, Result: placeholder, Elsewhere: placeholder,
				Tail: interrupted + ". Its effects may be absent, partial, or already complete, and other tools may have completed successfully. Check the current state before retrying; do not assume success or replay this operation blindly.",
			},
		},
		Requests: session.Requests{
			Model:  "claude",
			Adapts: map[string]string{"SC113": "leaves it out of requests, since the summary covers the other half"},
			Loses: map[string]string{
				"SC101": unanswered, "SC716": unanswered,
				"SC103": "leaves the result out of requests; 1.0.24 sends it, and the provider refuses that",
				"SC104": instead, "SC105": instead, "SC112": instead, "SC106": "sends the first of them", "SC107": "sends the first of them",
				"SC201": instead + ", after the second call", "SC202": "sends both calls",
			},
		},
		Versions: "written by Copilot CLI 1.0.24 to " + lastVersion,
		Children: session.Children{ChildrenClosed: true},
		Reader:   session.Reader{Retells: session.Retelling{Bare: true}},
		Keys:     session.Keys{Renumbers: true, KeepsIDs: true},
	}
}

// writerOf says whether a process has the session of a file. 1.0.102 locks inuse.PID.hold as long as it runs; of 1.0.24 there is
// its number alone.
func writerOf(root *os.Root, name string) session.Writer {
	writer := session.WriterDead
	notes := listFolder(root, path.Dir(name), "inuse.")
	for _, note := range notes {
		stem, isHold := strings.CutSuffix(note, ".hold")
		if isHold {
			if w := filelog.HolderOf(root, note); w != session.WriterDead {
				return w
			}
		} else if stem = strings.TrimSuffix(stem, ".lock"); !slices.Contains(notes, stem+".hold") {
			pid, _ := strconv.Atoi(strings.TrimPrefix(path.Ext(stem), "."))
			writer = min(writer, filelog.ProbeProcess(pid, "", ""))
		}
	}
	return writer
}

// titleOf is what the file beside says that the session is called.
func titleOf(f *logstore.File) string {
	if f.Root == nil {
		return ""
	}
	const most = 1 << 16
	text, _ := filelog.Read(f.Root, path.Join(path.Dir(f.Name), "workspace.yaml"), most)
	for line := range strings.Lines(string(text)) {
		if key, title, _ := strings.Cut(strings.TrimSpace(line), ": "); key == "name" || key == "summary" {
			return strings.ReplaceAll(strings.Trim(title, `'"`), "''", "'")
		}
	}
	return ""
}

// glanceAt is when a line was written, and whether somebody is sent it. What cannot be read is an item, too.
func glanceAt(line []byte) (at time.Time, said bool) {
	e := parseEvent(line)
	if e == nil {
		return at, true
	}
	at, _ = time.Parse(time.RFC3339, textOf(e.Time))
	return at, kinds[e.Type].isSent()
}

// plainLine is a line without whose it is, and what is before it.
func plainLine(line []byte) []byte {
	if parseEvent(line) == nil {
		return line
	}
	return mended(line, mend{pointer: "/agentId"}, mend{pointer: "/data/parentToolCallId"}, mend{pointer: "/parentId"})
}

// relatePassed sends what is no longer passed over. What Copilot CLI wrote of a call when it was resumed stays so.
func relatePassed(s *session.Session) {
	if slices.ContainsFunc(s.Faults, func(f session.Fault) bool {
		return f.Kind == session.HiddenRecord || f.Kind == session.Undecodable && f.Default != nil
	}) {
		return
	}
	for i := range s.Items {
		it := &s.Items[i]
		it.Passed = it.Passed && len(it.Results) > 0 && it.Results[0].Synthetic
	}
}

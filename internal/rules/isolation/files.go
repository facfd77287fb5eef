package isolation

import (
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// fileUse is a file that an own item of a session names.
type fileUse struct {
	item   int
	path   string // below the store's folder, or as the tool was given it
	writes bool
	put    bool  // a result was put there
	bytes  int64 // 0 when nobody looked at the file
}

// files are the files that a session uses, in stored order: those that the reader of
// the store looked at, else those that calls name in their arguments, which are
// known where texts are loaded. Calls that failed used nothing.
func files(s *rules.Subject) []fileUse {
	var list []fileUse
	failed := failedCalls(s)
	for i := range s.Items {
		it := &s.Items[i]
		if s.Replay.Steps[i].Action != replay.Persist {
			continue
		}
		for n := range it.Outputs {
			if o := &it.Outputs[n]; o.Real != "" {
				list = append(list, fileUse{
					item: i, path: path.Clean(o.Real), bytes: o.Bytes,
					writes: writesOutputs(it) && !digested.MatchString(o.Real), put: len(it.Calls) == 0,
				})
			}
		}
		for n := range it.Calls {
			if len(it.Outputs) > 0 || failed[pairing.Occurrence{Item: i, Nth: n}] {
				continue
			}
			if name := fileOf(it.Calls[n].Args, s.Workspace); name != "" {
				list = append(list, fileUse{item: i, path: name, writes: writesFiles(it.Calls[n].Name)})
			}
		}
	}
	return list
}

// failedCalls are the calls whose result says that they failed.
func failedCalls(s *rules.Subject) map[pairing.Occurrence]bool {
	failed := map[pairing.Occurrence]bool{}
	for _, pair := range s.Pairs.Pairs {
		if s.ResultAt(pair.Result).IsError {
			failed[pair.Call] = true
		}
	}
	return failed
}

// fileOf is the file that the arguments of a call name, "" for none. A relative one
// is meant below the folder that the call names as its own, else below the agent's.
func fileOf(args, workspace string) string {
	var given map[string]any
	if json.Unmarshal([]byte(args), &given) != nil {
		return ""
	}
	text := func(key string) string { t, _ := given[key].(string); return t }
	for _, key := range []string{"path", "file_path", "file", "url"} {
		name := text(key)
		if key == "url" {
			name = ofFileURL(name)
		}
		if name == "" {
			continue
		}
		for _, folder := range []string{text("cwd"), workspace} {
			if !path.IsAbs(name) {
				name = path.Join(folder, name)
			}
		}
		return path.Clean(name)
	}
	return ""
}

// ofFileURL is the path of a URL of a file, "" for any other.
func ofFileURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

// writers are the tools that change the file that they name, by their names without
// a server's name before them, in lower case and without "_" and "-". Sources: the
// filesystem toolsets of docker agent and MCP, Claude Code, Cline, Loom, the text
// editor of Anthropic.
var writers = map[string]bool{
	"writefile": true, "editfile": true, "createfile": true, "appendfile": true, "savefile": true,
	"deletefile": true, "removefile": true, "movefile": true, "writetofile": true, "replaceinfile": true,
	"write": true, "edit": true, "multiedit": true, "notebookedit": true,
	"strreplaceeditor": true, "strreplacebasededittool": true,
}

// writesFiles reports whether a tool of this name changes the file that it names.
func writesFiles(tool string) bool {
	if i := strings.LastIndexAny(tool, ":./"); i >= 0 {
		tool = tool[i+1:]
	}
	if i := strings.LastIndex(tool, "__"); i >= 0 {
		tool = tool[i+2:]
	}
	return writers[strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(tool))]
}

// digested are files that are named after their content (loom-py offloader: 16 hex
// digits before the ending). Who writes one again writes the same.
var digested = regexp.MustCompile(`_[0-9a-f]{16}\.[^./]*$`)

// writesOutputs reports whether the files of an item are ones that it wrote: what a
// result refers to was put there, what a call names only if its tool writes.
func writesOutputs(it *session.Item) bool {
	for n := range it.Calls {
		if writesFiles(it.Calls[n].Name) {
			return true
		}
	}
	return len(it.Calls) == 0
}

// liesIn reports whether a clean path is a folder or lies in it.
func liesIn(name, folder string) bool {
	folder = path.Clean(folder)
	if folder == "." {
		return !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
	}
	return name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// isShared reports whether every agent may use what lies there.
func isShared(l *rules.Isolation, name string) bool {
	for _, folder := range l.Shared {
		if liesIn(name, folder) {
			return true
		}
	}
	return false
}

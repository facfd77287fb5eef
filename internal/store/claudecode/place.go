package claudecode

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/session"
)

// noLetter finds what Claude Code writes as "-" in the name of a project's folder.
var noLetter = pattern.Lazy(`[^A-Za-z0-9]`)

// longestProject is up to where the name of a project's folder is that of its path.
const longestProject = 200

// findMisplaced tells where Claude Code finds a session, where that is another folder than the one that
// its newest lines were written in, or is gone: it looks below the name of the folder that it is
// started in (anthropics/claude-code#81603, #5768). Nil in a copy of its folder, which may come
// from another machine.
func (t *trunk) findMisplaced(s *session.Session) *session.Fault {
	c := t.chain
	project := t.projectName()
	if project == "" || len(project) >= longestProject || c.folder == "" || s.Writer == session.WriterLive {
		return nil
	}
	n := slices.IndexFunc(c.folders, func(f string) bool { return noLetter().ReplaceAllString(f, "-") == project })
	f := session.Fault{Kind: session.Misplaced, Item: -1, Ref: s.Ref(), Harmless: true}
	if n < 0 {
		f.Detail = fmt.Sprintf("Claude Code finds this session in the project %s only, and its newest lines were written in %s", project, c.folder)
		f.Remedy = "start Claude Code in the folder of that project to resume it"
		return &f
	}
	home := c.folders[n]
	_, err := os.Stat(home)
	elsewhere := c.folder != home && !strings.HasPrefix(c.folder, home+string(filepath.Separator))
	if err == nil && !elsewhere {
		return nil
	}
	f.Detail = fmt.Sprintf("Claude Code finds this session in %s only", home)
	f.Remedy = fmt.Sprintf("cd %s, and there claude --resume %s", home, s.ID)
	if err != nil {
		f.Detail += ", which does not exist"
		f.Remedy, f.Harmless = "make that folder, which may be empty; then "+f.Remedy, !elsewhere
	}
	if elsewhere {
		f.Detail += "; its newest lines were written in " + c.folder
	}
	return &f
}

// projectName is the name of the folder of a transcript's project, "" where it is not in the usual
// place on this machine.
func (t *trunk) projectName() string {
	if t.root == nil || t.piped != nil {
		return ""
	}
	folder, err := filepath.Abs(filepath.Join(t.root.Name(), filepath.Dir(filepath.FromSlash(t.name))))
	home, _ := os.UserHomeDir()
	if err != nil || !slices.Contains(listLocations(home), filepath.Dir(filepath.Dir(folder))) || filepath.Base(filepath.Dir(folder)) != projects {
		return ""
	}
	return filepath.Base(folder)
}

// findMissing tells of the sessions that processes noted and no transcript has. One that runs may have said nothing yet.
func (c *claude) findMissing() (faults []session.Fault) {
	has := map[string]bool{}
	for _, t := range c.list {
		has[strings.Split(t.id, "@")[0]] = true
	}
	if info, err := c.root.Stat(projects); err != nil || !info.IsDir() { // of one project
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(c.live)) {
		if n := c.live[id]; !has[id] && n.writer != session.WriterLive {
			faults = append(faults, session.Fault{
				Kind: session.Misplaced, Item: -1, Ref: session.Ref{Session: id, Table: session.TableSessions, Key: id}, Harmless: true,
				Detail: fmt.Sprintf("%s says that a process in %s had the session %s, and no transcript is called so: nothing was said in it, or the transcript was moved or deleted", n.name, n.folder, id),
			})
		}
	}
	return faults
}

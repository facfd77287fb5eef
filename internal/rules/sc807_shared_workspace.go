package rules

import (
	"path"

	"github.com/sessctl/sessctl/internal/session"
)

var sharedWorkspace = Rule{
	ID: "SC807", Name: "shared-workspace", Severity: Warning, Safety: None, Scope: PerTree, Optional: true, Bodies: true, Since: "0.1.0",
	Title: "two agents share a workspace, or one uses or overwrites what is the other's",
	Run: func(p *Pass) {
		owners := p.workspaces()
		p.reportSharedFolders(owners)
		writes, results := newFileWrites(), p.fileResults(owners)
		for _, s := range p.Subjects {
			p.reportOutside(s)
			p.reportForeignFiles(s, owners, writes)
			p.reportForeignResults(s, results)
		}
		for _, name := range writes.order {
			p.reportSharedFile(name, writes)
		}
	},
}

// reportForeignFiles tells of files in other agents' folders, once for each of these.
// What a session writes elsewhere goes to writes.
func (p *Pass) reportForeignFiles(s *Subject, owners map[string]*Subject, writes *fileWrites) {
	foreign := map[*Subject][]fileUse{}
	told := map[string]int{}
	var order []*Subject
	for _, use := range s.files() {
		owner := ownerOf(owners, use.path)
		if p.isolation().isShared(use.path) {
			continue
		}
		if owner == nil || owner == s || isOneAgent(owner, s) || s.Workspace != "" && liesIn(use.path, s.Workspace) {
			writes.add(s, use)
			continue
		}
		from, known := told[use.path]
		if !known {
			from = p.toldFrom(s, use.path)
			told[use.path] = from
		}
		if from <= use.item {
			continue
		}
		if foreign[owner] == nil {
			order = append(order, owner)
		}
		foreign[owner] = append(foreign[owner], use)
	}
	for _, owner := range order {
		p.reportCrossing(s, owner, foreign[owner])
	}
}

// workspaces are the sessions by their folders, the first of several.
func (p *Pass) workspaces() map[string]*Subject {
	owners := map[string]*Subject{}
	for _, s := range p.Subjects {
		if folder := path.Clean(s.Workspace); s.Workspace != "" && owners[folder] == nil {
			owners[folder] = s
		}
	}
	return owners
}

// ownerOf is whose folder a path lies in, of several the innermost one's; nil where it
// lies in nobody's.
func ownerOf(owners map[string]*Subject, name string) *Subject {
	if len(owners) == 0 {
		return nil
	}
	for {
		if owner := owners[name]; owner != nil {
			return owner
		}
		above := path.Dir(name)
		if above == name {
			return nil
		}
		name = above
	}
}

// isOneAgent reports whether two sessions are of one agent, whose folder is its own in
// each of its runs.
func isOneAgent(a, b *Subject) bool {
	agent := a.agentName()
	return agent != "" && agent == b.agentName()
}

// reportSharedFolders tells of agents whose folder is another one's, or lies in it.
func (p *Pass) reportSharedFolders(owners map[string]*Subject) {
	for _, s := range p.Subjects {
		folder := path.Clean(s.Workspace)
		if s.Workspace == "" || p.isolation().isShared(folder) {
			continue
		}
		owner, how := owners[folder], "is that of"
		if owner == s {
			owner, how = nil, "lies in that of"
			if above := path.Dir(folder); above != folder {
				owner = ownerOf(owners, above)
			}
		}
		if owner == nil || isOneAgent(owner, s) {
			continue
		}
		f := p.findSession(s.Session)
		f.Related = []session.Place{owner.At(-1)}
		f.Message = "the workspace " + quoted(folder) + " of " + s.whoseName() + " " + how + " " + owner.whoseName() + ": each can read and overwrite what the other keeps there"
		p.Report(f)
	}
}

// reportOutside tells of files that lie outside the store's folder.
func (p *Pass) reportOutside(s *Subject) {
	var items []int
	var names []string
	for i := range s.Items {
		for _, o := range s.Items[i].Outputs {
			if o.Outside && !p.isolation().isShared(path.Clean(o.Path)) {
				items = append(items, i)
				names = append(names, quoted(o.Path))
			}
		}
	}
	if len(items) == 0 {
		return
	}
	f := p.find(s.Session, items[0])
	f.Items = unique(items)
	f.Message = s.whoseName() + " refers to " + some(unique(names)) + ", outside the folder that holds all workspaces"
	p.Report(f)
}

// reportCrossing tells of files in another agent's folder.
func (p *Pass) reportCrossing(s, owner *Subject, uses []fileUse) {
	f := p.find(s.Session, uses[0].item)
	f.Nth = 1
	f.Items = nil
	var names []string
	for _, use := range uses {
		f.Items = append(f.Items, use.item)
		names = append(names, quoted(use.path))
	}
	f.Items = unique(f.Items)
	f.Related = []session.Place{owner.At(-1)}
	f.Message = s.whoseName() + " uses " + some(unique(names)) + " in the workspace of " + owner.whoseName() +
		", and nothing that it was told names them"
	p.Report(f)
}

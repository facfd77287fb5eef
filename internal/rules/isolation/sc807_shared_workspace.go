package isolation

import (
	"path"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var sharedWorkspace = rules.Rule{
	ID: "SC807", Name: "shared-workspace", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Bodies: true, Since: "0.1.0",
	Title: "two agents share a workspace, or one uses or overwrites files of the other",
	Run: func(p *rules.Pass) {
		owners := workspaceOwners(p)
		reportSharedFolders(p, owners)
		results := fileResults(p, owners)
		var writes []fileWrite
		for _, s := range p.Subjects {
			reportOutside(p, s)
			writes = append(writes, reportForeignFiles(p, s, owners)...)
			reportForeignResults(p, s, results)
		}
		reportSharedFiles(p, writes)
	},
}

// reportForeignFiles tells of files in other agents' folders, once for each of these, and returns
// what the session writes elsewhere.
func reportForeignFiles(p *rules.Pass, s *rules.Subject, owners map[string]*rules.Subject) (writes []fileWrite) {
	var foreign []fileUse
	told := map[string]int{}
	for _, use := range sessionFiles(s) {
		owner := ownerOf(owners, use.path)
		if isShared(p.Isolation(), use.path) {
			continue
		}
		if owner == nil || owner == s || isOneAgent(owner, s) || s.Workspace != "" && liesIn(use.path, s.Workspace) {
			if use.writes {
				writes = append(writes, fileWrite{use.path, partyOf(s, use.item), use.item})
			}
			continue
		}
		from, known := told[use.path]
		if !known {
			from = toldFrom(p, s, use.path)
			told[use.path] = from
		}
		if from > use.item {
			foreign = append(foreign, use)
		}
	}
	for _, uses := range lists.GroupBy(foreign, func(use fileUse) *rules.Subject { return ownerOf(owners, use.path) }) {
		reportCrossing(p, s, ownerOf(owners, uses[0].path), uses)
	}
	return writes
}

// workspaceOwners are the sessions by their folders, the first of several.
func workspaceOwners(p *rules.Pass) map[string]*rules.Subject {
	owners := map[string]*rules.Subject{}
	for _, s := range p.Subjects {
		if folder := path.Clean(s.Workspace); s.Workspace != "" && owners[folder] == nil {
			owners[folder] = s
		}
	}
	return owners
}

// ownerOf is whose folder a path lies in, of several the innermost one's; nil where it
// lies in nobody's.
func ownerOf(owners map[string]*rules.Subject, name string) *rules.Subject {
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
func isOneAgent(a, b *rules.Subject) bool {
	agent := agentName(a)
	return agent != "" && agent == agentName(b)
}

// reportSharedFolders tells of agents whose folder is another one's, or lies in it.
func reportSharedFolders(p *rules.Pass, owners map[string]*rules.Subject) {
	for _, s := range p.Subjects {
		folder := path.Clean(s.Workspace)
		if s.Workspace == "" || isShared(p.Isolation(), folder) {
			continue
		}
		owner, how := owners[folder], "is also that of"
		if owner == s {
			owner, how = nil, "is inside that of"
			if above := path.Dir(folder); above != folder {
				owner = ownerOf(owners, above)
			}
		}
		if owner == nil || isOneAgent(owner, s) {
			continue
		}
		f := p.FindSession(s.Session)
		f.Related = []session.Place{owner.ItemPlace(-1)}
		f.Message = "the workspace " + rules.QuoteText(folder) + " of " + whoseName(s) + " " + how + " " + whoseName(owner)
		f.AddSentence("Each can read and overwrite what the other keeps there")
		p.Report(f)
	}
}

// reportOutside tells of files that lie outside the store's folder.
func reportOutside(p *rules.Pass, s *rules.Subject) {
	var items []int
	var names []string
	for i := range s.Items {
		for _, o := range s.Items[i].Outputs() {
			if o.Outside && !isShared(p.Isolation(), path.Clean(o.Path)) {
				items = append(items, i)
				names = append(names, rules.QuoteText(o.Path))
			}
		}
	}
	p.ReportItems(s.Session, rules.SortUnique(items), func(f *rules.Finding) {
		f.Message = whoseName(s) + " refers to " + rules.JoinFew(rules.SortUnique(names)) + ", outside the folder that holds all workspaces"
	})
}

// reportCrossing tells of files in another agent's folder.
func reportCrossing(p *rules.Pass, s, owner *rules.Subject, uses []fileUse) {
	f := p.FindItems(s.Session, itemsOf(uses))
	f.Nth = 1
	names := lists.MapEach(uses, func(use fileUse) string { return rules.QuoteText(use.path) })
	f.Related = []session.Place{owner.ItemPlace(-1)}
	f.Message = whoseName(s) + " uses " + rules.JoinFew(rules.SortUnique(names)) + " in the workspace of " + whoseName(owner) + ". Nothing that it was told names these files."
	p.Report(f)
}

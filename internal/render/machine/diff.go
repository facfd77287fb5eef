package machine

import (
	"strings"

	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/session"
)

const diffSchema = "sessctl.diff/1"

type diffDocument struct {
	head
	Stores   diffStores    `json:"stores"`
	Sessions []diffSession `json:"sessions"` // those that differ, tree by tree: as B has them, then those that are gone
	Summary  diffSummary   `json:"summary"`
	ExitCode int           `json:"exit_code"` // of the program: docs/exit-codes.md
}

type diffStores struct {
	A diffStore `json:"a"` // the store before
	B diffStore `json:"b"` // the store after
}

type diffStore struct {
	Path       string `json:"path"` // as it was named
	Kind       string `json:"kind"`
	Generation string `json:"generation,omitzero"`
	Bytes      int64  `json:"bytes"`
	Roots      int    `json:"roots"`               // session trees in it
	Orphans    int    `json:"orphans,omitzero"`    // records that belong to no session; left out for none, and with `--session`
	Incomplete string `json:"incomplete,omitzero"` // why not everything could be read; left out when it was
}

type diffSession struct {
	ID     string      `json:"id"`
	Root   string      `json:"root"`   // root session of the tree, as B has it, else as A
	Change diff.Change `json:"change"` // `added`, `gone` or `changed`
	// of an added session that has items of other ones: the session that most of them were in
	From string `json:"from,omitzero"`
	// of a session that is gone and whose items all moved: the session that most of them are in
	Into string `json:"into,omitzero"`
	// items that are in another session now, where they are listed; left out for none
	MovedOut int          `json:"moved_out,omitzero"`
	Fields   []diff.Field `json:"fields,omitempty"` // what changed in the session itself
	Items    []diffItem   `json:"items,omitempty"`  // as B has them, then those that are gone
}

type diffItem struct {
	Change  diff.Change `json:"change"`            // `added`, `gone`, `moved` or `changed`
	A       *diffPlace  `json:"a,omitzero"`        // where it stood; left out for an added item
	B       *diffPlace  `json:"b,omitzero"`        // where it is; left out for one that is gone
	Kind    string      `json:"kind"`              // `message`, `sub_session`, `summary` or `other`
	Role    string      `json:"role,omitzero"`     // left out unless the item is a message
	Agent   string      `json:"agent,omitzero"`    // left out if the item has no agent
	Child   string      `json:"child,omitzero"`    // id of the sub-session, for `sub_session`
	Calls   []string    `json:"calls,omitempty"`   // ids; left out if there are none
	Results []string    `json:"results,omitempty"` // ids of the calls answered; left out if there are none
	// a message of B that says the same: of one that is gone the copy that stayed, of an added one of
	// an agent what another session of the tree has too
	Twin *diffPlace `json:"twin,omitzero"`
	// what changed: members of the canonical stream (`text`, `time`), JSON pointers to members of the
	// stored record (`/cost`), or `record` for something else in it; never values. A moved item may
	// have some, too
	Differences []string `json:"differences,omitempty"`
	Text        string   `json:"text,omitzero"`        // with `--full` only: its text, or that of its results, as B has it, else as A
	TextBefore  string   `json:"text_before,omitzero"` // with `--full` only: what A has, where that differs
}

type diffPlace struct {
	session.Place
	Key string `json:"key"` // the record, as `key` of a finding
}

type diffSummary struct {
	Roots    diff.Counts    `json:"roots"`    // session trees
	Sessions diff.Counts    `json:"sessions"` // sessions, sub-sessions included
	Items    diffItemCounts `json:"items"`    // items, those of added and gone sessions among them
}

type diffItemCounts struct {
	diff.Counts
	Moved int `json:"moved"`
}

// diffJSON prints one document when all is known.
type diffJSON struct {
	render.DiffOptions
	sessions []diffSession
}

// NewDiff prints one document when all is known.
func NewDiff(o render.DiffOptions) render.DiffWriter { return &diffJSON{DiffOptions: o} }

func (d *diffJSON) Tree(tree *diff.Tree) error {
	for i := range tree.Sessions {
		s := &tree.Sessions[i]
		d.sessions = append(d.sessions, diffSession{
			ID: s.ID(), Root: tree.Root.ID, Change: s.Change, From: s.From, Into: s.Into, MovedOut: s.Left,
			Fields: s.Fields, Items: lists.MapEach(s.Items, d.itemObject),
		})
	}
	return nil
}

func (d *diffJSON) itemObject(it diff.Item) diffItem {
	now := it.Now()
	out := diffItem{
		Change: it.Change, A: (*diffPlace)(it.A), B: (*diffPlace)(it.B), Kind: now.Kind.String(), Role: now.Role.String(), Agent: now.Agent(),
		Child: now.Child(), Calls: callIDs(now), Results: ResultIDs(now), Twin: (*diffPlace)(it.Twin), Differences: it.Differences,
	}
	if d.Full {
		out.Text = textOf(now)
		if it.Was != nil && it.Is != nil && textOf(it.Was) != out.Text {
			out.TextBefore = textOf(it.Was)
		}
	}
	return out
}

// textOf is the text of an item with those of its results, as in the JSON of a view.
func textOf(it *session.Item) string {
	var parts []string
	if it.Body != nil && it.Body.Text != "" {
		parts = append(parts, it.Body.Text)
	}
	for i := range it.Results {
		parts = append(parts, it.Results[i].Text)
	}
	return strings.Join(parts, "\n")
}

func (d *diffJSON) Close(end render.DiffEnd) error {
	return JSON(d.Screen.Plain(), diffDocument{
		head: head{diffSchema, d.Tool}, Stores: diffStores{diffStoreOf(&d.A), diffStoreOf(&d.B)}, Sessions: d.sessions,
		Summary:  diffSummary{end.Tally.Trees, end.Tally.Sessions, diffItemCounts{end.Tally.Items, end.Tally.Items.Moved}},
		ExitCode: end.ExitCode,
	})
}

func diffStoreOf(s *render.DiffStore) diffStore {
	return diffStore{s.Path, s.Kind, s.Generation, s.Bytes, s.Trees, s.Orphans, s.Incomplete}
}

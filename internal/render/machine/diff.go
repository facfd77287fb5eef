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
	Schema   string        `json:"schema"`
	Tool     render.Tool   `json:"tool"`
	Stores   diffStores    `json:"stores"`
	Sessions []diffSession `json:"sessions"`
	Summary  diffSummary   `json:"summary"`
	ExitCode int           `json:"exit_code"`
}

type diffStores struct {
	A diffStore `json:"a"`
	B diffStore `json:"b"`
}

type diffStore struct {
	Path       string `json:"path"`
	Kind       string `json:"kind"`
	Generation string `json:"generation,omitzero"`
	Bytes      int64  `json:"bytes"`
	Roots      int    `json:"roots"`
	Orphans    int    `json:"orphans,omitzero"`
	Incomplete string `json:"incomplete,omitzero"`
}

type diffSession struct {
	ID       string       `json:"id"`
	Root     string       `json:"root"`
	Change   diff.Change  `json:"change"`
	From     string       `json:"from,omitzero"`
	Into     string       `json:"into,omitzero"`
	MovedOut int          `json:"moved_out,omitzero"`
	Fields   []diff.Field `json:"fields,omitempty"`
	Items    []diffItem   `json:"items,omitempty"`
}

type diffItem struct {
	Change      diff.Change `json:"change"`
	A           *diffPlace  `json:"a,omitzero"`
	B           *diffPlace  `json:"b,omitzero"`
	Kind        string      `json:"kind"`
	Role        string      `json:"role,omitzero"`
	Agent       string      `json:"agent,omitzero"`
	Child       string      `json:"child,omitzero"`
	Calls       []string    `json:"calls,omitempty"`
	Results     []string    `json:"results,omitempty"`
	Twin        *diffPlace  `json:"twin,omitzero"`
	Differences []string    `json:"differences,omitempty"`
	Text        string      `json:"text,omitzero"`
	TextBefore  string      `json:"text_before,omitzero"`
}

type diffPlace struct {
	session.Place
	Key string `json:"key"`
}

type diffSummary struct {
	Roots    diff.Counts    `json:"roots"`
	Sessions diff.Counts    `json:"sessions"`
	Items    diffItemCounts `json:"items"`
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
		Change: it.Change, A: (*diffPlace)(it.A), B: (*diffPlace)(it.B), Kind: now.Kind.String(), Role: now.Role.String(), Agent: now.Agent,
		Child: now.Child, Calls: callIDs(now), Results: ResultIDs(now), Twin: (*diffPlace)(it.Twin), Differences: it.Differences,
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
		Schema: diffSchema, Tool: d.Tool, Stores: diffStores{diffStoreOf(&d.A), diffStoreOf(&d.B)}, Sessions: d.sessions,
		Summary:  diffSummary{end.Tally.Trees, end.Tally.Sessions, diffItemCounts{end.Tally.Items, end.Tally.Items.Moved}},
		ExitCode: end.ExitCode,
	})
}

func diffStoreOf(s *render.DiffStore) diffStore {
	return diffStore{s.Path, s.Kind, s.Generation, s.Bytes, s.Trees, s.Orphans, s.Incomplete}
}

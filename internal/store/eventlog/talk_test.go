package eventlog_test

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// form is a made-up kind of store: talks with lines.
type form struct {
	name   string
	scoped bool // a talk has an app and a user, too, and lines have their ids within it
	number bool // lines are numbered; else they have times
	schema string
	extend func(*eventlog.Layout) // nil for none
}

var (
	timed = form{name: "times", scoped: true, schema: `
		create table talks(app text, user text, id text, note text, version integer not null default 0, primary key(app, user, id));
		create table lines(id text, app text, user text, talk text, at integer, role text, branch text, archived integer, extra, said text,
			primary key(id, app, user, talk), foreign key(app, user, talk) references talks(app, user, id) on delete cascade)`}
	counted = form{name: "autoincrement", number: true, schema: `
		create table talks(id text primary key, note text, version integer not null default 0);
		create table lines(at integer primary key autoincrement, id text unique, talk text references talks(id) on delete cascade,
			role text, branch text, archived integer, extra, said text)`}
	rowNumbered = form{name: "integer primary key", number: true, schema: strings.Replace(counted.schema, "autoincrement", "", 1)}
	free        = form{name: "numbers without a key", number: true, schema: strings.NewReplacer("at integer primary key autoincrement", "at integer not null",
		"id text unique", "id text primary key").Replace(counted.schema)}
	loose = form{name: "no keys at all", scoped: true, schema: `
		create table talks(app, user, id, note, version default 0);
		create table lines(id, app, user, talk, at, role, branch, archived, extra, said)`}
	forms = []form{timed, counted, rowNumbered, free, loose, linked, parented}
)

// said is what a line says, as JSON.
type said struct {
	Text    string            `json:"text,omitempty"`
	Calls   []string          `json:"calls,omitempty"`
	Asks    map[string]string `json:"asks,omitempty"` // the talk that a call started
	Results []answer          `json:"results,omitempty"`
}

type answer struct {
	Call string `json:"call"`
	Text string `json:"text"`
	From string `json:"from,omitempty"` // the talk that gave it
}

func (f form) layout() *eventlog.Layout {
	key, columns := []string{"id"}, []string{"id", "note", "version"}
	owner := []string{"talk"}
	if f.scoped {
		key, owner = []string{"app", "user", "id"}, []string{"app", "user", "talk"}
		columns = append([]string{"app", "user"}, columns...)
	}
	l := &eventlog.Layout{
		Sessions: eventlog.Table{Name: "talks", Columns: columns, Key: key},
		Events: eventlog.Table{
			Name: "lines", Key: owner, ID: "id",
			Columns: append([]string{"id", "at", "role", "branch", "archived", "extra", "said"}, owner...),
		},
		Place: []string{"at"},
		Order: func(written table.Place, place eventlog.Row) (at, tie int64) {
			at, _ = place.Value("at").(int64)
			return at, -int64(written)
		},
		Session: func(row eventlog.Row) *session.Session {
			note, _ := row.Value("note").(string)
			s := &session.Session{Title: strings.Clone(note)}
			if note == "" {
				s.Faults = []session.Fault{{Kind: session.RequiredNull, Field: "note"}}
			}
			return s
		},
		Item: decodeLine, Finish: finish,
		Said: []string{"role", "branch", "said"},
		Content: func(column string, value any) any {
			if text, ok := value.(string); ok && column == "said" {
				return strings.TrimSpace(text)
			}
			return value
		},
		Write: eventlog.Write{Insert: f.insert, Part: f.part, Update: f.update, Session: talkAfter},
	}
	if f.number {
		l.Write.Renumber = []string{"at"}
	}
	if f.extend != nil {
		f.extend(l)
	}
	return l
}

func decodeLine(row eventlog.Row, it *session.Item, body bool) []session.Fault {
	text, _ := row.Value("said").(string)
	role, _ := row.Value("role").(string)
	branch, _ := row.Value("branch").(string)
	it.Role, it.Own().Branch = session.ParseRole(role), strings.Clone(branch)
	if row.Value("archived") == int64(1) {
		it.Flags |= session.Archived
	}
	if body {
		it.Body = &session.Body{Raw: []byte(text)}
	}
	var doc said
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		it.Kind = session.Other
		return []session.Fault{{Kind: session.Undecodable, Field: "said", Detail: "it is no JSON", Ref: session.Ref{Pointer: "/said"}}}
	}
	var m session.Meaning
	m.Reset(it.Role, "")
	it.Text = session.DigestOf(doc.Text)
	m.AddDigest(it.Text)
	for _, id := range doc.Calls {
		call := session.Call{ID: id}
		if child := doc.Asks[id]; child != "" {
			call.Delegation = &session.Delegation{Child: child}
		}
		it.Calls = append(it.Calls, call)
		m.AddDigest(session.DigestOf(id))
	}
	m.AddMark(1)
	for _, r := range doc.Results {
		result := session.Result{CallID: r.Call, Digest: session.DigestOf(r.Text), Child: r.From}
		if body {
			result.Text = r.Text
		}
		it.Results = append(it.Results, result)
		m.AddDigest(session.DigestOf(r.Call))
		m.AddDigest(result.Digest)
	}
	if body {
		it.Body.Text = doc.Text
		for i := range it.Calls {
			it.Calls[i].Args = "{}"
		}
	}
	it.Meaning = m.Digest()
	return nil
}

// finish marks every result but the last one of a call as pending.
func finish(s *session.Session) {
	last := map[string]*session.Result{}
	for i := range s.Items {
		for n := range s.Items[i].Results {
			r := &s.Items[i].Results[n]
			if earlier := last[r.CallID]; earlier != nil {
				earlier.Pending = true
			}
			last[r.CallID] = r
		}
	}
}

func encodeLine(it *session.Item) string {
	doc := said{Text: it.Body.Text}
	for i := range it.Calls {
		doc.Calls = append(doc.Calls, it.Calls[i].ID)
		if d := it.Calls[i].Delegation; d != nil {
			if doc.Asks == nil {
				doc.Asks = map[string]string{}
			}
			doc.Asks[it.Calls[i].ID] = path.Base(d.Child)
		}
	}
	for i := range it.Results {
		r := answer{Call: it.Results[i].CallID, Text: it.Results[i].Text}
		if child := it.Results[i].Child; child != "" {
			r.From = path.Base(child)
		}
		doc.Results = append(doc.Results, r)
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (f form) insert(_ *session.Session, it *session.Item, _ *docedit.Row, _ string) ([]table.Field, error) {
	row := []table.Field{
		{Name: "role", Value: it.Role.String()}, {Name: "branch", Value: orNull(it.Branch())},
		{Name: "archived", Value: int64(0)}, {Name: "said", Value: encodeLine(it)},
	}
	if !f.number {
		row = append(row, table.Field{Name: "at", Value: it.Position})
	}
	return row, nil
}

func (f form) part(s *session.Session, c *change.Item, row *docedit.Row, id string) ([]table.Field, error) {
	var doc said
	if err := json.Unmarshal([]byte(row.Value("said").(string)), &doc); err != nil {
		return nil, err
	}
	one, nth := *c.Is, c.Part
	one.Body = &session.Body{}
	one.Results = []session.Result{{CallID: doc.Results[nth].Call, Text: doc.Results[nth].Text}}
	return f.insert(s, &one, row, id)
}

func (f form) update(row *docedit.Row, c *change.Item) error {
	before, after, taken := c.Was, c.Is, c.Taken
	change := func(column string, differs bool, value any) {
		if differs {
			row.Set(column, value)
		}
	}
	change("at", !f.number && before.Position != after.Position, after.Position)
	change("branch", before.Branch() != after.Branch(), orNull(after.Branch()))
	archived := after.Flags.Has(session.Archived)
	change("archived", before.Flags.Has(session.Archived) != archived, map[bool]int64{true: 1}[archived])
	ids := func(it *session.Item) (ids []string) {
		for i := range it.Calls {
			ids = append(ids, it.Calls[i].ID)
			if d := it.Calls[i].Delegation; d != nil {
				ids = append(ids, d.Child)
			}
		}
		for i := range it.Results {
			ids = append(ids, it.Results[i].Child)
		}
		return ids
	}
	if len(taken) > 0 || !slices.Equal(ids(before), ids(after)) {
		change("said", true, encodeLine(after))
	}
	return nil
}

func talkAfter(row *docedit.Row, _ *change.Session) error {
	row.Set("version", row.Value("version").(int64)+1)
	return nil
}

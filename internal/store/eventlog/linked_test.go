package eventlog_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// linked is a form whose lines name the talks that theirs started, have ids of their
// own and can go to another talk, and which keeps the errands of a talk beside them.
var linked = form{name: "linked talks", scoped: true, extend: link, schema: `
	create table talks(app text, user text, id text, note text, version integer not null default 0, primary key(app, user, id));
	create table lines(id text, app text, user text, talk text, at integer, role text, branch text, archived integer, extra, said text,
		primary key(id, app, user), foreign key(app, user, talk) references talks(app, user, id) on delete cascade);
	create table errands(id text primary key, talk text, user text, state text)`}

type errand struct {
	row             table.Place
	talk, id, state string
}

// errands are what Prepare reads: the errands of every talk, by "user/talk".
type errands map[string][]errand

func link(l *eventlog.Layout) {
	known := errands{}
	l.Prepare = known.read
	l.LinkColumns, l.Links = []string{"said"}, childrenOf
	l.OneID = true
	l.OtherTables = func(key []table.Value) []byte { return fmt.Append(nil, known[of(key[1], key[2])]) }
	plain, finished := l.Session, l.Finish
	l.Session = func(row eventlog.Row) *session.Session {
		s := plain(row)
		for _, e := range known[of(row.Value("user"), row.Value("id"))] {
			s.Runs = append(s.Runs, session.Run{ID: e.id, State: e.state})
		}
		return s
	}
	l.Finish = func(s *session.Session) {
		reorder(s)
		finished(s)
	}
	l.Write.Create = create
	l.Write.OtherTables, l.Write.OtherNames = known.write, []string{"errands"}
}

func of(user, talk any) string { return fmt.Sprintf("%s/%s", user, talk) }

func (known errands) read(ctx context.Context, db table.Reader, _ [][]table.Value) error {
	clear(known)
	all := table.Selection{Table: "errands", Columns: []string{"id", "user", "talk", "state"}}
	_, err := db.Scan(ctx, all, func(at table.Place, row []table.Value) error {
		of := of(row[1], row[2])
		known[of] = append(known[of], errand{at, kept(row[2]), kept(row[0]), kept(row[3])})
		return nil
	})
	return err
}

func kept(v table.Value) string { return table.CloneValue(v).(string) }

// write gives the errands of a change their talks.
func (known errands) write(ctx context.Context, edit table.Writer, sessions []*change.Session) error {
	now := map[string]string{}
	for _, s := range sessions {
		for _, r := range s.Is.Runs {
			now[r.ID] = path.Base(s.Is.ID)
		}
	}
	var all []errand
	for _, list := range known {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b errand) int { return int(a.row - b.row) })
	for _, e := range all {
		if talk, ok := now[e.id]; ok && talk != e.talk {
			err := edit.Update(ctx, "errands", e.row, []table.FieldChange{{Name: "talk", Old: e.talk, New: talk}})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// childrenOf are the talks that a line names.
func childrenOf(row eventlog.Row) (ids []string) {
	text, _ := row.Value("said").(string)
	var doc said
	if json.Unmarshal([]byte(text), &doc) != nil {
		return nil
	}
	for _, r := range doc.Results {
		if r.From != "" {
			ids = append(ids, r.From)
		}
	}
	for _, id := range doc.Asks {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// reorder puts lines of one time into the order of their ids.
func reorder(s *session.Session) {
	slices.SortFunc(s.Items, func(a, b session.Item) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Key, b.Key))
	})
	for i := range s.Faults {
		if f := &s.Faults[i]; f.Item >= 0 {
			f.Item = slices.IndexFunc(s.Items, func(it session.Item) bool { return it.Key == f.Ref.Key })
		}
	}
}

func create(s *session.Session, like eventlog.Row) ([]table.Field, error) {
	return []table.Field{
		{Name: "app", Value: like.Value("app")}, {Name: "user", Value: like.Value("user")},
		{Name: "id", Value: s.ID}, {Name: "note", Value: s.Title},
	}, nil
}

// asked is a line of a talk whose result names the talks that gave it.
func asked(user, talk, id string, at int, from ...string) string {
	var doc said
	for i, child := range from {
		doc.Results = append(doc.Results, answer{Call: fmt.Sprint("c", i), Text: "done", From: child})
	}
	return spoken(user, talk, id, at, "tool", doc)
}

func spoken(user, talk, id string, at int, role string, doc said) string {
	text, _ := json.Marshal(doc) // never fails on texts
	return fmt.Sprintf("insert into lines(id, app, user, talk, at, role, said) values('%s', 'a', '%s', '%s', %d, '%s', '%s')", id, user, talk, at, role, text)
}

// treesOf reads all trees of a store.
func treesOf(t tester, st store.Store, bodies bool) []*session.Tree {
	t.Helper()
	var list []*session.Tree
	for tree, err := range st.Trees(context.Background()) {
		if err == nil && bodies {
			err = st.Fill(context.Background(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tree)
	}
	return list
}

// shown writes trees as their sessions in order, each with its children: "p(c) c | x".
func shown(trees []*session.Tree) string {
	var all []string
	for _, tree := range trees {
		var words []string
		for _, s := range tree.Sessions {
			var children []string
			for _, c := range s.Children {
				children = append(children, c.ID)
			}
			word := s.ID
			if children != nil {
				word += "(" + strings.Join(children, ",") + ")"
			}
			words = append(words, word)
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, " | ")
}

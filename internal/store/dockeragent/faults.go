package dockeragent

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// reportOrphans reports the rows of the item table that belong to no session, and those of them
// that are damaged, because no session can tell of them. lost says that rows of the
// sessions table could not be read.
func (st *agentStore) reportOrphans(lost bool) []session.Fault {
	var list, damaged []session.Fault
	for id, number := range st.numbers {
		if st.findSession(id) != nil {
			continue
		}
		first := st.firstItemKey(number)
		why := "which does not exist"
		if lost {
			why = "whose own row is damaged or does not exist"
		}
		list = append(list, session.Fault{
			Kind: session.ForeignKey, Item: -1, Ref: session.Ref{Session: id, Table: tableItems, Key: first}, Count: st.countItems(number), Lost: true,
			Detail: fmt.Sprintf("%s has %s, from row %s on, of session %s, %s", tableItems, formatCount(st.countItems(number), "row"), first, idText(id), why),
		})
		for _, p := range st.parts {
			for _, f := range p.faults[number] {
				if f.Kind == session.StoreDamaged {
					f.Item = -1
					damaged = append(damaged, f)
				}
			}
		}
	}
	byRow := func(a, b session.Fault) int {
		return cmp.Or(cmp.Compare(len(a.Ref.Key), len(b.Ref.Key)), cmp.Compare(a.Ref.Key, b.Ref.Key))
	}
	slices.SortFunc(list, byRow)
	slices.SortFunc(damaged, byRow)
	return append(list, damaged...)
}

// firstItemKey is the key of the first row that the item table has for a session.
func (st *agentStore) firstItemKey(number uint32) string {
	first := int64(math.MaxInt64)
	for _, p := range st.parts {
		for it := range p.log.Items(number) {
			if row, err := strconv.ParseInt(it.Key, 10, 64); err == nil {
				first = min(first, row)
			}
		}
	}
	return rowKey(first)
}

// formatCount formats "1 row", "3 rows".
func formatCount(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// idText is an id in quotes, its start only where it is very long.
func idText(id string) string {
	const longest = 40
	if len(id) <= longest {
		return strconv.Quote(id)
	}
	return strconv.Quote(strings.ToValidUTF8(id[:longest], "")) + "…"
}

// findBackup looks for the backup that versions from v1.20.0 on made when they
// replaced a database by an empty one (docs/stores/docker-agent.md#how-it-is-opened), and counts what only it holds. A
// backup that cannot be read is nothing to report here.
func (st *agentStore) findBackup(ctx context.Context) []session.Fault {
	path := st.facts.Path + ".bak"
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil
	}
	defer func() { _ = db.Close() }()
	lacking := 0
	err = db.Scan(ctx, "select count({scan}(id)) from sessions where id is not null", func(v []driver.Value) error {
		if st.findSession(column.View(v[0])) == nil {
			lacking++
		}
		return nil
	})
	if err != nil || lacking == 0 {
		return nil
	}
	return []session.Fault{{
		Kind: session.SetAsideBackup, Item: -1, Ref: session.Ref{Table: "backup", Key: filepath.Base(path)}, Count: lacking,
		Detail: fmt.Sprintf("%s holds %s that this store lacks: docker agent renamed it when it could not open it", path, formatCount(lacking, "session")),
		Remedy: "copy its sessions into a stream, which every command reads: `sessctl export " + shell.Path(path) + " --output " + shell.Path(path+".ndjson") + "`",
	}}
}

// countStrayMedia counts the records of generated media that belong to no session.
// They have no foreign key on purpose (docs/stores/docker-agent.md#what-is-read): files outlive their sessions.
func (st *agentStore) countStrayMedia(ctx context.Context) []session.Fault {
	if !st.schema.has("generated_media_manifest", "session_id") {
		return nil
	}
	var stray int
	err := st.db.QueryRow(ctx, "select count(*) from generated_media_manifest where session_id not in (select id from sessions not indexed)").Scan(&stray)
	if err != nil || stray == 0 {
		return nil
	}
	return []session.Fault{{
		Kind: session.Housekeeping, Item: -1, Ref: session.Ref{Table: "generated_media_manifest", Key: "*"}, Count: stray,
		Detail: fmt.Sprintf("generated_media_manifest has %s of deleted sessions, which may still be in the data folder", formatCount(stray, "file")),
	}}
}

// compareCosts reports sessions that record a higher cost than their messages
// and those of their sub-sessions add up to: then some were lost. A lower one
// says nothing, because the record lags behind.
func (st *agentStore) compareCosts(tree *session.Tree) {
	sums := map[*session.Session]float64{}
	for i := len(tree.Sessions) - 1; i >= 0; i-- { // children come after their parents
		s := tree.Sessions[i]
		for _, p := range st.parts {
			sums[s] += p.costs[st.numbers[s.ID]]
		}
		for _, c := range s.Children {
			sums[s] += sums[c]
		}
		if recorded := st.costs[s.ID]; recorded > sums[s]*1.01+0.001 {
			s.Faults = append(s.Faults, session.Fault{
				Kind: session.Housekeeping, Item: -1, Ref: s.Ref(), Field: "cost",
				Detail: fmt.Sprintf("the session records a cost of $%.4f, its messages add up to $%.4f: messages were lost or deleted", recorded, sums[s]),
			})
		}
	}
}

// dropExplained leaves out the violated foreign keys that are reported as what
// they are: items of a missing session, dangling references (SC704) and missing
// parents (SC705).
func (st *agentStore) dropExplained(ctx context.Context, deep []session.Fault) []session.Fault {
	return slices.DeleteFunc(deep, func(f session.Fault) bool {
		if f.Kind != session.ForeignKey {
			return false
		}
		if f.Ref.Table != "sessions" {
			return f.Ref.Table == tableItems
		}
		var parent *string
		err := st.db.QueryRow(ctx, "select parent_id from sessions where "+st.schema.rowid[tableSessions]+" = ?", f.Ref.Key).Scan(&parent)
		if err != nil || parent == nil {
			return false
		}
		return st.findSession(*parent) == nil
	})
}

// noteIndexRefs notes the numbers within JSON columns that mean other items now.
func noteIndexRefs(r rowEdit, before, after []session.IndexRef) {
	for _, now := range after {
		for _, was := range before {
			if now.Ref.Pointer != was.Ref.Pointer || now.Index == was.Index {
				continue
			}
			column := strings.TrimPrefix(strings.TrimSuffix(now.Ref.Pointer, now.Pointer), "/")
			r[column] = replaceNumberAfter(r[column], now.Pointer, was.Index, now.Index)
		}
	}
}

// replaceNumberAfter replaces one number after what first does, if anything.
func replaceNumberAfter(first rewrite, pointer string, was, now int64) rewrite {
	return func(stored driver.Value) (any, bool) {
		if first != nil {
			value, ok := first(stored)
			if !ok {
				return nil, false
			}
			stored = value
		}
		return replaceNumber(column.Text(stored), pointer, was, now)
	}
}

// replaceNumber replaces the number at a JSON pointer and leaves every other
// byte as it is.
func replaceNumber(text, pointer string, was, now int64) (_ string, ok bool) {
	if raw, _ := jsonedit.RawValue([]byte(text), pointer); string(raw) != strconv.FormatInt(was, 10) {
		return "", false
	}
	doc, err := jsonedit.SetValue([]byte(text), pointer, strconv.AppendInt(nil, now, 10))
	return string(doc), err == nil
}

// moveBranchPositions moves the places at which other sessions branched off from a
// session whose items changed (generations 016 to 018).
func (w *writer) moveBranchPositions(ctx context.Context) error {
	if !w.schema.has(tableSessions, "branch_parent_position") {
		return nil
	}
	moved := map[int64]rowEdit{}
	columns := []string{"branch_parent_session_id", "branch_parent_position"}
	err := scanRows(ctx, w.edit.DB(), w.schema, tableSessions, columns[0], columns, w.listed.queryParameter(),
		func(rowid int64, values []driver.Value) error {
			id := column.Text(values[0])
			was, ok := values[1].(int64)
			if !ok || w.change.Before.Session(id) == nil {
				return nil
			}
			now := session.RemapIndex(w.change.Before.Session(id), w.change.After.Session(id), was)
			if now != was {
				moved[rowid] = rowEdit{columns[1]: replaceKnown(now, func(v driver.Value) bool { return v == was })}
			}
			return nil
		})
	if err != nil {
		return err
	}
	return w.updateRows(ctx, tableSessions, moved)
}

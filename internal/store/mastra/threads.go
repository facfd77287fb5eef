package mastra

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// prepareTables reads what has to be known of all threads: whose they are, which of them no call
// names, which runs wait, and what is not sent any more.
func (r *reader) prepareTables(ctx context.Context, _ table.Reader, of [][]table.Value) error {
	if of == nil {
		r.threads, r.ranks, r.waiting, r.observed = map[string]string{}, map[string]int64{}, map[string]bool{}, map[string]bool{}
	}
	for _, key := range of {
		delete(r.threads, column.View(key[0]))
	}
	var err error
	each := func(name string, columns []string, fn func(row []table.Value)) {
		if err == nil {
			_, err = table.GlanceAt(ctx, r.Reader, name, columns, of, fn)
		}
	}
	each(tableThreads, []string{"id", fieldResource}, func(row []table.Value) { r.threads[column.Text(row[0])] = column.Text(row[1]) })
	r.readMessages(each)
	of = nil
	each(tableSnapshots, []string{"run_id"}, func(row []table.Value) { r.waiting[column.Text(row[0])] = true })
	each(tableObserved, []string{"observedMessageIds"}, func(row []table.Value) {
		var ids []string
		_ = jsonscan.Exact.Unmarshal(column.Bytes(row[0]), &ids) // what is no list tells nothing
		for _, id := range ids {
			r.observed[id] = true
		}
	})
	return err
}

// readMessages reads of all messages when they were, and whose: of a thread that has no row, or
// one that does not say, they tell.
func (r *reader) readMessages(each func(name string, columns []string, fn func(row []table.Value))) {
	same := func(row []table.Value) session.Digest {
		at := column.View(row[1])
		if times.Read(row[1]).IsZero() { // which all come last
			at = ""
		}
		return session.DigestOf(column.View(row[0]) + "\x00" + at)
	}
	count, tied := map[session.Digest]int{}, map[session.Digest][]string{}
	lost := map[string]table.Image{}
	each(tableMessages, []string{"thread_id", fieldTime, fieldResource}, func(row []table.Value) {
		count[same(row)]++
		id := column.View(row[0])
		owner, known := r.threads[id]
		if !known {
			id = strings.Clone(id)
			lost[id] = table.Image{"id": id} // without a title, which its row gets
		}
		if owner == "" {
			r.threads[strings.Clone(id)] = column.Text(row[2])
		}
		if t := lost[id]; t != nil {
			at := column.Text(row[1])
			first, _ := t[fieldTime].(string)
			last, _ := t[fieldUpdated].(string)
			t[fieldTime], t[fieldUpdated] = min(cmp.Or(first, at), at), max(last, at)
		}
	})
	r.From[1].Made = nil
	for _, id := range slices.Sorted(maps.Keys(lost)) {
		t := lost[id]
		t[fieldResource], t[fieldTime+"Z"], t[fieldUpdated+"Z"] = r.threads[id], t[fieldTime], t[fieldUpdated]
		r.From[1].Made = append(r.From[1].Made, t)
	}
	each(tableMessages, []string{"thread_id", fieldTime, "id"}, func(row []table.Value) {
		if at := same(row); count[at] > 1 {
			tied[at] = append(tied[at], column.Text(row[2]))
		}
	})
	for _, ids := range tied {
		if r.Reader.About().Moving { // of a server, whose rows have no order: by their ids
			slices.Sort(ids)
		}
		for n, id := range ids {
			r.ranks[id] = int64(n)
		}
	}
}

// uuidLength is how long a UUID is, which a sub-thread's id ends with since 1.0.
const uuidLength = len("-2fd0b87d-a648-4888-a832-a53dc8287aa6")

// parentOf is the thread whose call started one, as far as its id and its resource tell: the ids of
// both begin with those of the parent. "" where none does.
func (r *reader) parentOf(id string) string {
	if len(id) <= uuidLength || id[len(id)-uuidLength] != '-' {
		return ""
	}
	up := id[:len(id)-uuidLength]
	if resource, stored := r.threads[up]; stored && strings.HasPrefix(r.threads[id], resource+"-") {
		return up
	}
	return ""
}

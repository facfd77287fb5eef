package openaiagents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// branches are those of a session.
type branches struct {
	names   map[string]bool
	spots   map[int64]*spot // of messages, by id
	unnamed map[int64]int64 // messages that no branch names, with their places
	loose   []structureRow  // those without a message, or that name one again
	moved   bool            // a repair put some there since, and numbers may not say it
	crossed bool            // two branches have messages in different orders
	rows    []structureRow  // all, where their numbers alone do not say the order
	sum     [sha256.Size]byte
}

// spot is where a message stands: a branch that began as a copy of another one's names the same
// messages, by later numbers.
type spot struct {
	first  int64 // the lowest of its numbers
	place  int64
	names  []string
	behind []*spot // the one before it, on each branch
	known  bool    // the message exists
}

type structureRow struct {
	at           table.Place
	message, seq int64
	branch       string
	values       table.Image
}

func readStructureRow(at table.Place, row []table.Value) structureRow {
	r := structureRow{at: at, branch: column.Text(row[3])}
	r.message, _ = column.Int(row[2])
	r.seq, _ = column.Int(row[5])
	return r
}

// The places of a branched session are above those of all others; what no branch names stands at its
// start. The last bits are for what comes between, and in a session that times order for those of one time.
const (
	branchedPlace = 1 << 62
	timedPlace    = 1 << 61
	rankBits      = 16
)

// isUnnamed reports whether a place is one of a message that its session's branches do not name.
func isUnnamed(place int64) bool { return place >= branchedPlace && place&(1<<rankBits) != 0 }

// hasNames reports whether a session has branches. Without them, its messages may have any ids for places.
func (b *branches) hasNames() bool { return b != nil && len(b.names) > 0 }

// placeOf is where a message stands in its session.
func (p *pair) placeOf(b *branches, id int64) int64 {
	if b.hasNames() {
		return b.placeOf(id)
	}
	return cmp.Or(p.ranks[id], id)
}

// placeOf is the place of a message, by what was read and written.
func (b *branches) placeOf(id int64) int64 {
	if s := b.spots[id]; s != nil {
		return s.place
	}
	return b.unnamed[id]
}

func (b *branches) isLoose(at table.Place) bool {
	return slices.ContainsFunc(b.loose, func(r structureRow) bool { return r.at == at })
}

// branchesIn is what is known of the branches of a session, which may be nothing yet.
func (j *joined) branchesIn(session string) *branches {
	b := j.branches[session]
	if b == nil {
		b = &branches{names: map[string]bool{}, spots: map[int64]*spot{}, unnamed: map[int64]int64{}}
		j.branches[strings.Clone(session)] = b
	}
	return b
}

func (j *joined) readStructure(ctx context.Context) error {
	var buf []byte
	_, err := j.Reader.Scan(ctx, table.Selection{Table: tableStructure, Columns: structureColumns, Glance: true}, func(at table.Place, row []table.Value) error {
		b := j.branchesIn(column.View(row[1]))
		buf = append(buf[:0], b.sum[:]...)
		for _, value := range row {
			buf = table.AppendExactly(buf, value)
		}
		b.sum = sha256.Sum256(buf)
		r := readStructureRow(at, row)
		b.spots[r.message], b.loose = &spot{first: math.MaxInt64}, append(b.loose, r)
		return nil
	})
	return err
}

// settle finds what the branches of a session are, when all their rows and messages were seen.
func (b *branches) settle() {
	maps.DeleteFunc(b.spots, func(_ int64, s *spot) bool { return !s.known })
	last := map[string]*spot{}
	slices.SortStableFunc(b.loose, func(a, c structureRow) int { return cmp.Compare(a.seq, c.seq) })
	rows := slices.Clone(b.loose)
	b.loose = slices.DeleteFunc(b.loose, func(r structureRow) bool {
		s := b.spots[r.message]
		if s == nil || slices.Contains(s.names, r.branch) {
			return false
		}
		b.names[r.branch] = true
		s.first, s.names = min(s.first, r.seq), append(s.names, r.branch)
		if before := last[r.branch]; before != nil {
			s.behind = append(s.behind, before)
		}
		last[r.branch] = s
		return true
	})
	ids, placed := slices.SortedFunc(maps.Keys(b.spots), func(x, y int64) int {
		return cmp.Or(cmp.Compare(b.spots[x].first, b.spots[y].first), cmp.Compare(x, y))
	}), int64(0)
	var place func(s *spot)
	place = func(s *spot) { // in the order of each branch, where these agree
		if s.place > 0 {
			return
		}
		s.place = 1
		for _, before := range s.behind {
			place(before)
		}
		placed++
		s.place = branchedPlace | placed<<(rankBits+1)
	}
	for _, id := range ids {
		place(b.spots[id])
	}
	for _, s := range b.spots {
		b.crossed = b.crossed || slices.ContainsFunc(s.behind, func(before *spot) bool { return before.place > s.place })
	}
	if b.crossed || !slices.IsSortedFunc(ids, func(x, y int64) int { return cmp.Compare(b.spots[x].place, b.spots[y].place) }) {
		b.rows = rows
	}
	for n, id := range slices.Sorted(maps.Keys(b.unnamed)) {
		b.unnamed[id] = branchedPlace | 1<<rankBits | min(int64(n), 1<<rankBits-1)
	}
}

// keepsOrder reports whether the messages that stay are in the same order without some. New ones have a place.
func (b *branches) keepsOrder(removed []*session.Item) bool {
	left := &branches{names: map[string]bool{}, spots: map[int64]*spot{}}
	for id, s := range b.spots {
		if len(s.names) > 0 && !slices.ContainsFunc(removed, func(it *session.Item) bool { return it.Position == s.place }) {
			left.spots[id] = &spot{first: math.MaxInt64, known: true}
		}
	}
	left.loose = slices.DeleteFunc(slices.Clone(b.rows), func(r structureRow) bool { return left.spots[r.message] == nil })
	left.settle()
	stay := slices.SortedFunc(maps.Keys(left.spots), func(x, y int64) int { return cmp.Compare(b.spots[x].place, b.spots[y].place) })
	return slices.IsSortedFunc(stay, func(x, y int64) int { return cmp.Compare(left.spots[x].place, left.spots[y].place) })
}

// structureSum stands for what message_structure has of a session.
func (j *joined) structureSum(of []table.Value) []byte {
	if b := j.branchesOf(j.pairOf(column.View(of[0])), column.View(of[len(of)-1])); b != nil {
		return b.sum[:]
	}
	return nil
}

// tellBranches adds what is wrong with the branches of a session.
func (b *branches) tellBranches(s *session.Session) {
	if n := len(b.loose); n > 0 {
		few := lists.MapEach(b.loose[:min(3, n)], func(r structureRow) string { return fmt.Sprintf("message %d on branch %.40q", r.message, r.branch) })
		s.Faults = append(s.Faults, session.Fault{
			Kind: session.ForeignKey, Field: fieldLoose, Default: new(string), Remedy: "remove these rows of " + tableStructure + "; the receipt keeps them",
			Detail: fmt.Sprintf("%d of the session's rows of %s name messages that do not exist, another session's, or one twice on a branch: %s", n, tableStructure, strings.Join(few, ", ")),
		})
	}
	if n := len(b.unnamed); n > 0 {
		what := "%d messages of the session are on no branch, so AdvancedSQLiteSession does not send them"
		if len(b.names) == 0 {
			what = "SQLiteSession stored the %d messages of the session, and they are on no branch"
		}
		what = fmt.Sprintf(what, n) + ". AdvancedSQLiteSession deletes them when a branch is deleted, an item is popped, or a write fails"
		s.Faults = append(s.Faults, session.Fault{Kind: session.Unnamed, Count: n, Detail: what})
	}
}

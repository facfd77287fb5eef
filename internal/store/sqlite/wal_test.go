package sqlite

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// commits makes a database of 10 rows and a -wal with n commits behind it, as
// a killed process leaves them.
func commits(t *testing.T, path string, n int) {
	t.Helper()
	create(t, path, append([]string{"pragma page_size=1024"}, walRows(10)...)...)
	statements := []string{"pragma synchronous=off"}
	for range n {
		statements = append(statements, "insert into t(x) values('new')")
	}
	killed(t, path, statements...)
}

const testFrame = frameHeaderSize + 1024

func TestWalkWAL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	commits(t, path, 20)
	sound, err := os.ReadFile(path + "-wal")
	ok(t, err)
	frames := (len(sound) - walHeaderSize) / testFrame
	frame := func(b []byte, i int) []byte { return b[walHeaderSize+i*testFrame:] }
	tests := []struct {
		name   string
		change func(b []byte) []byte
		want   walWalk
	}{
		{"sound", func(b []byte) []byte { return b },
			walWalk{headerOK: true, frames: frames, valid: frames, committed: frames, pages: 5}},
		{"header alone", func(b []byte) []byte { return b[:walHeaderSize] }, walWalk{headerOK: true}},
		{"half a header", func(b []byte) []byte { return b[:20] }, walWalk{}},
		{"destroyed header", func(b []byte) []byte { b[30] ^= 1; return b }, walWalk{}},
		{"cut inside a frame", func(b []byte) []byte { return b[:walHeaderSize+5*testFrame+100] },
			walWalk{headerOK: true, frames: 5, valid: 5, committed: 5, pages: 5}},
		{"flipped bit", func(b []byte) []byte { frame(b, 7)[500] ^= 4; return b },
			walWalk{headerOK: true, frames: frames, valid: 7, committed: 7, pages: 5, lost: frames - 7, lostCommits: frames - 7}},
		{"page 0", func(b []byte) []byte { clear(frame(b, 7)[:4]); return b },
			walWalk{headerOK: true, frames: frames, valid: 7, committed: 7, pages: 5, lost: frames - 7, lostCommits: frames - 7}},
		{"frames of an older log", func(b []byte) []byte {
			for i := 7; i < frames; i++ {
				frame(b, i)[8]--
			}
			return b
		}, walWalk{headerOK: true, frames: frames, valid: 7, committed: 7, pages: 5}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := test.change(bytes.Clone(sound))
			got, err := walkWAL(bytes.NewReader(b), int64(len(b)), 1000)
			ok(t, err)
			if got.beyond != nil {
				t.Errorf("pages above 1000: %v", got.beyond)
			}
			want := test.want
			if got.headerOK != want.headerOK || got.frames != want.frames || got.valid != want.valid || got.committed != want.committed ||
				got.pages != want.pages || got.lost != want.lost || got.lostCommits != want.lostCommits {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

// SQLite's own recovery is the reference: it reads as many commits as the walk
// finds.
func TestWalkWALAgreesWithSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	commits(t, path, 12)
	sound, err := os.ReadFile(path + "-wal")
	ok(t, err)
	for at := walHeaderSize; at < len(sound); at += 97 {
		b := bytes.Clone(sound)
		b[at] ^= 1
		ok(t, os.WriteFile(path+"-wal", b, 0o600))
		w, err := walkWAL(bytes.NewReader(b), int64(len(b)), 0)
		ok(t, err)
		if n := count(t, open(t, path)); n != 10+w.committed {
			t.Fatalf("byte %d: SQLite reads %d rows, the walk finds %d commits", at, n, w.committed)
		}
	}
}

// A process that ends inside a transaction leaves frames that belong to no
// commit: that is no damage.
func TestKilledTransactionIsNoFault(t *testing.T) {
	for name, statements := range map[string][]string{
		"alone":              {"pragma cache_size=5", "begin", "update t set x = x || 'a'", "update t set x = x || 'b'"},
		"after a commit":     {"pragma cache_size=5", "delete from t where id = 1", "begin", "update t set x = x || 'a'"},
		"after a rollback":   {"pragma cache_size=5", "begin", "update t set x = x || 'a'", "rollback", "delete from t where id = 1"},
		"after a checkpoint": {"pragma cache_size=5", "update t set x = x || 'a'", "pragma wal_checkpoint(restart)", "delete from t where id = 1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			create(t, path, walRows(3000)...)
			killed(t, path, statements...)
			if faults := open(t, path).Faults(); len(faults) > 0 {
				t.Errorf("%v", faults)
			}
		})
	}
}

func TestDamagedLogIsAFault(t *testing.T) {
	tests := []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"flipped bit", func(b []byte) []byte { b[walHeaderSize+7*testFrame+500] ^= 1; return b },
			"the -wal file is damaged at frame 8 of 20: SQLite ignores the 13 commits after that"},
		{"header", func(b []byte) []byte { clear(b[:walHeaderSize]); return b },
			"the header of the -wal file (21 kB) is destroyed: SQLite ignores the file, which holds at least 20 commits"},
		{"all zero", func(b []byte) []byte { clear(b); return b }, ""},
		{"cut", func(b []byte) []byte { return b[:walHeaderSize+3*testFrame+5] }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			commits(t, path, 20)
			edit(t, path+"-wal", test.change)
			faultIs(t, open(t, path).Faults(), session.StoreDamaged, test.want)
		})
	}
}

// TestRecoveryNamesTheSoundPart holds the file and its log apart: only a file that is whole
// without its log, and damaged with it, is to be copied alone.
func TestRecoveryNamesTheSoundPart(t *testing.T) {
	foreign := func(rows int) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			t.Helper()
			other := filepath.Join(t.TempDir(), "other.db")
			create(t, other, append([]string{"pragma page_size=1024"}, walRows(rows)...)...)
			killed(t, other, "update t set x = x || 'a'", "insert into t(x) values('new')")
			log, err := os.ReadFile(other + "-wal")
			ok(t, err)
			ok(t, os.WriteFile(path+"-wal", log, 0o600))
		}
	}
	const together, alone = "with its -wal to another folder", "without its -wal to another folder"
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, path string)
		want   string
	}{
		{"the log of a longer database", foreign(3000), alone},
		{"the log of a database of that length", foreign(300), alone},
		{"a broken log", func(t *testing.T, path string) {
			t.Helper()
			edit(t, path+"-wal", func(b []byte) []byte { b[walHeaderSize+testFrame+500] ^= 1; return b })
		}, together},
		{"a broken file", func(t *testing.T, path string) {
			t.Helper()
			edit(t, path, func(b []byte) []byte { clear(b[1024 : len(b)-1024]); return b })
		}, together},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			create(t, path, append([]string{"pragma page_size=1024"}, append(walRows(300), "create table u(y)", "create index i on t(x)")...)...)
			killed(t, path, "insert into t(x) values('new')", "insert into t(x) values('new')")
			tt.damage(t, path)
			before, err := os.ReadFile(path + "-wal")
			ok(t, err)
			db := open(t, path)
			if said := db.Recovery(); !strings.Contains(said, tt.want) || strings.Contains(said, "delete") {
				t.Errorf("%s", said)
			}
			if after, err := os.ReadFile(path + "-wal"); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the log is another one: %v", err)
			}
		})
	}
}

// faultIs checks for one fault whose detail contains want, or for none.
func faultIs(t *testing.T, faults []session.Fault, kind session.FaultKind, want string) {
	t.Helper()
	switch {
	case want == "" && len(faults) == 0:
	case want == "" || len(faults) != 1 || faults[0].Kind != kind || faults[0].Item != -1 || !strings.Contains(faults[0].Detail, want):
		t.Errorf("got %+v, want %q", faults, want)
	}
}

// FuzzWAL: a walk ends, does not panic and never reports more frames than the
// file has, whatever the file holds and whatever size is claimed.
func FuzzWAL(f *testing.F) {
	for _, sign := range []uint32{0x377f0682, 0x377f0683} {
		sound := makeWAL(sign, 0, 2, 0, 3)
		broken := bytes.Clone(sound)
		broken[walHeaderSize+frameHeaderSize+600] ^= 1
		for _, b := range [][]byte{sound, broken, sound[:700], sound[:walHeaderSize], nil} {
			f.Add(b, int64(len(b)))
		}
	}
	f.Add(makeWAL(0x377f0682, 1), int64(1)<<40)
	f.Fuzz(func(t *testing.T, b []byte, size int64) {
		w, err := walkWAL(bytes.NewReader(b), size, 1)
		ok(t, err)
		room := max(len(b)-walHeaderSize, 0) / (frameHeaderSize + 512)
		if w.valid > room || w.committed > w.valid || len(w.beyond) > w.committed || w.valid+w.lost > w.frames || w.lostCommits > w.lost {
			t.Errorf("%+v of %d bytes", w, len(b))
		}
	})
}

// makeWAL makes a log of pages of 512 bytes. Each number is the size of the
// database that a frame commits, 0 for frames that commit nothing.
func makeWAL(sign uint32, sizes ...uint32) []byte {
	be := binary.BigEndian
	b := be.AppendUint32(nil, sign)
	for _, n := range []uint32{3007000, 512, 0, 0x11111111, 0x22222222} {
		b = be.AppendUint32(b, n)
	}
	var sum checksum
	sum.addBytes(b, sign&1 == 1)
	b = be.AppendUint32(be.AppendUint32(b, sum[0]), sum[1])
	for i, size := range sizes {
		head := be.AppendUint32(be.AppendUint32(nil, uint32(i+1)), size)
		page := bytes.Repeat([]byte{byte(i)}, 512)
		sum.addBytes(head, sign&1 == 1)
		sum.addBytes(page, sign&1 == 1)
		b = append(append(b, head...), b[16:24]...)
		b = append(be.AppendUint32(be.AppendUint32(b, sum[0]), sum[1]), page...)
	}
	return b
}

func TestWalkWALBothByteOrders(t *testing.T) {
	for _, sign := range []uint32{0x377f0682, 0x377f0683} {
		b := makeWAL(sign, 0, 2, 0, 4, 0)
		w, err := walkWAL(bytes.NewReader(b), int64(len(b)), 2)
		ok(t, err)
		if !w.headerOK || w.frames != 5 || w.valid != 5 || w.committed != 4 || w.pages != 4 || !maps.Equal(w.beyond, map[uint32]bool{3: true, 4: true}) {
			t.Errorf("%+v", w)
		}
	}
}

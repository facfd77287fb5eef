package outline

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
)

func drawItem(t *rapid.T) session.Item {
	text := rapid.StringN(0, 12, -1)
	name := rapid.SampledFrom([]string{"", "root", "worker", "Coding agent"})
	digest := func() session.Digest { return session.Digest(rapid.Uint64().Draw(t, "digest")) }
	it := session.Item{
		Shared: &session.Shared{Table: "session_items", Agent: name.Draw(t, "agent"), Branch: name.Draw(t, "branch"), Invocation: text.Draw(t, "invocation"), Child: text.Draw(t, "child"), KeptFrom: rapid.Int64().Draw(t, "kept"), Scope: name.Draw(t, "scope"), Node: name.Draw(t, "node"), Model: name.Draw(t, "model")}, Key: rapid.SampledFrom([]string{"1", "007", "x#/3", "18446744073709551615"}).Draw(t, "key"),
		Kind: session.Kind(rapid.IntRange(0, 3).Draw(t, "kind")), Role: session.Role(rapid.IntRange(0, 4).Draw(t, "role")),
		Flags: session.Flags(rapid.Uint16().Draw(t, "flags")), Position: rapid.Int64().Draw(t, "position"),
		Meaning: digest(), Text: digest(), Size: rapid.Int64().Draw(t, "size"),
	}
	if rapid.Bool().Draw(t, "timed") {
		it.Time = time.Unix(rapid.Int64Range(-1e10, 1e11).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC()
	}
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		c := session.Call{
			ID: text.Draw(t, "id"), Name: name.Draw(t, "tool"),
			Form: session.ArgsForm(rapid.IntRange(0, 2).Draw(t, "form")), Server: rapid.Bool().Draw(t, "server"), Waits: rapid.Bool().Draw(t, "waits"), Asked: rapid.Bool().Draw(t, "asked"),
		}
		if rapid.Bool().Draw(t, "delegates") {
			c.Delegation = &session.Delegation{Agent: name.Draw(t, "to"), Task: digest(), Child: text.Draw(t, "c"), Blocking: rapid.Bool().Draw(t, "b")}
			if rapid.Bool().Draw(t, "rare") {
				c.Delegation.Run, c.Delegation.Correlation = text.Draw(t, "run"), text.Draw(t, "tie")
				c.Delegation.Likely, c.Delegation.Apart = rapid.Bool().Draw(t, "likely"), rapid.Bool().Draw(t, "apart")
				c.Delegation.Tools = rapid.SampledFrom([][]string{nil, {}, {"shell", ""}}).Draw(t, "tools")
				c.Delegation.Timeout = time.Duration(rapid.Int64().Draw(t, "timeout"))
			}
		}
		if rapid.Bool().Draw(t, "asks") {
			c.Question = session.Question{Child: text.Draw(t, "asked of"), Run: text.Draw(t, "its run")}
		}
		it.Calls = append(it.Calls, c)
	}
	for range rapid.IntRange(0, 3).Draw(t, "results") {
		r := session.Result{
			CallID: text.Draw(t, "id"), Name: name.Draw(t, "tool"), Digest: it.Text, IsError: rapid.Bool().Draw(t, "e"),
			Synthetic: rapid.Bool().Draw(t, "s"), Pending: rapid.Bool().Draw(t, "p"),
			Null: rapid.Bool().Draw(t, "null"), Server: rapid.Bool().Draw(t, "server"),
		}
		if rapid.Bool().Draw(t, "own digest") {
			r.Digest = digest()
		}
		if rapid.Bool().Draw(t, "rare") {
			r.Child, r.Correlation, r.Answer = text.Draw(t, "child"), text.Draw(t, "tie"), session.Digest(rapid.Uint64Range(0, 1).Draw(t, "answer"))
			r.Question = session.Question{Child: text.Draw(t, "asked of"), Run: text.Draw(t, "its run")}
		}
		it.Results = append(it.Results, r)
	}
	for range rapid.IntRange(0, 2).Draw(t, "outputs") {
		it.SetOutputs(append(it.Outputs(), session.Output{
			Path: text.Draw(t, "path"), Real: text.Draw(t, "real"), Bytes: rapid.Int64().Draw(t, "bytes"),
			Outside: rapid.Bool().Draw(t, "outside"), Hash: rapid.Bool().Draw(t, "hash"),
		}))
	}
	for range rapid.IntRange(0, 3).Draw(t, "blocks") {
		it.Blocks = append(it.Blocks, drawBlock(t))
	}
	return it
}

func drawBlock(t *rapid.T) session.Block {
	number := rapid.IntRange(-1, 70_000)
	text := rapid.StringN(0, 12, -1)
	flag := rapid.Bool()
	digest := rapid.SampledFrom([]session.Digest{0, 1, 1 << 63})
	return session.Block{
		Kind: session.BlockKind(rapid.IntRange(0, 5).Draw(t, "kind")), Nth: number.Draw(t, "nth"), Name: text.Draw(t, "name"),
		ID: text.Draw(t, "id"), With: text.Draw(t, "with"), Text: digest.Draw(t, "text"), Signature: digest.Draw(t, "signature"),
		Unsigned: flag.Draw(t, "unsigned"), Blank: flag.Draw(t, "blank"), Cached: flag.Draw(t, "cached"),
		Width: number.Draw(t, "width"), Height: number.Draw(t, "height"),
	}
}

// A common item costs nothing for what only some items have.
func TestCommonItemsStaySmall(t *testing.T) {
	log := NewLog()
	it := session.Item{Shared: &session.Shared{Table: "session_items"}, Key: "1", Kind: session.Message, Role: session.User, Time: time.Unix(1770000000, 0)}
	before := len(log.packItem(nil, &it))
	if before > 32 {
		t.Errorf("%d bytes", before)
	}
	it.Size, it.Own().Model = 1000, "anthropic/claude"
	if after := len(log.packItem(nil, &it)); after != before+3 {
		t.Errorf("the size and the model take %d bytes, want 2 and 1", after-before)
	}
}

// What goes in comes out, by session and newest first.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, want := NewLog(), map[uint32][]session.Item{}
		for range rapid.IntRange(0, 40).Draw(t, "items") {
			number := rapid.Uint32Range(0, 3).Draw(t, "session")
			it := drawItem(t)
			log.AddItem(number, &it)
			want[number] = append(want[number], it)
		}
		for number := range uint32(5) {
			got := slices.Collect(log.Items(number))
			slices.Reverse(got)
			if diff := cmp.Diff(want[number], got); diff != "" {
				t.Fatalf("session %d: %s", number, diff)
			}
		}
	})
}

func TestLongRecordsGetTheirOwnSlab(t *testing.T) {
	log := NewLog()
	long := session.Item{Key: "1", Shared: &session.Shared{Child: string(make([]byte, 3*slab))}}
	short := session.Item{Key: "2"}
	log.AddItem(0, &short)
	log.AddItem(0, &long)
	log.AddItem(0, &short)
	var keys []string
	for it := range log.Items(0) {
		keys = append(keys, it.Key)
	}
	if !slices.Equal(keys, []string{"2", "1", "2"}) {
		t.Errorf("got %v", keys)
	}
}

func BenchmarkAdd(b *testing.B) {
	it := session.Item{
		Shared: &session.Shared{Table: "session_items", Agent: "root"}, Key: "123456", Position: 17, Kind: session.Message, Role: session.Assistant,
		Time: time.Unix(1770000000, 0), Meaning: 1, Text: 2, Calls: []session.Call{{ID: "toolu_01A09q90qw90lq917835lq9", Name: "shell"}},
	}
	log := NewLog()
	b.ReportAllocs()
	for b.Loop() {
		log.AddItem(3, &it)
	}
	size := 0
	for _, s := range log.slabs {
		size += len(s)
	}
	b.ReportMetric(float64(size)/float64(b.N), "packed-B/item")
}

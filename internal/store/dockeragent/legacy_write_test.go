package dockeragent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// A column that is rebuilt is the one that docker agent wrote, byte by byte.
func TestRebuiltColumnIsTheStoredOne(t *testing.T) {
	campaign.ShowsNoRace(t)
	paths, _ := filepath.Glob("../../../../shared/corpus/docker-agent/*/*.db")
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "copy.db")
			for _, suffix := range []string{"", "-wal"} {
				data, err := os.ReadFile(path + suffix)
				if os.IsNotExist(err) {
					continue
				}
				if err == nil {
					err = os.WriteFile(target+suffix, data, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			holdColumns(t, target)
		})
	}
	for generation := 14; generation < 20; generation++ {
		t.Run(fmt.Sprintf("generation %03d", generation), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			db, err := agenttest.Create(path, generation)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(20) {
				if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 20)); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			holdColumns(t, path)
		})
	}
}

// holdColumns compares all columns of a database with rebuilt ones, and tests
// which sessions have one.
func holdColumns(t *testing.T, path string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	st, err := newStore(t.Context(), db, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.readTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ids idList
	for _, s := range st.sessions {
		ids = append(ids, s.ID)
	}
	source, err := readColumnSource(t.Context(), db, &st.schema, ids, &encoder{sorted: map[string][]byte{}})
	if err != nil {
		t.Fatal(err)
	}
	columns := 0
	for _, id := range ids {
		want, err := st.readMessagesColumn(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			continue
		}
		columns++
		got, err := source.encodeColumn(id)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("session %s\ngot  %s\nwant %s", id, got, want)
		}
	}
	if columns == 0 {
		t.Error("there was nothing to compare")
	}
}

// Keys that docker agent does not know stay in the copy; its own re-encoding
// would drop them.
func TestReloaded(t *testing.T) {
	tests := []struct{ name, stored, want string }{
		{"marker and unknown key", `{"role":"tool","content":"x","later":1,"sessctl":{"synthetic":true}}`, ""},
		{"schema is sorted, the rest is not",
			`{"tool_definitions":[{"name":"parameters","parameters":{"b":1,"a":{"parameters":{"d":[],"c":2}}},"outputSchema":null},{"outputSchema":{"z":1,"y":"<"}}],"role":"assistant"}`,
			`{"tool_definitions":[{"name":"parameters","parameters":{"a":{"parameters":{"c":2,"d":[]}},"b":1},"outputSchema":null},{"outputSchema":{"y":"\u003c","z":1}}],"role":"assistant"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := reencodeMessage([]byte(tt.stored))
			want := tt.want
			if want == "" {
				want = tt.stored
			}
			if err != nil || string(got) != want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
			}
		})
	}
	if _, err := reencodeMessage([]byte(`{"role":5}`)); err == nil {
		t.Error("docker agent refuses the message")
	}
}

// The number of an index reference is replaced, and no byte besides.
func TestReplaceNumber(t *testing.T) {
	const text = "{ \"epoch_start\" : 3,\n\"x\":\"<\\u003c\", \"updates\":[{\"position\":3},{\"position\": 12 ,\"position\":7}]}"
	tests := []struct {
		pointer  string
		was, now int64
		want     string
	}{
		{"/epoch_start", 3, 10, "{ \"epoch_start\" : 10,\n\"x\":\"<\\u003c\", \"updates\":[{\"position\":3},{\"position\": 12 ,\"position\":7}]}"},
		{"/updates/0/position", 3, 0, "{ \"epoch_start\" : 3,\n\"x\":\"<\\u003c\", \"updates\":[{\"position\":0},{\"position\": 12 ,\"position\":7}]}"},
		{"/updates/1/position", 7, 6, "{ \"epoch_start\" : 3,\n\"x\":\"<\\u003c\", \"updates\":[{\"position\":3},{\"position\": 6 ,\"position\":6}]}"},
		{"/updates/1/position", 12, 6, ""},
		{"/updates/2/position", 7, 6, ""},
	}
	for _, tt := range tests {
		got, ok := replaceNumber(text, tt.pointer, tt.was, tt.now)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, %t, want %q", tt.pointer, got, ok, tt.want)
		}
	}
}

// The column of a session goes with those that contain it.
func TestBehind(t *testing.T) {
	tree := &session.Tree{Sessions: []*session.Session{
		{ID: "root"},
		{ID: "child", Parent: "root"},
		{ID: "grandchild", Parent: "child"},
		{ID: "sibling", Parent: "root", Items: []session.Item{{Kind: session.SubSession, Shared: &session.Shared{Child: "grandchild"}}}},
		{ID: "other", Parent: "root"},
	}}
	w := writer{difference: &difference{listed: idList{"grandchild"}}}
	w.change = &store.Change{After: tree}
	if got := fmt.Sprint(w.findOutdated()); got != "[root child grandchild sibling]" {
		t.Error(got)
	}
}

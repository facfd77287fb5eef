package adk

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// BenchmarkOutlines reads a session of 100,000 events without their texts.
func BenchmarkOutlines(b *testing.B) {
	s := adktest.Session{ID: "long"}
	for i := range 25_000 {
		id := fmt.Sprintf("adk-%d", i)
		s.Events = append(s.Events,
			adktest.Event{Author: "user", Parts: []adktest.Part{adktest.Text("What is the state of order 4711, and who has seen it last?")}},
			adktest.Event{Author: "a", Branch: "p.a", Parts: []adktest.Part{adktest.Calls(id, "look", `{"order":4711,"deep":true}`)}},
			adktest.Event{Author: "a", Branch: "p.a", Parts: []adktest.Part{adktest.Answers(id, "look", `{"result":"It left the warehouse on Monday."}`)}},
			adktest.Event{Author: "a", Branch: "p.a", Parts: []adktest.Part{adktest.Text("It left the warehouse on Monday; nobody has touched it since.")}})
	}
	for _, g := range []adktest.Generation{adktest.P0, adktest.P1, adktest.G2} {
		b.Run(string(g), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "adk.db")
			if err := adktest.Create(path, g, s); err != nil {
				b.Fatal(err)
			}
			db, err := sqlite.Open(b.Context(), path, sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			b.ReportAllocs()
			for b.Loop() {
				st, err := open(b.Context(), &store.Source{Path: path, DB: db.Reader(), Bytes: db.File.Size}, store.Options{})
				if err != nil {
					b.Fatal(err)
				}
				for tree, err := range st.Trees(b.Context()) {
					if err != nil || tree.Items() != len(s.Events) {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(s.Events)), "ns/event")
		})
	}
}

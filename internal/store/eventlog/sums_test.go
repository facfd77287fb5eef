package eventlog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store"
)

// A sum changes exactly with what it covers.
func TestSums(t *testing.T) {
	ids := []string{"s", "other", "no such session"}
	read := func(t *testing.T, statements ...string) map[string]store.Sum {
		path := timed.session(t, t.TempDir())
		run(t, path, statements...)
		sums, err := timed.reading(t, path, false).(store.Summer).Sums(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		e := timed.begin(t, timed.copyOf(t, path))
		again, err := e.Sums(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sums, again); diff != "" {
			t.Errorf("an editor has other sums: %s", diff)
		}
		return sums
	}
	was := read(t)
	if len(was["s"].Items) != 5 || was["no such session"].Record != "" || len(was) != 3 {
		t.Fatalf("got %+v", was)
	}
	cases := []struct {
		statement string
		records   []string // whose record sum changes
		items     []string // whose own sum changes, comes or goes
	}{
		{"update lines set said = '{}' where id = 's-0'", []string{"s"}, []string{"s/s-0"}},
		{"update lines set branch = '' where id = 's-0'", []string{"s"}, []string{"s/s-0"}}, // NULL is something else
		{"update lines set said = said || ' ' where id = 's-0'", []string{"s"}, nil},        // says the same
		{"update lines set at = 3.5 where id = 's-0'", []string{"s"}, nil},
		{"update lines set extra = 1 where id = 's-1'", []string{"s"}, nil}, // it was 1.0
		{"update lines set extra = '5' where id = 's-4'", []string{"s"}, nil},
		{"update lines set archived = 0 where id = 's-4'", []string{"s"}, nil},
		{"update talks set version = 7 where id = 'other'", []string{"other"}, nil},
		{"delete from lines where id = 's-4'", []string{"s"}, []string{"s/s-4"}},
		{"update lines set id = 's-9' where id = 's-4'", []string{"s"}, []string{"s/s-4", "s/s-9"}},
		{"update lines set user = 'v', talk = 'other' where id = 's-4'", []string{"other", "s"}, []string{"other/s-4", "s/s-4"}},
		{"insert into talks(app, user, id) values('b', 'u', 'third')", nil, nil},
		{"vacuum", nil, nil},
	}
	for _, c := range cases {
		t.Run(c.statement, func(t *testing.T) {
			now := read(t, c.statement)
			var records, items []string
			for _, id := range ids {
				if now[id].Record != was[id].Record {
					records = append(records, id)
				}
				for key, sum := range was[id].Items {
					if now[id].Items[key] != sum {
						items = append(items, key)
					}
				}
				for key := range now[id].Items {
					if _, ok := was[id].Items[key]; !ok {
						items = append(items, key)
					}
				}
			}
			slices.Sort(records)
			slices.Sort(items)
			if diff := cmp.Diff(c.records, records); diff != "" {
				t.Errorf("records: %s", diff)
			}
			if diff := cmp.Diff(c.items, items); diff != "" {
				t.Errorf("items: %s", diff)
			}
		})
	}
}

// copyOf copies a database that is open for reading.
func (f form) copyOf(t *testing.T, path string) string {
	t.Helper()
	copied := strings.TrimSuffix(path, ".db") + "-copy.db"
	if _, err := f.reading(t, path, false).(store.Copier).Copy(t.Context(), copied, nil); err != nil {
		t.Fatal(err)
	}
	return copied
}

package sqlite

import "testing"

// A column is given out by the database if it is another name for the rowid.
func TestGivenColumns(t *testing.T) {
	tests := []struct {
		name, table string
		want        bool
	}{
		{"the usual form", "create table t(seq integer primary key, id text)", true},
		{"numbers that are never given out again", "create table t(seq INTEGER PRIMARY KEY AUTOINCREMENT, id text)", true},
		{"named behind the columns", "create table t(seq integer, id text, primary key (seq desc))", true},
		{"a type that is another word", "create table t(seq bigint primary key, id text)", false},
		{"descending, which is an index of its own", "create table t(seq integer primary key desc, id text)", false},
		{"one column of several", "create table t(seq integer, id text, primary key (seq, id))", false},
		{"unique only", "create table t(seq integer unique, id text primary key)", false},
		{"no primary key", "create table t(seq integer, id text)", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			schema, err := opened(t, tt.table).Schema(t.Context())
			ok(t, err)
			if is := schema.Tables["t"].Column("seq").Given; is != tt.want {
				t.Errorf("got %t", is)
			}
		})
	}
}

package registry

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/mysql"
	"github.com/sessctl/sessctl/internal/store/postgres"
	"github.com/sessctl/sessctl/internal/store/server"
	"github.com/sessctl/sessctl/internal/store/table"
)

// dialect is a kind of servers of databases.
type dialect struct {
	isName    func(word string) bool                                             // whether a word names a database
	register  func(word string) (name, note string, err error)                   // the name without a password, which leads there from then on
	list      func(ctx context.Context, name string) (names []string, err error) // those that a name may mean
	open      func(ctx context.Context, name string) (table.Reader, error)       // for reading
	edit      func(name string) func(context.Context) (table.Editor, error)      // and for changing
	hasRole   func() bool                                                        // whether the settings of its client name a role
	sign      func(ctx context.Context, name string) (server.Sign, error)        // tells whether something was written
	stopped   func(err error) bool                                               // an end of a reading that may not come again
	mistyped  func(word string) (secret string, sure bool)                       // what may be a password in a word that is no name
	elsewhere string                                                             // where the tables may be that a database lacks
	address   func() error                                                       // what is said of such a word
}

// dialects are asked in this order.
var dialects = []dialect{
	{
		mysql.IsName, mysql.RegisterName, mysql.ListDatabases, opened(mysql.Open), mysql.Opener, mysql.HasUsualRole, mysql.OpenSign,
		func(error) bool { return false },
		func(word string) (string, bool) { return "", mysql.IsMistyped(word) },
		"sessctl reads those of Google ADK, the OpenAI Agents SDK and Spring AI Session on such a server. Name another database, or let the role read its tables: `GRANT SELECT ON DATABASE.* TO …;`.",
		func() error { return mysql.AddressError(nil) },
	},
	{
		postgres.IsName, postgres.RegisterName, postgres.ListSchemas, opened(postgres.Open), postgres.Opener, func() bool { return os.Getenv("PGUSER") != "" }, postgres.OpenSign,
		postgres.IsStopped, postgres.FindMistypedPassword,
		"sessctl reads those of Google ADK, kagent, Mastra, the OpenAI Agents SDK, Spring AI Session and Claude's Agent SDK on a server. " +
			"Name another schema with ?search_path=SCHEMA at the end, or let the role use it: `GRANT USAGE ON SCHEMA … TO …;`.",
		postgres.UnparsedError,
	},
}

// opened is a way to open a database of which only the reader is known.
func opened[T table.Reader](open func(ctx context.Context, name string) (T, error)) func(context.Context, string) (table.Reader, error) {
	return func(ctx context.Context, name string) (table.Reader, error) {
		db, err := open(ctx, name)
		if err != nil {
			return nil, err
		}
		return db, nil
	}
}

// serverOf is the kind of servers on which a word names a database, nil for other words.
func serverOf(word string) *dialect {
	if i := slices.IndexFunc(dialects, func(d dialect) bool { return d.isName(word) }); i >= 0 {
		return &dialects[i]
	}
	return nil
}

// OnServer reports whether a store is a database on a server, which can leave out what
// nobody asked for.
func OnServer(path string) bool { return serverOf(path) != nil }

// IsStopped reports whether a server ended a reading that may come to its end if it begins
// again.
func IsStopped(err error) bool {
	return slices.ContainsFunc(dialects, func(d dialect) bool { return d.stopped(err) })
}

// RoleOf is the role that a database on a server is opened as, "" for any other store.
func RoleOf(path string) string { return server.RoleOf(path) }

// AsRole opens a database on a server as a role from now on, where nobody named another one.
func AsRole(path, role string) error {
	d := serverOf(path)
	if role == "" || d == nil || RoleOf(path) != "" || d.hasRole() {
		return nil
	}
	_, _, err := d.register(server.WithRole(path, role))
	return err
}

// OpenSign is a way to ask for a text that is another one when something was written to the server of
// a database, or when it cannot be asked any more.
func OpenSign(path string) (ask func(ctx context.Context) string) {
	var sign *server.Sign
	return func(ctx context.Context) string {
		ctx, stop := context.WithTimeout(ctx, mostAsking)
		defer stop()
		if sign == nil {
			opened, err := serverOf(path).sign(ctx, path)
			if err != nil {
				return err.Error()
			}
			sign = &opened
		}
		text, err := sign.Ask(ctx)
		if err != nil {
			_ = sign.Close()
			sign = nil
			return err.Error()
		}
		return text
	}
}

// mostAsking is how long a server may take to tell.
const mostAsking = 10 * time.Second

// WithPassword is a context in which a server that wants a password can have it from a
// person; ask gives "" where nobody can be asked.
func WithPassword(ctx context.Context, ask func(question string) (string, error)) context.Context {
	return server.WithPassword(ctx, ask)
}

// AllowForeign is a context in which a superuser may run the functions of other roles that
// belong to the tables of a server.
func AllowForeign(ctx context.Context) context.Context { return postgres.AllowForeign(ctx) }

// openDatabase opens a database on a server.
func (d *dialect) openDatabase(ctx context.Context, path string) (*source, error) {
	name, _, err := d.register(path)
	if err != nil {
		return nil, err
	}
	db, err := d.open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &source{Source: store.Source{Path: name, DB: db, Edit: d.edit(name), Bytes: db.About().Bytes}}, nil
}

// databaseMeans are the databases or schemas that a name stands for and in which a runtime keeps
// its sessions.
func (d *dialect) databaseMeans(ctx context.Context, word, kind string) (found Expansion, err error) {
	name, _, err := d.register(word)
	if err != nil {
		return found, err
	}
	names, err := d.list(ctx, name)
	if err != nil {
		return found, err
	}
	for _, one := range names {
		src, err := openSource(ctx, one, nil)
		if err != nil {
			return found, err
		}
		if _, sure := surestKind(ctx, &src.Source, kind); sure != store.No {
			found.Stores = append(found.Stores, one)
		}
		if err := src.closeFiles(); err != nil {
			return found, err
		}
	}
	if len(found.Stores) == 0 {
		found.Stores = []string{name} // opening it says what it is
	}
	return found, nil
}

// findPassword is what may be a password in a word that names no database; the error is that of
// a word that is meant to name one.
func findPassword(word string) (secret string, err error) {
	for _, d := range dialects {
		maybe, sure := d.mistyped(word)
		if sure {
			return "", d.address()
		}
		if maybe != "" {
			secret = maybe
		}
	}
	return secret, nil
}

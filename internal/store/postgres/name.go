package postgres

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/problem"
)

// keywords begin a connection string in libpq's other form.
var keywords = regexp.MustCompile(`^(host|hostaddr|port|dbname|user|password|passfile|service|ssl[a-z]+|target_session_attrs)\s*=`)

// IsName reports whether an argument names a PostgreSQL database: a URL, a connection
// string of keywords, or "postgres:", which leaves everything to the PG* variables.
func IsName(word string) bool {
	for _, scheme := range []string{"postgres:", "postgresql:"} {
		if word == scheme || strings.HasPrefix(word, scheme+"//") {
			return true
		}
	}
	return keywords.MatchString(word)
}

// target is a database as somebody named it.
type target struct {
	config *pgconn.Config
	schema string // the one that was asked for, "" for those that are found
	secret bool   // the password was part of the name
}

// targets are those that were named, by the names that stand for them: so the password of
// one is nowhere else.
var targets sync.Map

// Name is the name of a database without user, password and parameters, for people and
// for reports: postgres://host/database. Open knows what it stands for as long as the
// process lives; later, the PG* variables and the password file have to say the rest.
// secret reports whether the word has a password.
func Name(word string) (name string, secret bool, err error) {
	t := target{}
	text := word
	if text == "postgres:" || text == "postgresql:" {
		text = ""
	}
	if known, ok := targets.Load(word); ok {
		return word, known.(*target).secret, nil //nolint:revive // only targets are stored
	}
	if t.config, err = pgconn.ParseConfig(text); err != nil {
		return "", false, unparsed(err)
	}
	// Not as a parameter of the connection, which a pooler refuses.
	t.schema = t.config.RuntimeParams["search_path"]
	delete(t.config.RuntimeParams, "search_path")
	t.config.RuntimeParams["application_name"] = program
	t.secret = hasPassword(text)
	name = nameOf(t.config, t.schema)
	targets.Store(name, &t)
	return name, t.secret, nil
}

// hasPassword reports whether a connection string has a password.
func hasPassword(text string) bool {
	if u, err := url.Parse(text); err == nil && u.Scheme != "" {
		_, has := u.User.Password()
		return has || u.Query().Has("password")
	}
	return regexp.MustCompile(`(^|\s)password\s*=`).MatchString(text)
}

// nameOf is the name of a database and of one of its schemas, "" for none.
func nameOf(config *pgconn.Config, schema string) string {
	u := url.URL{Scheme: "postgres", Path: "/" + config.Database}
	query := url.Values{}
	if strings.HasPrefix(config.Host, "/") { // a folder with a socket
		query.Set("host", config.Host)
		if config.Port != 5432 {
			query.Set("port", strconv.Itoa(int(config.Port)))
		}
	} else {
		u.Host = config.Host
		if strings.Contains(u.Host, ":") {
			u.Host = "[" + u.Host + "]"
		}
		if config.Port != 5432 {
			u.Host += ":" + strconv.Itoa(int(config.Port))
		}
	}
	if schema != "" {
		query.Set("search_path", schema)
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "%2F", "/")
	return u.String()
}

// unparsed is the problem with a connection string; the driver's message repeats most of
// it, and may repeat a password.
func unparsed(err error) error {
	return &problem.Error{
		Class: problem.Usage, Err: err,
		What: "the name of the database is not a valid connection string",
		Next: "Write postgres://USER@HOST:PORT/DATABASE, or \"host=HOST dbname=DATABASE user=USER\", and put the password into the file ~/.pgpass.",
	}
}

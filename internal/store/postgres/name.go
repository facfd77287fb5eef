package postgres

import (
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store/server"
)

// keywords begin a connection string in libpq's other form.
var keywords = pattern.Lazy(`^(host|hostaddr|port|dbname|user|password|passfile|service|ssl[a-z]+|target_session_attrs)\s*=`)

// IsName reports whether an argument names a PostgreSQL database: a URL, a connection
// string of keywords, or "postgres:", which leaves everything to the PG* variables.
func IsName(word string) bool {
	for _, scheme := range []string{"postgres:", "postgresql:"} {
		if word == scheme || strings.HasPrefix(word, scheme+"//") {
			return true
		}
	}
	return keywords().MatchString(word)
}

// The forms of a word that was meant to be the address of a server and has no such scheme: with
// a sign that nothing else has, and as an id or a file may be called, too.
var (
	addresses = pattern.Lazy(`(?i)^[\s"'<]*(jdbc:)?(postgres|postgresql|pg|psql)[^\w.-]\S*:|^\s*\S*//\S*:.*@|\b(password|passwd|pwd|pass)\s*=`)
	accounts  = pattern.Lazy(`^\s*[^/\\:@]*:(.+)@`)
	drives    = pattern.Lazy(`^[A-Za-z]:[/\\]`)
)

// FindMistypedPassword reports whether a word that is no name of a database looks like the address of one
// with a password, and is what may be the password. sure: it is nothing else.
func FindMistypedPassword(word string) (secret string, sure bool) {
	if !strings.ContainsAny(word, ":=") { // as nearly all words are
		return "", false
	}
	if _, err := os.Lstat(word); err == nil || drives().MatchString(word) {
		return "", false
	}
	if found := accounts().FindStringSubmatch(word); found != nil {
		secret = found[1]
	}
	return secret, addresses().MatchString(word)
}

// target is a database as somebody named it.
type target struct {
	config *pgconn.Config
	schema string // the one that was asked for, "" for those that are found
	note   string // see RegisterName
}

// RegisterName is the name of a database without user, password and parameters, for people and
// for reports: postgres://host/database. Open knows what it stands for as long as the
// process lives; later, the PG* variables and the password file have to say the rest.
// note is what should be said about the password, "" for nothing.
func RegisterName(word string) (name, note string, err error) {
	t := target{}
	text := word
	if text == "postgres:" || text == "postgresql:" {
		text = ""
	}
	if known := server.Find[target](word); known != nil {
		return word, known.note, nil
	}
	if t.config, err = pgconn.ParseConfig(text); err != nil {
		return "", "", connectionStringError(err)
	}
	if isSplit(text, t.config) {
		return "", "", UnparsedError()
	}
	if hasPassword(text) {
		t.note = "a password on the command line shows in the list of processes: write it into ~/.pgpass, or set PGPASSWORD"
	} else if file := openFile(text); file != "" {
		without, err := pgconn.ParseConfig(withoutFile(text))
		if err != nil {
			return "", "", connectionStringError(err)
		}
		if without.Password != t.config.Password {
			t.config, t.note = without, "the password file "+file+" was not used, because other users of the machine can read it: `chmod 600 "+shell.Word(file)+"`"
		}
	}
	// Not as a parameter of the connection, which a pooler refuses.
	t.schema = t.config.RuntimeParams["search_path"]
	delete(t.config.RuntimeParams, "search_path")
	t.config.RuntimeParams["application_name"] = program
	return t.registerTarget(), t.note, nil
}

// registerTarget is the name of the target, which leads there from now on. Commands have the role
// besides, where it is not the one that the PG* variables and the machine give.
func (t *target) registerTarget() string {
	usual, err := pgconn.ParseConfig("")
	if err != nil {
		usual = &pgconn.Config{}
	}
	return server.Register(nameOf(t.config, t.schema), t, t.config.User, usual.User)
}

// isSplit reports whether a sign in a password that should have been written as %40, %3A or %2F
// may have made of its rest a part of the name that is printed.
func isSplit(text string, config *pgconn.Config) bool {
	split := strings.Contains(config.User, ":") || strings.Contains(config.Host, "@")
	_, address, is := strings.Cut(text, "://")
	if begin := strings.IndexAny(text, "= "); !is || begin >= 0 && begin < strings.Index(text, "://") {
		return split || is || strings.Contains(config.Database, ":") && strings.Contains(config.Database, "@")
	}
	rest := ""
	if at := strings.IndexAny(address, "/?#"); at >= 0 {
		rest = address[at:]
	}
	path, parameters, _ := strings.Cut(rest, "?")
	query, err := url.ParseQuery(parameters)
	for key, values := range query {
		split = split || strings.Contains(key, "@") || key != "user" && key != "password" && strings.Contains(strings.Join(values, ""), "@")
	}
	return split || err != nil || strings.Contains(path, "@") || strings.Contains(rest, "#")
}

// openFile is the password file for a connection string if others may read or write it:
// libpq passes over such a file, too. Bits of a mode mean nothing on Windows.
func openFile(text string) string {
	path := os.Getenv("PGPASSFILE")
	if me, err := user.Current(); err == nil && path == "" {
		path = filepath.Join(me.HomeDir, ".pgpass")
	}
	if u, err := url.Parse(text); err == nil && u.Query().Has("passfile") {
		path = u.Query().Get("passfile")
	} else if named := regexp.MustCompile(`(?:^|\s)passfile\s*=\s*'?([^\s']+)`).FindStringSubmatch(text); named != nil {
		path = named[1]
	}
	const others = 0o077
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&others == 0 || runtime.GOOS == "windows" {
		return ""
	}
	return path
}

// withoutFile is a connection string that names no password file.
func withoutFile(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return text + " passfile=" + os.DevNull
	}
	query := u.Query()
	query.Set("passfile", os.DevNull)
	u.RawQuery = query.Encode()
	return u.String()
}

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

// UnparsedError is the problem with a word that is not the address of a server, as it should be.
func UnparsedError() error { return connectionStringError(nil) }

// connectionStringError is the problem with a connection string; the driver's message repeats most of
// it, and may repeat a password.
func connectionStringError(err error) error {
	return &problem.Error{
		Class: problem.Usage, Err: err,
		What: "the name of the database is not a valid connection string",
		Next: "Write postgres://USER@HOST:PORT/DATABASE, or \"host=HOST dbname=DATABASE user=USER\", and put the password into the file ~/.pgpass. The name of a file begins with ./ if it looks like that.",
	}
}

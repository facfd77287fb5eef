package mysql

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store/server"
)

// IsName reports whether an argument names a database of MySQL or MariaDB: a URL, or "mysql:",
// which leaves everything to the option file and the variables of the client.
func IsName(word string) bool {
	for _, scheme := range []string{"mysql:", "mariadb:"} {
		if word == scheme || strings.HasPrefix(word, scheme+"//") {
			return true
		}
	}
	return false
}

// addresses are the forms of a word that was meant to be such an address: those of other programs.
var addresses = pattern.Lazy(`(?i)^[\s"'<]*(jdbc:|r2dbc:)*(mysql|mysqlx|mariadb)([^\w.-]\S*)?:|@(tcp|unix)\(`)

// IsMistyped reports whether a word that is no name of a database looks like the address of one.
func IsMistyped(word string) bool {
	if !strings.Contains(word, ":") {
		return false
	}
	_, err := os.Lstat(word)
	return err != nil && addresses().MatchString(word)
}

// target is a database as somebody named it.
type target struct {
	config *mysql.Config
	note   string // see RegisterName
}

// RegisterName is the name of a database without user, password and parameters, for people and
// for reports: mysql://host/database. Open knows what it stands for as long as the process
// lives; later, the option file and the client's variables have to say the rest. note is what
// should be said about the password, "" for nothing.
func RegisterName(word string) (name, note string, err error) {
	if known := server.Find[target](word); known != nil {
		return word, known.note, nil
	}
	t, err := parseTarget(word)
	if err != nil {
		return "", "", err
	}
	return t.registerTarget(), t.note, nil
}

func findTarget(word string) (*target, error) {
	name, _, err := RegisterName(word)
	return server.Find[target](name), err
}

// parseTarget puts together what a URL says, else the option file, else the variables of the
// client: in that order the client does.
func parseTarget(word string) (*target, error) {
	_, text, _ := strings.Cut(word, ":")
	u, err := url.Parse("mysql:" + cmp.Or(text, "//"))
	if err != nil {
		return nil, AddressError(err)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Opaque != "" || u.Fragment != "" || strings.Contains(u.Path+u.Host+u.User.Username(), "@") {
		return nil, AddressError(err)
	}
	for key, values := range query { // a sign in a password that should have been written as %40, %3F or %2F
		if !slices.Contains(parameters, key) || strings.Contains(strings.Join(values, ""), "@") {
			return nil, AddressError(nil)
		}
	}
	file, note := readOptions()
	password, has := u.User.Password()
	t := &target{config: mysql.NewConfig(), note: note}
	if has {
		t.note = "a password on the command line shows in the list of processes: write it into ~/.my.cnf, below [client], or set MYSQL_PWD"
	}
	c := t.config
	c.User = cmp.Or(u.User.Username(), file["user"], usualUser())
	if c.Passwd = password; !has {
		c.Passwd = cmp.Or(file["password"], os.Getenv("MYSQL_PWD"))
	}
	c.DBName = cmp.Or(strings.TrimPrefix(u.Path, "/"), file["database"])
	host := cmp.Or(u.Hostname(), file["host"], os.Getenv("MYSQL_HOST"))
	socket := query.Get("socket")
	if u.Hostname() == "" && (host == "" || host == "localhost") {
		socket = cmp.Or(socket, file["socket"], os.Getenv("MYSQL_UNIX_PORT"))
	}
	if c.Net, c.Addr = "unix", socket; socket == "" {
		c.Net, c.Addr = "tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), cmp.Or(u.Port(), file["port"], os.Getenv("MYSQL_TCP_PORT"), usualPort))
	}
	c.InterpolateParams, c.ClientFoundRows, c.Logger, c.MaxAllowedPacket = true, true, &mysql.NopLogger{}, 0
	c.ConnectionAttributes = "program_name:" + program
	return t, t.setEncryption(cmp.Or(query.Get("ssl-mode"), query.Get("sslMode"), file["ssl-mode"]), cmp.Or(query.Get("ssl-ca"), file["ssl-ca"]))
}

const usualPort = "3306"

// parameters are those that an address may have.
var parameters = []string{"socket", "ssl-mode", "sslMode", "ssl-ca"}

// setEncryption sets how a connection is encrypted, in the client's words; without one it is where the
// server can. A certificate is verified with the name of its host.
func (t *target) setEncryption(mode, authority string) error {
	host, _, _ := net.SplitHostPort(t.config.Addr)
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if authority != "" {
		text, err := os.ReadFile(authority)
		if config.RootCAs = x509.NewCertPool(); err != nil || !config.RootCAs.AppendCertsFromPEM(text) {
			return &problem.Error{Class: problem.Usage, Err: err, What: "the certificates of ssl-ca cannot be read", Next: "Name a file with certificates in PEM form."}
		}
		mode = cmp.Or(mode, "VERIFY_CA")
	}
	switch strings.ToUpper(strings.ReplaceAll(mode, "-", "_")) {
	case "", "PREFERRED":
		if t.config.Net == "tcp" {
			t.config.TLSConfig = "preferred"
		}
	case "DISABLED":
	case "REQUIRED":
		t.config.TLSConfig = "skip-verify"
	case "VERIFY_CA", "VERIFY_IDENTITY":
		t.config.TLS = config
	default:
		return AddressError(nil)
	}
	return nil
}

// readOptions are the options of the group [client] in the option file of the user. The client
// passes over a file that others can write to; note says so.
func readOptions() (options map[string]string, note string) {
	options = map[string]string{}
	home, _ := os.UserHomeDir()
	path := filepath.Join(home, ".my.cnf")
	info, err := os.Stat(path)
	if err != nil || home == "" {
		return options, ""
	}
	const othersWrite, othersRead = 0o002, 0o044
	if mode := info.Mode().Perm(); mode&othersWrite != 0 && runtime.GOOS != "windows" {
		return options, "the option file " + path + " was not used, because other users of the machine can write to it: `chmod 600 " + shell.Word(path) + "`"
	} else if mode&othersRead != 0 && runtime.GOOS != "windows" {
		note = "other users of the machine can read the option file " + path + ", with the password in it: `chmod 600 " + shell.Word(path) + "`"
	}
	text, _ := os.ReadFile(path)
	group := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			group = strings.Trim(line, "[]")
		}
		if !slices.Contains([]string{"client", "client-server", "client-mariadb"}, group) || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		options[strings.ReplaceAll(strings.TrimSpace(key), "_", "-")] = optionValue(strings.TrimSpace(value))
	}
	if options["password"] == "" {
		note = ""
	}
	return options, note
}

// optionValue is a value in an option file: between quotation marks as it is, else up to a comment.
func optionValue(text string) string {
	if len(text) > 1 && (text[0] == '"' || text[0] == '\'') {
		if end := strings.IndexByte(text[1:], text[0]); end >= 0 {
			return unescaped.Replace(text[1 : end+1])
		}
	}
	text, _, _ = strings.Cut(text, " #")
	return unescaped.Replace(strings.TrimSpace(text))
}

var unescaped = strings.NewReplacer(`\\`, `\`, `\s`, " ", `\t`, "\t", `\n`, "\n", `\r`, "\r")

// usualUser is the role without another word.
func usualUser() string {
	if me, err := user.Current(); err == nil {
		return me.Username
	}
	return os.Getenv("USER")
}

// HasUsualRole reports whether the option file names a role.
func HasUsualRole() bool {
	file, _ := readOptions()
	return file["user"] != ""
}

// registerTarget is the name of the target, which leads there from now on.
func (t *target) registerTarget() string {
	u := url.URL{Host: strings.TrimSuffix(t.config.Addr, ":"+usualPort), Path: "/" + t.config.DBName}
	if t.config.Net == "unix" {
		u.Host, u.RawQuery = "", "socket="+strings.ReplaceAll(url.QueryEscape(t.config.Addr), "%2F", "/")
	}
	file, _ := readOptions()
	return server.Register("mysql://"+strings.TrimPrefix(u.String(), "//"), t, t.config.User, cmp.Or(file["user"], usualUser()))
}

// AddressError is the problem with a word that is not the address of a server, as it should be.
// The error of a parser repeats most of it, and may repeat a password.
func AddressError(err error) error {
	return &problem.Error{
		Class: problem.Usage, Err: err,
		What: "the name of the database is not a valid address",
		Next: "Write mysql://USER@HOST:PORT/DATABASE, with ?socket=PATH, ?ssl-mode=MODE or ?ssl-ca=FILE at the end, and put the password into the file ~/.my.cnf below [client]. The name of a file begins with ./ if it looks like that.",
	}
}

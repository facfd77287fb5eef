package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
)

// Endings are those of the names of files that are taken for stores where a folder or a
// pattern is named. Upper and lower case are the same.
var Endings = []string{".db", ".sqlite", ".sqlite3", ".ndjson"}

func hasEnding(path string) bool {
	return slices.Contains(Endings, strings.ToLower(filepath.Ext(path)))
}

// Expansion is what a path stands for.
type Expansion struct {
	Stores []string
	// Others are files in the folders with the ending of a store that are sound and
	// another program's.
	Others []string
}

func (e *Expansion) addStores(other Expansion) {
	e.Stores = append(e.Stores, other.Stores...)
	e.Others = append(e.Others, other.Others...)
}

// ExpandPath replaces a pattern by the stores that it matches, and a folder by those that it
// stands for. Every other path stays as it is. kind names what a folder is taken for, ""
// anything. With an error, what was left out may still be told.
func ExpandPath(ctx context.Context, path, kind string) (Expansion, error) {
	d := serverOf(path)
	switch {
	case path == "":
		return Expansion{}, problem.New(problem.Usage, "`sessctl stores` lists the kinds of stores and where they are.", "the path of the store is empty")
	case d != nil:
		return d.databaseMeans(ctx, path, kind)
	case IsPattern(path):
		return matchingStores(ctx, path, kind)
	case !isFolder(path):
		return Expansion{Stores: []string{path}}, nil
	}
	found, err := folderMeans(ctx, path, kind)
	if err == nil && len(found.Stores) == 0 {
		err = unreadError(path)
	}
	if err == nil && len(found.Stores) == 0 {
		err = problem.New(problem.Unreadable, "Files ending in "+strings.Join(Endings, ", ")+" are looked at: name the file itself if it has another ending.",
			"no session store in %s (subfolders are not searched; try %s)", path, shell.Word(filepath.Join(path, "**", "*.db")))
	}
	return found, err
}

// Arguments are those of a command, so that no password comes further than this.
type Arguments struct {
	Plain   []string // with the names of databases in place of the URLs that lead there
	Notes   []string // what should be said about the passwords
	Secrets []string // words that may be passwords, and are ids if they are none
}

// ids are flags whose values may look like an account and its password.
var ids = []string{"--session", "--user", "--app", "--agent", "--branch", "--match", "--visibility", "--compare-visibility"}

// WithoutPasswords are the arguments of a command; the error is that of one that is meant to
// name a server and does not.
func WithoutPasswords(args []string) (Arguments, error) {
	a := Arguments{Plain: slices.Clone(args)}
	asks := slices.Contains(args, "view") || slices.Contains(args, "why") // about a session
	for i, arg := range args {
		flag := ""
		if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			flag, arg = name, value
		}
		d := serverOf(arg)
		if d == nil {
			secret, wrong := findPassword(arg)
			switch isID := slices.Contains(ids, flag) || flag == "" && i > 0 && slices.Contains(ids, args[i-1]); {
			case isID:
			case wrong != nil:
				return a, wrong
			case secret != "" && (!asks || IsPattern(arg)):
				return a, dialects[len(dialects)-1].address() // it may be that of a server
			case secret != "":
				a.Secrets = append(a.Secrets, arg, secret)
			}
			continue
		}
		name, note, err := d.register(arg)
		if err != nil {
			return a, err
		}
		if a.Plain[i] = name; flag != "" {
			a.Plain[i] = flag + "=" + name
		}
		if note != "" && !slices.Contains(a.Notes, note) {
			a.Notes = append(a.Notes, note)
		}
	}
	return a, nil
}

// folderMeans are the stores that a folder stands for: itself, where it is one, and those
// directly in it. One that only may be a store stands for itself where there are no
// others, or where kind names what it is.
func folderMeans(ctx context.Context, path, kind string) (Expansion, error) {
	itself := Expansion{Stores: []string{path}}
	if kind != "" && sureOf(ctx, path, kind) != store.No {
		return itself, nil
	}
	sure := sureOf(ctx, path, "")
	found, err := storesIn(ctx, path)
	switch {
	case err != nil:
		return Expansion{}, err
	case sure == store.Certain:
		// What is sound is the runtime's own, and so may be what is not, as an index that it makes anew.
		unknown := func(file string) bool { return sureOf(ctx, file, "") == store.No }
		itself.Others = slices.DeleteFunc(slices.Clone(found.Stores), func(file string) bool { return !unknown(file) })
		itself.Stores = append(itself.Stores, slices.DeleteFunc(found.Stores, unknown)...)
		return itself, nil
	case len(found.Stores) == 0 && sure == store.Maybe:
		found.Stores = itself.Stores
	}
	return found, nil
}

// storesIn are the stores directly in a folder: all with the ending of one, so that one
// that is damaged, empty or cannot be opened is not passed over, but not what is sound
// and another program's.
func storesIn(ctx context.Context, path string) (found Expansion, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return Expansion{}, unlistedError(path, err)
	}
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		switch {
		case !hasEnding(file) || isFolder(file):
		case isOther(ctx, file):
			found.Others = append(found.Others, file)
		default:
			found.Stores = append(found.Stores, file)
		}
	}
	return found, ctx.Err()
}

// unlistedError is the problem with a folder that cannot be looked into.
func unlistedError(path string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s cannot be listed: %v", path, err),
		Next: "Name a file in it, or check the permissions of the folder.",
	}
}

// mostAlternatives bounds the words that a pattern stands for, because each is looked
// for by itself: twenty times {a,b} are a million.
const mostAlternatives = 10_000

// countAlternatives counts how many words a pattern stands for when every {a,b} in it is written
// out, and more than mostAlternatives where it is more.
func countAlternatives(pattern string) int {
	// One element for the pattern, and one for each brace that is open.
	words, before := []int{1}, []int{0} // of the current alternative; of those before it
	closeOne := func() {
		top := len(words) - 1
		n := words[top] + before[top]
		words, before = words[:top], before[:top]
		words[top-1] = min(words[top-1]*n, mostAlternatives+1)
	}
	for i := 0; i < len(pattern); i++ {
		top := len(words) - 1
		switch c := pattern[i]; {
		case c == '\\' && filepath.Separator != '\\':
			i++ // the next one means itself
		case c == '{':
			words, before = append(words, 1), append(before, 0)
		case c == ',' && top > 0:
			words[top], before[top] = 1, min(before[top]+words[top], mostAlternatives+1)
		case c == '}' && top > 0:
			closeOne()
		}
	}
	for len(words) > 1 {
		closeOne()
	}
	return words[0]
}

// globPaths are the paths that a pattern matches, sorted. Names that begin with a dot are
// matched as all others: runtimes keep stores below such folders. A link to a folder is
// followed where the pattern names it, and nowhere else, so that no circle is walked.
func globPaths(ctx context.Context, pattern string) ([]string, error) {
	base, rest := splitPattern(filepath.Clean(pattern), filepath.Separator)
	paths, err := doublestar.Glob(endingFS{ctx, os.DirFS(base)}, rest, doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		paths[i] = filepath.Join(base, filepath.FromSlash(path))
	}
	slices.Sort(paths)
	return paths, nil
}

// splitPattern takes a pattern apart into the folder before its first wildcard and the
// rest, which has slashes. Where \ separates folders, it cannot take the meaning from a
// wildcard: [*] does that everywhere.
func splitPattern(pattern string, separator byte) (base, rest string) {
	return doublestar.SplitPattern(strings.ReplaceAll(pattern, string(separator), "/"))
}

// endingFS is a file system that can be used until the context ends.
type endingFS struct {
	ctx context.Context
	fs  fs.FS
}

func (e endingFS) Open(name string) (fs.File, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	return e.fs.Open(name)
}

func (e endingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.ReadDir(e.fs, name)
}

// Stat opens nothing, so that a named pipe keeps nobody waiting.
func (e endingFS) Stat(name string) (fs.FileInfo, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.Stat(e.fs, name)
}

// IsPattern reports whether a path stands for all that it matches: it has a wildcard,
// and nothing has exactly this name.
func IsPattern(path string) bool {
	if !strings.ContainsAny(path, "*?[{") {
		return false
	}
	_, err := os.Lstat(path)
	return err != nil
}

// ownCopy is the name of a backup that a repair made, and of its receipt.
var ownCopy = pattern.Lazy(`\.sessctl-\d{8}T\d{6}Z(-\d+)?(\.receipt\.json)?$`)

// matchingStores are the stores that a pattern matches, in the order of their paths.
func matchingStores(ctx context.Context, pattern, kind string) (found Expansion, err error) {
	if countAlternatives(pattern) > mostAlternatives {
		return found, problem.New(problem.Usage, "Use * or ** for what differs, or several patterns.",
			"the pattern %s has more than %d alternatives", pattern, mostAlternatives)
	}
	paths, err := globPaths(ctx, pattern)
	switch {
	case ctx.Err() != nil:
		return found, ctx.Err()
	case errors.Is(err, doublestar.ErrBadPattern):
		return found, problem.New(problem.Usage, "In a pattern, * and ? match letters, ** matches folders, [ab] matches one of these letters, and {a,b} one of these words.",
			"the pattern %s is not valid", pattern)
	case err != nil:
		return found, &problem.Error{
			Class: problem.Unreadable, Err: err, What: fmt.Sprintf("some of what %s matches cannot be read: %v", pattern, err),
			Next: "Use a pattern that does not match it, or check the permissions.",
		}
	}
	for _, path := range paths {
		stores, err := storesAt(ctx, path, kind)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return found, err
		}
		found.addStores(stores)
	}
	if len(found.Stores) == 0 {
		err = problem.New(problem.Unreadable, "`sessctl stores` lists the kinds of stores and where they are.", "no store matches %s", pattern)
	}
	return found, err
}

// storesAt are the stores that one match of a pattern stands for. What has the ending of
// a store is taken for one, so that one that is damaged is not passed over; of other
// files and of folders those that are or hold stores.
func storesAt(ctx context.Context, path, kind string) (Expansion, error) {
	switch {
	case isFolder(path):
		return folderMeans(ctx, path, kind)
	case ownCopy().MatchString(path):
		return Expansion{}, nil
	case hasEnding(path), isRegular(path) && isStore(ctx, path):
		return Expansion{Stores: []string{path}}, nil
	}
	return Expansion{}, nil
}

// DistinctPaths leaves out the paths that lead to a store that another one led to before.
func DistinctPaths(paths []string) []string {
	var kept []string
	words := map[string]bool{}
	alike := map[string][]os.FileInfo{} // by what is the same for the same file
	for _, path := range paths {
		word := path
		if path != "-" {
			word = filepath.Clean(path)
		}
		if words[word] {
			continue
		}
		words[word] = true
		if info, err := os.Stat(path); err == nil && path != "-" {
			key := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
			if slices.ContainsFunc(alike[key], func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
				continue
			}
			alike[key] = append(alike[key], info)
		}
		kept = append(kept, path)
	}
	return kept
}

// Location is a place where a store may be.
type Location struct {
	Kind  store.Kind
	Path  string
	Found bool
}

// Locations are the default places of all kinds.
func Locations(ctx context.Context, home string) []Location {
	var list []Location
	for _, k := range Kinds {
		if k.Locations == nil {
			continue
		}
		for _, path := range k.Locations(home) {
			list = append(list, Location{Kind: k, Path: path, Found: isPresent(path) && !isEmpty(ctx, &k, path)})
		}
	}
	return list
}

// DefaultStores are the paths of the stores that are found at the default places: those of a kind, "" for
// all.
func DefaultStores(ctx context.Context, home, kind string) ([]string, error) {
	var found, looked []string
	for _, l := range Locations(ctx, home) {
		if kind != "" && l.Kind.Name != kind && (!l.Found || sureOf(ctx, l.Path, kind) == store.No) {
			continue
		}
		looked = append(looked, l.Path)
		if l.Found {
			found = append(found, l.Path)
		}
	}
	const next = "Name the store on the command line. `sessctl stores` lists the kinds of stores, their usual places, and what is there."
	switch {
	case len(looked) == 0:
		return nil, problem.New(problem.Unreadable, next, "stores of kind %s have no usual place", kind)
	case len(found) == 0 && kind == "":
		return nil, problem.New(problem.Unreadable, next, "no session store found at the %d usual places", len(looked))
	case len(found) == 0:
		return nil, problem.New(problem.Unreadable, next, "no session store found (looked at %s)", strings.Join(looked, ", "))
	}
	return DistinctPaths(found), nil // the current folder may be one of the places
}

// isEmpty reports whether a runtime has made its folder and stored nothing there.
func isEmpty(ctx context.Context, kind *store.Kind, path string) bool {
	if kind.Empty == nil || !isFolder(path) || sureOf(ctx, path, "") != store.No {
		return false
	}
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return false
	}
	defer func() { _ = src.closeFiles() }()
	return kind.Empty(&src.Source) && unreadError(path) == nil
}

// unreadError is the problem with a folder without a store, if something in it may not be read that could
// be one: a folder, or a file of JSON lines. It does not look at so much that it takes long.
func unreadError(folder string) (found error) {
	const enough = 1000
	n := 0
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error { // which returns none
		if err == nil && e.Type().IsRegular() && filepath.Ext(path) == ".jsonl" {
			var f *os.File
			if f, err = os.Open(path); err == nil {
				_ = f.Close() // nothing was read
			}
		}
		if errors.Is(err, fs.ErrPermission) {
			found = &problem.Error{
				Class: problem.Unreadable, Err: err, Next: "Run sessctl as the user who owns it.",
				What: fmt.Sprintf("no session store was found in %s, and %s cannot be read: %s", folder, path, problem.Reason(err)),
			}
		}
		if n++; found != nil || n >= enough {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// isPresent reports whether something is at a path. A link that leads nowhere counts, and
// what cannot be looked at: passed over, it would go unnoticed that it cannot be read.
func isPresent(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// isRegular reports whether a path leads to a file that can be looked into.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// isFolder reports whether a path leads to a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

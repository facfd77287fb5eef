package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render/checks"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// completeFlag offers words for the value of a flag; the shell keeps those that fit.
func completeFlag(cmd *cobra.Command, flag string, words cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, words); err != nil {
		panic(err) // the flag was not declared
	}
}

// completeFlags offers words for the values of flags, which are the same in all commands but where one has
// said others.
func (p *program) completeFlags(cmd *cobra.Command) {
	words := map[string]cobra.CompletionFunc{
		"select": listOf(ruleListWords), "ignore": listOf(ruleListWords), "profile": listOf(fixedWords(profileNames())), "allow": listOf(fixedWords(allowed)),
		"compare-visibility": listOf(fixedWords(modelNames())), "session": p.sessionWords, "match": p.sessionWords, "against": completeStores(0), "report": completeReport,
	}
	for _, name := range []string{"shard", "app", "user", "jobs", "max-memory", "max-findings", "live-window", "every", "poll", "metrics", "agent", "tool", "branch", "since", "context", "limit"} {
		words[name] = oneOf()
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, said := cmd.GetFlagCompletionFunc(f.Name); !said && words[f.Name] != nil {
			completeFlag(cmd, f.Name, words[f.Name])
		}
	})
}

// oneOf offers words, and none where nobody can say which: files never fit.
func oneOf(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// listOf offers words for the last place of a list with commas, but those that stand
// in it already.
func listOf(words func(last string) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		at := strings.LastIndexByte(typed, ',') + 1
		before, last := typed[:at], typed[at:]
		var list []string
		for _, w := range withoutTyped(words(last), strings.Split(before, ",")) {
			if before != "" { // bash compares a word that has a description with its comma quoted: none fits then
				w, _, _ = strings.Cut(w, "\t")
			}
			list = append(list, before+w)
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// fixedWords offers the same words whatever was typed.
func fixedWords(words []string) func(string) []string {
	return func(string) []string { return words }
}

func withoutTyped(words, typed []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		bare, _, _ := strings.Cut(w, "\t")
		return slices.Contains(typed, bare)
	})
}

// isPlain reports whether a word from data may be offered: bash puts what several words
// begin with on the command line as it stands, so that none may hold what a shell reads
// as more than a part of one word, or sessctl as a flag.
func isPlain(word string) bool {
	const signs = "._-/:@+,=%"
	return word != "" && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(signs, r)
	})
}

// ruleWords are the ids of all rules with their names, or, where a name was begun,
// their names.
func ruleWords(begun string) []string {
	var words []string
	for _, r := range catalogue.All {
		if begun != "" && unicode.IsLower(rune(begun[0])) {
			words = append(words, cobra.CompletionWithDesc(r.Name, r.ID))
		} else {
			words = append(words, cobra.CompletionWithDesc(r.ID, r.Name))
		}
	}
	return words
}

// ruleListWords are the words of --select and --ignore: besides rules, the beginnings
// that stand for several, as long as none is typed.
func ruleListWords(begun string) []string {
	const beginning = len("SC7")
	words := ruleWords(begun)
	if len(begun) >= beginning {
		return words
	}
	counts := map[string]int{}
	for _, r := range catalogue.All {
		counts[r.ID[:beginning]]++
	}
	for id, n := range counts {
		words = append(words, cobra.CompletionWithDesc(id, fmt.Sprintf("%d rules", n)))
	}
	slices.Sort(words)
	return words
}

// completeRules offers rules that are no arguments yet.
func completeRules(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return withoutTyped(ruleWords(typed), args), cobra.ShellCompDirectiveNoFileComp
}

// completeStores offers the files that may be stores, and folders, for up to n
// arguments; n is 0 for any number.
func completeStores(n int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if n > 0 && len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return fileEndings(registry.Endings...)
	}
}

// fileEndings lets the shell offer files with these endings.
func fileEndings(endings ...string) ([]string, cobra.ShellCompDirective) {
	words := lists.MapEach(endings, func(e string) string { return strings.TrimPrefix(e, ".") })
	return words, cobra.ShellCompDirectiveFilterFileExt
}

// completeReport offers formats and then files. Shells take FORMAT=FILE for one word,
// so that the files are looked up here.
func completeReport(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	format, path, named := strings.Cut(typed, "=")
	if !named {
		words := lists.MapEach(checks.FormatNames(), func(name string) string { return name + "=" })
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	folder, begun := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Clean(folder)) // without it, nothing is offered
	directive := cobra.ShellCompDirectiveNoFileComp
	var words []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), begun) || !isPlain(e.Name()) || begun == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		word := format + "=" + folder + e.Name()
		if e.IsDir() {
			word += string(filepath.Separator)
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		words = append(words, word)
	}
	return words, directive
}

// What a person who waits for words gets: no more than one looks through, and of a
// store that takes longer to read, those that were found until then.
const (
	mostWords   = 200
	longestWait = 2 * time.Second
)

// prepareCompletion makes the program ready to look up words: it says nothing, and reads no
// standard input. The context ends when nobody wants to wait any longer.
func (p *program) prepareCompletion(cmd *cobra.Command) (context.Context, context.CancelFunc, error) {
	p.stdin, p.stderr = strings.NewReader(""), io.Discard
	if err := p.loadConfig(cmd); err != nil {
		return nil, nil, err
	}
	p.config.Quiet = true
	ctx, cancel := context.WithTimeout(cmd.Context(), longestWait)
	return ctx, cancel, nil
}

// sessionWords are the ids of the sessions in the stores that the arguments name, the
// newest first. A store that cannot be read offers none.
func (p *program) sessionWords(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	ctx, cancel, err := p.prepareCompletion(cmd)
	if err != nil {
		return nil, directive
	}
	defer cancel()
	paths, err := p.storePaths(ctx, args)
	if err != nil {
		return nil, directive
	}
	var found view.Search
	for _, path := range paths {
		p.addSessions(ctx, &found, path)
	}
	return sessionsAsWords(found.Known, typed), directive
}

// addSessions adds what can be read of a store.
func (p *program) addSessions(ctx context.Context, found *view.Search, path string) {
	opened, err := p.openStore(ctx, path)
	if err != nil {
		return
	}
	for tree, err := range opened.Trees(ctx) {
		if err != nil || ctx.Err() != nil {
			break
		}
		found.Add(path, tree)
	}
	_ = opened.Close()
}

// sessionsAsWords are the ids that begin as typed: those of root sessions, or, where
// there is none, of sub-sessions. Each is offered once: bash would put on the command
// line what the titles of two equal ids begin with.
func sessionsAsWords(known []view.Known, typed string) []string {
	known = slices.DeleteFunc(known, func(k view.Known) bool {
		return !strings.HasPrefix(k.ID, typed) || !isPlain(k.ID)
	})
	roots := slices.DeleteFunc(slices.Clone(known), func(k view.Known) bool { return !k.Root })
	if len(roots) == 0 {
		roots = known
	}
	slices.SortStableFunc(roots, func(a, b view.Known) int { return b.Created.Compare(a.Created) })
	seen := map[string]bool{}
	roots = slices.DeleteFunc(roots, func(k view.Known) bool {
		again := seen[k.ID]
		seen[k.ID] = true
		return again
	})
	return lists.MapEach(roots[:min(len(roots), mostWords)], func(k view.Known) string { return cobra.CompletionWithDesc(k.ID, ui.Clean(k.Title)) })
}

// completeView offers what `view` takes: stores and sessions.
func (p *program) completeView(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const pathLike = "~." + string(filepath.Separator)
	switch {
	case len(args) > 1:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case len(args) == 1:
		return p.sessionWords(cmd, args, typed)
	case typed == "" || !strings.ContainsAny(typed[:1]+filepath.Dir(typed), pathLike):
		if words, directive := p.sessionWords(cmd, args, typed); len(words) > 0 {
			return words, directive &^ cobra.ShellCompDirectiveNoFileComp
		}
	}
	return fileEndings(registry.Endings...)
}

// viewerWords offers what a part of the viewers of a session is called, their branches
// for example. newest are the digits of -1 where the session was named so, else "".
func (p *program) viewerWords(newest *string, called func(view.Viewer) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		if *newest != "" {
			once := (*newest)[:len(*newest)/2] // cobra parses twice before it completes
			args = append(args, "-"+once)
		}
		ctx, cancel, err := p.prepareCompletion(cmd)
		if err != nil || len(args) < 1 || len(args) > 2 {
			return nil, directive
		}
		defer cancel()
		s := &search{program: p, opened: map[string]*registry.Opened{}}
		v, err := s.everyViewer(ctx, args)
		if err = errors.Join(err, s.closeStores()); err != nil {
			return nil, directive
		}
		var words []string
		for _, viewer := range v.Visibility.Viewers {
			word := called(viewer)
			if isPlain(word) && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
		return words, directive
	}
}

// everyViewer is what every agent sees of the session that the arguments name.
func (s *search) everyViewer(ctx context.Context, args []string) (*view.View, error) {
	found, err := s.resolveArguments(ctx, args)
	if err != nil {
		return nil, err
	}
	opened := s.opened[found.Store]
	in := view.Input{Store: opened.Facts(), Session: found.ID}
	for tree, err := range (oneSession{Store: opened, found: found}).Trees(ctx) {
		if err != nil {
			return nil, err
		}
		in.Tree = tree
	}
	return view.BuildVisibility(in, view.Question{All: true})
}

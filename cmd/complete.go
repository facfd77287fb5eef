package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// completeFlag offers words for the value of a flag; the shell keeps those that fit.
func completeFlag(cmd *cobra.Command, flag string, words cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, words); err != nil {
		panic(err) // the flag was not declared
	}
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
		for _, w := range without(words(last), strings.Split(before, ",")) {
			if before != "" { // bash compares a word that has a description with its comma quoted: none fits then
				w, _, _ = strings.Cut(w, "\t")
			}
			list = append(list, before+w)
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// always offers the same words whatever was typed.
func always(words []string) func(string) []string {
	return func(string) []string { return words }
}

// without leaves out words that were typed already.
func without(words, typed []string) []string {
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
	return without(ruleWords(typed), args), cobra.ShellCompDirectiveNoFileComp
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
	words := make([]string, len(endings))
	for i, e := range endings {
		words[i] = strings.TrimPrefix(e, ".")
	}
	return words, cobra.ShellCompDirectiveFilterFileExt
}

// completeReport offers formats and then files. Shells take FORMAT=FILE for one word,
// so that the files are looked up here.
func completeReport(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	format, path, named := strings.Cut(typed, "=")
	if !named {
		var words []string
		for _, name := range render.CheckFormatNames() {
			words = append(words, name+"=")
		}
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

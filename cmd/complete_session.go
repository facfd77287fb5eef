package cmd

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// What a person who waits for words gets: no more than one looks through, and of a
// store that takes longer to read, those that were found until then.
const (
	mostWords   = 200
	longestWait = 2 * time.Second
)

// prepare makes the program ready to look up words: it says nothing, and reads no
// standard input. The context ends when nobody wants to wait any longer.
func (p *program) prepare(cmd *cobra.Command) (context.Context, context.CancelFunc, error) {
	p.stdin, p.stderr = strings.NewReader(""), io.Discard
	if err := p.configure(cmd); err != nil {
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
	ctx, cancel, err := p.prepare(cmd)
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
	opened, err := p.open(ctx, path)
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
	var words []string
	for _, k := range roots[:min(len(roots), mostWords)] {
		words = append(words, cobra.CompletionWithDesc(k.ID, ui.Clean(k.Title)))
	}
	return words
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
		ctx, cancel, err := p.prepare(cmd)
		if err != nil || len(args) < 1 || len(args) > 2 {
			return nil, directive
		}
		defer cancel()
		s := &search{program: p, opened: map[string]*registry.Opened{}}
		v, err := s.everyViewer(ctx, args)
		if err = errors.Join(err, s.close()); err != nil {
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
	found, err := s.find(ctx, args)
	if err != nil {
		return nil, err
	}
	opened := s.opened[found.Store]
	in := view.Input{Store: opened.Facts(), Session: found.ID}
	for tree, err := range (oneSession{opened, found}).Trees(ctx) {
		if err != nil {
			return nil, err
		}
		in.Tree = tree
	}
	return view.Visible(in, view.Question{All: true})
}

package rules_test

import "github.com/sessctl/sessctl/internal/session"

// Helpers for what the notation has no words for: results within messages of the
// user or of the assistant, and tools that the provider ran.

// inUserItems makes messages of the user of result items of the root session.
func inUserItems(items ...int) func(*session.Tree) {
	return func(tree *session.Tree) {
		for _, i := range items {
			it := &tree.Root().Items[i]
			it.Role, it.Own().Agent, it.Text = session.User, "", 0
		}
	}
}

// blocks gives an item of the root session its blocks, of which the calls and
// results count from the first.
func blocks(item int, kinds ...session.BlockKind) func(*session.Tree) {
	return func(tree *session.Tree) {
		count := map[session.BlockKind]int{}
		for _, kind := range kinds {
			tree.Root().Items[item].Blocks = append(tree.Root().Items[item].Blocks, session.Block{Kind: kind, Nth: count[kind]})
			count[kind]++
		}
	}
}

// inAssistant makes a message of the assistant of an item that calls and answers.
func inAssistant(items ...int) func(*session.Tree) {
	return func(tree *session.Tree) {
		for _, i := range items {
			tree.Root().Items[i].Role = session.Assistant
		}
	}
}

// byServer says of the calls and results of an item that the provider ran them.
func byServer(item int) func(*session.Tree) {
	return func(tree *session.Tree) {
		it := &tree.Root().Items[item]
		it.Role = session.Assistant
		for n := range it.Calls {
			it.Calls[n].Server = true
		}
		for n := range it.Results {
			it.Results[n].Server = true
		}
	}
}

// ranByServer says of one call of an item that the provider ran it.
func ranByServer(item, nth int) func(*session.Tree) {
	return func(tree *session.Tree) { tree.Root().Items[item].Calls[nth].Server = true }
}

// changes makes several changes.
func changes(tweaks ...func(*session.Tree)) func(*session.Tree) {
	return func(tree *session.Tree) {
		for _, tweak := range tweaks {
			tweak(tree)
		}
	}
}

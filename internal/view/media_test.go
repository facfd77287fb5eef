package view_test

import (
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// TestMedia: images and files are lines of their type and size, where they are.
func TestMedia(t *testing.T) {
	tree := treetest.Trees(t, "P\n  user\n  root c1()\n  root <c1")[0]
	image := session.Block{Kind: session.MediaBlock, Name: "image", Media: "image/png", Bytes: 4000}
	inResult := image
	inResult.Media, inResult.In = "image/gif", 1
	tree.Root().Items[0].Blocks = []session.Block{image, {Kind: session.MediaBlock, Name: "document"}}
	tree.Root().Items[2].Blocks = []session.Block{inResult, {Kind: session.ResultBlock}}
	rows := view.BuildView(view.Input{Store: &session.Store{}, Tree: tree, Session: "P"}).Shown.Rows
	if got, want := rows[0].Media, []string{"image/png, 3.0 kB", "document"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := rows[1].Calls[0].Answer.Media, []string{"image/gif, 3.0 kB"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

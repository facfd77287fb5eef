package change_test

import (
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
)

// TestOmitted: blocks that leave are told by what is left of their kinds, and their texts are
// not told besides.
func TestOmitted(t *testing.T) {
	text, thought := session.Block{Kind: session.TextBlock}, session.Block{Kind: session.ReasoningBlock, Signature: 1}
	image := session.Block{Kind: session.MediaBlock, Name: "image", Media: "image/png", Bytes: 8}
	other, inResult := image, image
	other.Bytes, inResult.In = 9, 1
	for name, tc := range map[string]struct {
		was, is []session.Block
		want    []int
	}{
		"nothing":            {was: []session.Block{thought, text, image}, is: []session.Block{thought, text, image}},
		"a note for one":     {was: []session.Block{image, text, other}, is: []session.Block{text, text, other}, want: []int{0}},
		"a note for each":    {was: []session.Block{image, other}, is: []session.Block{text, text}, want: []int{0, 1}},
		"reasoning":          {was: []session.Block{thought, text, image}, is: []session.Block{text, image}, want: []int{0}},
		"one in a result":    {was: []session.Block{inResult, {Kind: session.ResultBlock}}, is: []session.Block{{Kind: session.ResultBlock}}, want: []int{0}},
		"the second of two":  {was: []session.Block{thought, image, other}, is: []session.Block{thought, image, text}, want: []int{2}},
		"what plain it made": {was: []session.Block{thought, text}, want: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			item := func(said string, blocks []session.Block) *session.Item {
				return &session.Item{Shared: &session.Shared{Table: "t"}, Key: "k", Body: &session.Body{Text: said}, Results: []session.Result{{Text: said}}, Blocks: blocks}
			}
			is := item("a", tc.is)
			if tc.want != nil {
				is = item("b", tc.is)
			}
			all, err := change.CompareSessions(changeOf(item("a", tc.was), is))
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, v := range all[0].Items[0].Values {
				if v.Field != change.FieldOmitted || v.Is != tc.was[v.Nth].OmissionNote() {
					t.Errorf("it tells %+v", v)
				}
				got = append(got, v.Nth)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%v leave, want %v", got, tc.want)
			}
		})
	}
}

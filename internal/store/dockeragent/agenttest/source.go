package agenttest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// source is a long text that looks like Go source code. Messages are cut out of
// it, which costs nothing; its quotes, tabs and line ends make the JSON as hard
// to read as real ones (about 60 backslashes in a kilobyte).
type source struct {
	text string
	at   int
}

// sourceDensity is the size of a piece of the source in memory for each byte
// that it takes in JSON.
const sourceDensity = 0.9

const sourceSize = 1 << 21

// lines are the shapes of the source's lines; %s is a name.
var lines = []string{
	"func (%s *%s) %s() error {\n",
	"\tif err := %s.%s(ctx, \"%s\"); err != nil {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n",
	"\tfor i, %s := range %s.%s {\n",
	"\t\t%s[\"%s\"] = append(%s, \"%s\")\n",
	"\t\tcase %s < %s && %s > 0:\n",
	"// %s returns the %s of the %s that the caller asked for, or nil.\n",
	"// A %s without a %s is not an error: the %s may come later, see %s and %s.\n",
	"\tlog.Printf(\"%s: read %%d bytes of %s\\n\", n)\n",
	"\treturn %s.%s, nil\n}\n\n",
	"\t{name: \"%s\", want: \"%s\"},\n",
	"ok  \tgithub.com/example/project/internal/%s\t0.%s12s\n",
	"internal/%s/%s.go:41: %s is not used in this package\n",
}

var names = []string{
	"reader", "writer", "session", "item", "cursor", "index", "table", "row", "key", "value", "state", "config",
	"request", "answer", "stream", "buffer", "window", "frame", "branch", "viewer", "digest", "ledger", "plan", "edit",
}

// newSource draws the text.
func newSource(seed uint64) *source {
	rng := rand.New(rand.NewPCG(seed, 0x50c))
	var b strings.Builder
	for b.Len() < sourceSize {
		line := lines[rng.IntN(len(lines))]
		values := make([]any, strings.Count(line, "%s"))
		for i := range values {
			values[i] = names[rng.IntN(len(names))]
		}
		fmt.Fprintf(&b, line, values...)
	}
	return &source{text: b.String()}
}

// cut returns the next n bytes of the text, which starts again at its end.
func (s *source) cut(n int) string {
	if s.at+n > len(s.text) {
		s.at = s.at + n - len(s.text) // not 0: the second round must differ from the first
		s.at %= 997
	}
	piece := s.text[s.at : s.at+n]
	s.at += n
	if strings.TrimSpace(piece) == "" { // a blank text would be a defect
		return strings.Repeat("-", n)
	}
	return piece
}

// title draws a few names.
func (s *source) title(rng *rand.Rand) string {
	return fmt.Sprintf("%s_%s_%d", names[rng.IntN(len(names))], names[rng.IntN(len(names))], rng.IntN(1000))
}

package machine

import (
	"bufio"
	"io"
	"time"

	"github.com/sessctl/sessctl/internal/find"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
)

const findSchema = "sessctl.find/1"

type foundHit struct {
	Type    string `json:"type,omitzero"`  // in ndjson only
	Store   string `json:"store"`          // path of the store
	Root    string `json:"root"`           // id of the root session
	Session string `json:"session"`        // where the message is
	Title   string `json:"title,omitzero"` // of the root session; left out when it has none
	// the agents from the root to the session; the beginning of a session's id where none is known
	Path   []string    `json:"path"`
	Item   int         `json:"item"`            // place in the session
	Role   string      `json:"role,omitzero"`   // left out unless the item is a message
	Agent  string      `json:"agent,omitzero"`  // left out when the store does not say
	Time   time.Time   `json:"time,omitzero"`   // left out when it is not known
	Part   string      `json:"part"`            // where the first word is: `text`, `reasoning`, `calls`, `results` or `files`
	Tool   string      `json:"tool,omitzero"`   // of a call or a result
	Line   string      `json:"line,omitzero"`   // the line with it, of at most 400 bytes around it; left out with `--redact`
	Marks  [][2]int    `json:"marks,omitzero"`  // where the words are in `line`: first byte, and the byte after the last
	Around []foundNear `json:"around,omitzero"` // with `--context`: the messages before and after
}

type foundNear struct {
	Item  int    `json:"item"`           // place in the session
	Agent string `json:"agent,omitzero"` // left out when the store does not say
	Line  string `json:"line"`           // how it begins
}

type foundTotals struct {
	Messages int `json:"messages"`  // that were found
	Shown    int `json:"shown"`     // that are in `hits`: see `--limit`
	ExitCode int `json:"exit_code"` // of the program: docs/exit-codes.md
}

type foundDocument struct {
	head
	Hits []foundHit `json:"hits"`
	foundTotals
}

// foundSummary is the last line of ndjson.
type foundSummary struct {
	Type string `json:"type"`
	head
	foundTotals
}

// CollectFound keeps what is found for one document, which end prints.
func CollectFound(w io.Writer, f *render.Findings) (take func(*render.FoundTree) error, end func() error) {
	hits := []foundHit{}
	take = func(t *render.FoundTree) error {
		hits = append(hits, hitsOf(t)...)
		return nil
	}
	return take, func() error {
		return JSON(w, foundDocument{head{findSchema, f.Tool}, hits, foundTotals{f.Messages, len(hits), f.ExitCode}})
	}
}

// FoundLines prints a message a line, and a summary at last.
func FoundLines(w io.Writer, f *render.Findings) (take func(*render.FoundTree) error, end func() error) {
	take = func(t *render.FoundTree) error {
		out := bufio.NewWriter(w)
		for _, hit := range hitsOf(t) {
			hit.Type = "hit"
			if err := writeLine(out, hit); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	return take, func() error {
		return writeLine(w, foundSummary{"summary", head{findSchema, f.Tool}, foundTotals{f.Messages, f.Shown, f.ExitCode}})
	}
}

func hitsOf(t *render.FoundTree) []foundHit {
	return lists.MapEach(t.Hits, func(hit find.Hit) foundHit {
		one := foundHit{
			Store: t.Path, Root: t.ID, Session: hit.Session, Title: t.Tree.Title, Path: hit.Path, Item: hit.Item, Role: hit.Role.String(),
			Agent: hit.Agent, Time: hit.Time, Part: hit.Part, Tool: hit.Tool, Line: hit.Line, Marks: hit.Marks,
		}
		for _, near := range hit.Around {
			one.Around = append(one.Around, foundNear(near))
		}
		return one
	})
}

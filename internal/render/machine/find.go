package machine

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/render"
)

const findSchema = "sessctl.find/1"

type foundHit struct {
	Type    string      `json:"type,omitzero"` // in ndjson only
	Store   string      `json:"store"`
	Root    string      `json:"root"`
	Session string      `json:"session"`
	Title   string      `json:"title,omitzero"` // of the root
	Path    []string    `json:"path"`
	Item    int         `json:"item"`
	Role    string      `json:"role,omitzero"`
	Agent   string      `json:"agent,omitzero"`
	Time    time.Time   `json:"time,omitzero"`
	Part    string      `json:"part"`
	Tool    string      `json:"tool,omitzero"`
	Line    string      `json:"line,omitzero"`
	Marks   [][2]int    `json:"marks,omitzero"`
	Around  []foundNear `json:"around,omitzero"`
}

type foundNear struct {
	Item  int    `json:"item"`
	Agent string `json:"agent,omitzero"`
	Line  string `json:"line"`
}

type foundTotals struct {
	Messages int `json:"messages"`
	Shown    int `json:"shown"`
	ExitCode int `json:"exit_code"`
}

type foundDocument struct {
	Schema string      `json:"schema"`
	Tool   render.Tool `json:"tool"`
	Hits   []foundHit  `json:"hits"`
	foundTotals
}

// foundSummary is the last line of ndjson.
type foundSummary struct {
	Type   string      `json:"type"`
	Schema string      `json:"schema"`
	Tool   render.Tool `json:"tool"`
	foundTotals
}

// PrintFound prints what was found as one document.
func PrintFound(w io.Writer, f *render.Findings) error {
	hits := slices.AppendSeq([]foundHit{}, hitsOf(f))
	return JSON(w, foundDocument{findSchema, f.Tool, hits, foundTotals{f.Count(), len(hits), f.ExitCode}})
}

// FoundLines prints a message a line, and a summary at last.
func FoundLines(w io.Writer, f *render.Findings) error {
	out, shown := bufio.NewWriter(w), 0
	for hit := range hitsOf(f) {
		hit.Type = "hit"
		if err := writeLine(out, hit); err != nil {
			return err
		}
		shown++
	}
	return errors.Join(writeLine(out, foundSummary{"summary", findSchema, f.Tool, foundTotals{f.Count(), shown, f.ExitCode}}), out.Flush())
}

func hitsOf(f *render.Findings) iter.Seq[foundHit] {
	return func(yield func(foundHit) bool) {
		for _, s := range f.Stores {
			for _, t := range s.Trees {
				for _, hit := range t.Hits {
					one := foundHit{
						Store: s.Path, Root: t.ID, Session: hit.Session, Title: t.Title, Path: hit.Path, Item: hit.Item, Role: hit.Role.String(),
						Agent: hit.Agent, Time: hit.Time, Part: hit.Part, Tool: hit.Tool, Line: hit.Line, Marks: hit.Marks,
					}
					for _, near := range hit.Around {
						one.Around = append(one.Around, foundNear(near))
					}
					if !yield(one) {
						return
					}
				}
			}
		}
	}
}

package document

import (
	"io"
	"strings"
)

// Mermaid prints the diagrams of documents as one sequence diagram, and nothing else of
// them.
func Mermaid(w io.Writer) Printer {
	begun := false
	return func(doc Document) error {
		var b strings.Builder
		for _, block := range doc {
			diagram, is := block.(Diagram)
			if is && !begun {
				begun = true
				b.WriteString("sequenceDiagram\n")
			}
			for _, s := range diagram {
				b.WriteString("    " + s.asMermaid() + "\n")
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
}

var arrows = map[StepKind]string{Send: "->>", Open: "->>+", Answer: "-->>", Close: "-->>-", Lost: "--x"}

func (s *Step) asMermaid() string {
	said := make([]string, len(s.Lines))
	for i, line := range s.Lines {
		if s.Kind == Enter {
			line = participantName(line)
		}
		said[i] = mermaidText(line)
	}
	words := strings.Join(said, "<br/>")
	switch s.Kind {
	case Enter:
		return "participant " + s.From + " as " + words
	case Note:
		return "Note over " + s.From + ": " + words
	case Release:
		return "deactivate " + s.From
	}
	return s.From + arrows[s.Kind] + s.To + ": " + words
}

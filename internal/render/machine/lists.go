package machine

import (
	"bufio"
	"errors"
	"io"
	"time"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

const lsSchema = "sessctl.ls/1"

type lsRow struct {
	Type        string    `json:"type,omitzero"` // in ndjson only
	Store       string    `json:"store"`         // path of the store
	ID          string    `json:"id"`
	Parent      string    `json:"parent,omitzero"`  // left out for a root session
	Title       string    `json:"title,omitzero"`   // left out when it has none
	Created     time.Time `json:"created,omitzero"` // left out when it is not known
	Updated     time.Time `json:"updated,omitzero"` // left out when it is not known
	Items       *int      `json:"items,omitzero"`   // of this session alone; left out where they were not counted
	SubSessions int       `json:"sub_sessions"`     // below it, at any depth
	Agents      []string  `json:"agents,omitzero"`  // that spoke in it; for a root session, in its whole tree
	// findings in it; for a root session, in its whole tree; left out where it was not read
	Health *render.Severities `json:"health,omitzero"`
}

type lsDocument struct {
	head
	Sessions []lsRow `json:"sessions"`
	ExitCode int     `json:"exit_code"` // of the program: docs/exit-codes.md
}

// lsSummary is the last line of ndjson.
type lsSummary struct {
	Type string `json:"type"`
	head
	Sessions int `json:"sessions"`  // lines before this one
	ExitCode int `json:"exit_code"` // of the program: docs/exit-codes.md
}

// PrintSessions prints one document.
func PrintSessions(w io.Writer, l *render.Listing) error {
	return JSON(w, lsDocument{head{lsSchema, l.Tool}, listRows(l), l.ExitCode})
}

// LsLines prints a session a line, and a summary at last.
func LsLines(w io.Writer, l *render.Listing) error {
	out, rows := bufio.NewWriter(w), listRows(l)
	for _, r := range rows {
		r.Type = "session"
		if err := writeLine(out, r); err != nil {
			return err
		}
	}
	return errors.Join(writeLine(out, lsSummary{"summary", head{lsSchema, l.Tool}, len(rows), l.ExitCode}), out.Flush())
}

func listRows(l *render.Listing) (rows []lsRow) {
	for _, s := range l.Stores {
		for _, r := range s.Rows {
			rows = append(rows, lsRowOf(r, s.Store))
			for i := 0; l.All && i < len(r.Children); i++ {
				rows = append(rows, lsRowOf(r.Children[i], s.Store))
			}
		}
	}
	return rows
}

func lsRowOf(r *render.Row, store *session.Store) lsRow {
	row := lsRow{
		Store: store.Path, ID: r.ID, Parent: r.Parent, Title: r.Title, Created: r.Created, Updated: r.Updated,
		SubSessions: r.Subs, Agents: r.Agents,
	}
	if !store.Uncounted {
		row.Items = &r.Items
	}
	if !store.Brief {
		row.Agents = append([]string{}, r.Agents...)
		row.Health = &render.Severities{Errors: r.Health[rules.Error], Warnings: r.Health[rules.Warning], Infos: r.Health[rules.Info]}
	}
	return row
}

type storesDocument struct {
	head
	Kinds []jsonKind `json:"kinds"`
}

type jsonKind struct {
	Kind   string         `json:"kind"`   // what `--store` takes
	Title  string         `json:"title"`  // for people
	Places []jsonLocation `json:"places"` // where its runtime keeps such stores
}

type jsonLocation struct {
	Path       string `json:"path"`
	Found      bool   `json:"found"`               // whether a file is there
	Generation string `json:"generation,omitzero"` // left out, as the next two, when there is no store that can be read
	Bytes      int64  `json:"bytes,omitzero"`
	Writer     string `json:"writer,omitzero"`
	Error      string `json:"error,omitzero"` // why the file cannot be read as a store
}

// PrintStores prints the same as a document.
func PrintStores(w io.Writer, tool render.Tool, kinds []render.KnownKind) error {
	location := func(p render.KnownPlace) jsonLocation {
		at := jsonLocation{Path: p.Path, Found: p.Found, Error: p.Error}
		if p.Store != nil {
			at.Generation, at.Bytes, at.Writer = p.Store.Generation, p.Store.Bytes, p.Store.Writer.String()
		}
		return at
	}
	return JSON(w, storesDocument{head{"sessctl.stores/1", tool}, lists.MapEach(kinds, func(k render.KnownKind) jsonKind {
		return jsonKind{k.Name, k.Title, lists.MapEach(k.Places, location)}
	})})
}

type configDocument struct {
	head
	File     string           `json:"file,omitzero"` // the configuration file; left out if no file was read
	Settings []config.Setting `json:"settings"`
}

// PrintConfig prints the same as a document.
func PrintConfig(w io.Writer, tool render.Tool, file string, settings []config.Setting) error {
	return JSON(w, configDocument{head{"sessctl.config/1", tool}, file, settings})
}

type explainDocument struct {
	head
	Rules []jsonRule `json:"rules"`
}

type jsonRule struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Title    string `json:"title"` // one line
	Severity string `json:"severity"`
	Safety   string `json:"safety"`         // of the default repair: `none`, `lossless`, `kept`, `lossy` or `manual`
	Allow    string `json:"allow,omitzero"` // the word of `--allow` that its repair needs; left out if it needs no such word, or has no repair
	Deep     bool   `json:"deep"`           // whether it finds anything only with `--deep`
	Since    string `json:"since,omitzero"` // the version that it came with
	Page     string `json:"page,omitzero"`  // its page as Markdown; left out in the list of all rules
}

// PrintRules prints rules as a document.
func PrintRules(w io.Writer, tool render.Tool, pages []render.Page) error {
	return JSON(w, explainDocument{head{"sessctl.explain/1", tool}, lists.MapEach(pages, func(p render.Page) jsonRule {
		r := p.Rule
		return jsonRule{r.ID, r.Name, r.Title, r.Severity.String(), r.Safety.String(), r.Allow, r.Deep, r.Since, p.Markdown}
	})})
}

package machine

import (
	"io"
	"time"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
)

const lsSchema = "sessctl.ls/1"

type lsRow struct {
	Type        string    `json:"type,omitzero"` // in ndjson only
	Store       string    `json:"store"`
	ID          string    `json:"id"`
	Parent      string    `json:"parent,omitzero"`
	Title       string    `json:"title,omitzero"`
	Created     time.Time `json:"created,omitzero"`
	Updated     time.Time `json:"updated,omitzero"`
	Items       int       `json:"items"`
	SubSessions int       `json:"sub_sessions"`
	Agents      []string  `json:"agents"`
	Health      lsHealth  `json:"health"`
}

type lsHealth struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

type lsDocument struct {
	Schema   string      `json:"schema"`
	Tool     render.Tool `json:"tool"`
	Sessions []lsRow     `json:"sessions"`
	ExitCode int         `json:"exit_code"`
}

// lsSummary is the last line of ndjson.
type lsSummary struct {
	Type     string      `json:"type"`
	Schema   string      `json:"schema"`
	Tool     render.Tool `json:"tool"`
	Sessions int         `json:"sessions"`
	ExitCode int         `json:"exit_code"`
}

// Ls prints one document.
func Ls(w io.Writer, l *render.Listing) error {
	return JSON(w, lsDocument{lsSchema, l.Tool, rows(l), l.ExitCode})
}

// LsLines prints a session a line, and a summary at last.
func LsLines(w io.Writer, l *render.Listing) error {
	rows := rows(l)
	for _, r := range rows {
		r.Type = "session"
		if err := line(w, r); err != nil {
			return err
		}
	}
	return line(w, lsSummary{"summary", lsSchema, l.Tool, len(rows), l.ExitCode})
}

func rows(l *render.Listing) []lsRow {
	var rows []lsRow
	for _, s := range l.Stores {
		for _, r := range s.Rows {
			rows = append(rows, lsRowOf(r, s.Path))
			if l.All {
				rows = append(rows, forms(r.Children, func(c *render.Row) lsRow { return lsRowOf(c, s.Path) })...)
			}
		}
	}
	return rows
}

func lsRowOf(r *render.Row, store string) lsRow {
	return lsRow{
		Store: store, ID: r.ID, Parent: r.Parent, Title: r.Title, Created: r.Created, Updated: r.Updated,
		Items: r.Items, SubSessions: r.Subs, Agents: r.Agents,
		Health: lsHealth{r.Health[rules.Error], r.Health[rules.Warning], r.Health[rules.Info]},
	}
}

type storesDocument struct {
	Schema string      `json:"schema"`
	Tool   render.Tool `json:"tool"`
	Kinds  []jsonKind  `json:"kinds"`
}

type jsonKind struct {
	Kind   string         `json:"kind"`
	Title  string         `json:"title"`
	Places []jsonLocation `json:"places"`
}

type jsonLocation struct {
	Path       string `json:"path"`
	Found      bool   `json:"found"`
	Generation string `json:"generation,omitzero"`
	Bytes      int64  `json:"bytes,omitzero"`
	Writer     string `json:"writer,omitzero"`
	Error      string `json:"error,omitzero"`
}

// Stores prints the same as a document.
func Stores(w io.Writer, tool render.Tool, kinds []render.KnownKind) error {
	location := func(p render.KnownPlace) jsonLocation {
		at := jsonLocation{Path: p.Path, Found: p.Found, Error: p.Error}
		if p.Store != nil {
			at.Generation, at.Bytes, at.Writer = p.Store.Generation, p.Store.Bytes, p.Store.Writer.String()
		}
		return at
	}
	return JSON(w, storesDocument{"sessctl.stores/1", tool, forms(kinds, func(k render.KnownKind) jsonKind {
		return jsonKind{k.Name, k.Title, forms(k.Places, location)}
	})})
}

type configDocument struct {
	Schema   string        `json:"schema"`
	Tool     render.Tool   `json:"tool"`
	File     string        `json:"file,omitzero"`
	Settings []jsonSetting `json:"settings"`
}

type jsonSetting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"`
}

// Config prints the same as a document.
func Config(w io.Writer, tool render.Tool, file string, settings []config.Setting) error {
	return JSON(w, configDocument{"sessctl.config/1", tool, file, forms(settings, func(s config.Setting) jsonSetting { return jsonSetting(s) })})
}

type explainDocument struct {
	Schema string      `json:"schema"`
	Tool   render.Tool `json:"tool"`
	Rules  []jsonRule  `json:"rules"`
}

type jsonRule struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	Severity string `json:"severity"`
	Safety   string `json:"safety"`
	Allow    string `json:"allow,omitzero"`
	Deep     bool   `json:"deep"`
	Since    string `json:"since,omitzero"`
	Page     string `json:"page,omitzero"`
}

// Explain prints rules as a document.
func Explain(w io.Writer, tool render.Tool, pages []render.Page) error {
	return JSON(w, explainDocument{"sessctl.explain/1", tool, forms(pages, func(p render.Page) jsonRule {
		r := p.Rule
		return jsonRule{r.ID, r.Name, r.Title, r.Severity.String(), r.Safety.String(), r.Allow, r.Deep, r.Since, p.Markdown}
	})})
}

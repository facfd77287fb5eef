package render

import (
	"io"
	"time"

	"github.com/sessctl/sessctl/internal/rules"
)

const lsSchema = "sessctl.ls/1"

type jsonRow struct {
	Type        string     `json:"type,omitzero"` // in ndjson only
	Store       string     `json:"store"`
	ID          string     `json:"id"`
	Parent      string     `json:"parent,omitzero"`
	Title       string     `json:"title,omitzero"`
	Created     time.Time  `json:"created,omitzero"`
	Updated     time.Time  `json:"updated,omitzero"`
	Items       int        `json:"items"`
	SubSessions int        `json:"sub_sessions"`
	Agents      []string   `json:"agents"`
	Health      jsonHealth `json:"health"`
}

type jsonHealth struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

type lsDocument struct {
	Schema   string    `json:"schema"`
	Tool     Tool      `json:"tool"`
	Sessions []jsonRow `json:"sessions"`
	ExitCode int       `json:"exit_code"`
}

// lsSummary is the last line of ndjson.
type lsSummary struct {
	Type     string `json:"type"`
	Schema   string `json:"schema"`
	Tool     Tool   `json:"tool"`
	Sessions int    `json:"sessions"`
	ExitCode int    `json:"exit_code"`
}

// lsJSON prints one document.
func lsJSON(w io.Writer, l *Listing) error {
	return JSON(w, lsDocument{lsSchema, l.Tool, l.rows(), l.ExitCode})
}

// lsLines prints a session a line, and a summary at last.
func lsLines(w io.Writer, l *Listing) error {
	rows := l.rows()
	for _, r := range rows {
		r.Type = "session"
		if err := jsonLine(w, r); err != nil {
			return err
		}
	}
	return jsonLine(w, lsSummary{"summary", lsSchema, l.Tool, len(rows), l.ExitCode})
}

func (l *Listing) rows() []jsonRow {
	var rows []jsonRow
	for _, s := range l.Stores {
		for _, r := range s.Rows {
			rows = append(rows, r.json(s.Path))
			if l.All {
				for _, c := range r.Children {
					rows = append(rows, c.json(s.Path))
				}
			}
		}
	}
	return rows
}

func (r *Row) json(store string) jsonRow {
	return jsonRow{
		Store: store, ID: r.ID, Parent: r.Parent, Title: r.Title, Created: r.Created, Updated: r.Updated,
		Items: r.Items, SubSessions: r.Subs, Agents: r.Agents,
		Health: jsonHealth{r.Health[rules.Error], r.Health[rules.Warning], r.Health[rules.Info]},
	}
}

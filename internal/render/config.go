package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
)

// ConfigText prints settings with their sources. file is the configuration
// file, "" if none of places exists.
func ConfigText(screen *ui.Screen, file string, places []string, settings []config.Setting) error {
	var from document.Block = document.Line(words("Configuration file: " + file))
	if file == "" {
		from = document.List{entry("No configuration file (looked for " + strings.Join(places, " and ") + ").")}
	}
	table := document.Table{Columns: []document.Column{{Name: "SETTING"}, {Name: "VALUE"}, {Name: "SOURCE"}}}
	for _, s := range settings {
		table.Rows = append(table.Rows, cells(s.Key, settingText(s.Value), s.Source))
	}
	return document.Lines(screen)(document.Document{from, document.Gap{}, table})
}

func settingText(value any) string {
	if list, ok := value.([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(value)
}

type configDocument struct {
	Schema   string        `json:"schema"`
	Tool     Tool          `json:"tool"`
	File     string        `json:"file,omitzero"`
	Settings []jsonSetting `json:"settings"`
}

type jsonSetting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"`
}

// ConfigJSON prints the same as a document.
func ConfigJSON(w io.Writer, tool Tool, file string, settings []config.Setting) error {
	list := make([]jsonSetting, len(settings))
	for i, s := range settings {
		list[i] = jsonSetting(s)
	}
	return JSON(w, configDocument{"sessctl.config/1", tool, file, list})
}

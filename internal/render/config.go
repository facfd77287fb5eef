package render

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
)

// Config prints settings with their sources. file is the configuration
// file, "" if none of places exists.
func Config(format string, screen *ui.Screen, file string, places []string, settings []config.Setting) error {
	var from document.Block = document.Line(document.Words("Configuration file: " + file))
	if file == "" {
		from = document.List{Entry("No configuration file (looked for " + strings.Join(places, " and ") + ").")}
	}
	table := document.Table{Columns: []document.Column{{Name: "SETTING"}, {Name: "VALUE"}, {Name: "SOURCE"}}}
	for _, s := range settings {
		table.Rows = append(table.Rows, Cells(s.Key, settingText(s.Value), s.Source))
	}
	return document.New(format, screen)(document.Document{from, document.Gap{}, table})
}

func settingText(value any) string {
	if list, ok := value.([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(value)
}

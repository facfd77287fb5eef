package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/ui"
)

// ConfigText prints settings with their sources. file is the configuration
// file, "" if none of places exists.
func ConfigText(screen *ui.Screen, file string, places []string, settings []config.Setting) error {
	var out strings.Builder
	if file == "" {
		out.WriteString(ui.Hang("", "  ", "No configuration file (looked for "+strings.Join(places, " and ")+").", screen.TextWidth()))
	} else {
		fmt.Fprintf(&out, "Configuration file: %s\n", file)
	}
	out.WriteString("\n")
	columns := []tableColumn{{name: "SETTING"}, {name: "VALUE"}, {name: "SOURCE"}}
	var rows [][]string
	for _, s := range settings {
		rows = append(rows, []string{s.Key, ui.Clean(settingText(s.Value)), ui.Clean(s.Source)})
	}
	if err := writeTable(&out, columns, rows); err != nil {
		return err
	}
	_, err := io.WriteString(screen, out.String())
	return err
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

package kagenttest

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"text/template"
)

//go:embed scripts.json
var scripts []byte

// Scripts are the programs of scripts.json, the cases of kagent's issues; the member
// about says what each is. What is run after the writing is a template for Written.
func Scripts() []Program {
	var told []struct {
		Program
		After []string
	}
	if err := json.Unmarshal(scripts, &told); err != nil {
		panic("scripts.json: " + err.Error())
	}
	list := make([]Program, len(told))
	for i, p := range told {
		list[i] = p.Program
		if p.After != nil {
			list[i].After = func(w *Written) []string { return filled(p.After, w) }
		}
	}
	return list
}

func filled(statements []string, w *Written) []string {
	var list []string
	for _, s := range statements {
		var b strings.Builder
		if err := template.Must(template.New("").Parse(s)).Execute(&b, w); err != nil {
			panic(err)
		}
		list = append(list, b.String())
	}
	return list
}

// Script is the script of a name. There must be one.
func Script(name string) Program {
	list := Scripts()
	return list[slices.IndexFunc(list, func(p Program) bool { return p.Name == name })]
}

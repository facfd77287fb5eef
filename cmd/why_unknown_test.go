package cmd

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/why"
)

// TestCommandsWhereNobodyKnowsWhetherTheRuntimeRuns: macOS and Windows do not tell who has a
// database open. So a command that takes calls for ended says so, and what to close first.
func TestCommandsWhereNobodyKnowsWhetherTheRuntimeRuns(t *testing.T) {
	writes := player.Play(player.Program{{Prompt: "Go on", Steps: []player.Step{
		{Calls: []player.Call{{Tool: "bash", Args: "{}", Result: "42"}}}, {Text: "It is 42."},
	}}}, 1)
	for title, tt := range map[string]struct {
		build  func(path string) error
		damage string
		open   bool // a call at the end has no result
	}{
		"Crush": {func(path string) error { return crushtest.Build(path, crushtest.Generations[1], writes) },
			"delete from messages where rowid >= (select max(rowid) from messages where role = 'tool')", true},
		"goose": {func(path string) error { return goosetest.Build(path, goosetest.Newest, writes) },
			`delete from messages where id >= (select max(id) from messages where content_json like '%"toolResponse"%')`, true},
		"opencode": {func(path string) error { return opencodetest.Build(path, writes) },
			"update part set data = substr(data, 1, 9) where id = (select min(id) from part)", false},
	} {
		for writer, lead := range map[session.Writer]string{
			session.WriterUnknown: "Close " + title + ", then type:", session.WriterDead: "To repair it, type:",
		} {
			path := filepath.Join(t.TempDir(), "s.db")
			if err := tt.build(path); err != nil {
				t.Fatal(err)
			}
			storetest.Change(t, path, tt.damage)
			p, _ := testProgram()
			var out bytes.Buffer
			p.out = ui.NewScreen(&out, ui.ColorNever, p.getenv)
			w := &whyRun{program: p}
			err := p.readStore(t.Context(), path, func(o *registry.Opened) error {
				o.Facts().Writer = writer
				for tree, err := range o.Trees(t.Context()) {
					if err != nil {
						return err
					}
					w.tree = tree
					break
				}
				d := &why.Diagnosis{Session: &why.Candidate{Store: path, ID: w.tree.Root().ID}}
				in, err := w.gatherInput(t.Context(), o, d)
				if err != nil {
					return err
				}
				d.Diagnose(in)
				return w.printDiagnosis(d, nil)
			})
			said := out.String()
			if exitCode(err) != exitFindings || !strings.Contains(said, lead) || strings.Contains(said, "--assume-dead") != (tt.open && writer == session.WriterUnknown) ||
				!strings.Contains(said, "sessctl undo") {
				t.Errorf("%s, %v: %v\n%s", title, writer, err, said)
			}
		}
	}
}

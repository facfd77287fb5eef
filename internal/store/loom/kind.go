// Package loom reads workspaces in the layout of Loom's design: a folder of agents,
// each with its steps and outputs, and the spawn events of a captured event bus. The
// layout is that of design documents (loom-os/loom c34e1de, loom-py/docs/context:
// ISOLATION.md, DESIGN.md); no release of Loom writes it. docs/stores/loom.md says
// what is accepted. Nothing outside the folder is ever read.
package loom

import (
	"context"
	"errors"
	"os"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
)

const (
	kindName  = "loom"
	kindTitle = "Loom"
)

// Kind is Loom's row in the table of adapters. A workspace is wherever a program has
// it, so there is no place to look for one.
var Kind = store.Kind{Name: kindName, Title: kindTitle, Folder: true, Detect: detect, Open: open}

// detect looks for steps in the folders of agents. Names alone are a hint; one file
// that says what a step says makes it certain.
func detect(ctx context.Context, src *store.Source) store.Detection {
	const enough = 20 // files that are looked into
	if src.Folder == nil {
		return store.Detection{}
	}
	w := newWorkspace(src.Folder)
	agents, _, err := w.agents()
	if err != nil {
		return store.Detection{}
	}
	looked := 0
	for _, a := range agents {
		files, _ := w.history(a)
		for _, file := range files {
			if looked++; looked > enough || ctx.Err() != nil {
				return store.Detection{Sure: store.Maybe, Why: "folders of agents with files called step_NNN.json"}
			}
			if data, err := w.read(file.path); err == nil {
				if _, usable, _ := decodeStep(data); usable {
					return store.Detection{Sure: store.Certain, Why: "folders of agents with steps in history/"}
				}
			}
		}
	}
	if looked > 0 {
		return store.Detection{Sure: store.Maybe, Why: "folders of agents with files called step_NNN.json"}
	}
	return store.Detection{}
}

// open finds out who spawned whom: it reads every step and every event once and keeps
// the spawns.
func open(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	if src.Folder == nil {
		return nil, problem.New(problem.Unreadable, "Name the folder that holds the folders of the agents.", "%s is no folder", src.Path)
	}
	x, err := readIndex(ctx, newWorkspace(src.Folder), opts.Progress)
	if err != nil {
		return nil, err
	}
	return &loom{index: x, facts: x.facts(src.Path)}, nil
}

// reason is why a file of the folder could not be read, without its path.
func reason(err error) string {
	switch {
	case errors.Is(err, os.ErrPermission):
		return "permission denied"
	case errors.Is(err, os.ErrNotExist):
		return "it does not exist, or is a link that leads nowhere"
	}
	return problem.Reason(err)
}

package canonical

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// outputLine is a file that an item refers to.
type outputLine struct {
	Path    string         `json:"path"`
	Real    string         `json:"real,omitzero"`
	Outside bool           `json:"outside,omitzero"`
	Bytes   int64          `json:"bytes,omitzero"`
	Hash    bool           `json:"hash_differs,omitzero"`
	Rest    jsontext.Value `json:",embed"`
}

func outputs(lines []outputLine) []session.Output {
	var list []session.Output
	for _, l := range lines {
		list = append(list, session.Output{Path: l.Path, Real: l.Real, Outside: l.Outside, Bytes: l.Bytes, Hash: l.Hash})
	}
	return list
}

func encodeOutputs(list []session.Output) []outputLine {
	var lines []outputLine
	for _, o := range list {
		lines = append(lines, outputLine{Path: o.Path, Real: o.Real, Outside: o.Outside, Bytes: o.Bytes, Hash: o.Hash})
	}
	return lines
}

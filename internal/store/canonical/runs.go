package canonical

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// runLine is one request that a session served.
type runLine struct {
	ID         string         `json:"id"`
	State      string         `json:"state,omitzero"`
	Open       bool           `json:"open,omitzero"`
	Invocation string         `json:"invocation,omitzero"`
	Asked      string         `json:"asked,omitzero"`
	Answered   string         `json:"answered,omitzero"`
	Began      looseText      `json:"began,omitzero"`
	Ended      looseText      `json:"ended,omitzero"`
	Rest       jsontext.Value `json:",embed"`
}

// run is the run of a line; a time that is none is not known.
func (l *runLine) run() session.Run {
	began, _ := parseTime(l.Began)
	ended, _ := parseTime(l.Ended)
	return session.Run{
		ID: l.ID, State: l.State, Open: l.Open, Invocation: l.Invocation,
		Asked: session.DigestOf(l.Asked), Answered: session.DigestOf(l.Answered), Began: began, Ended: ended,
	}
}

// encodeRuns makes the lines of the runs of another store. The model keeps digests
// of what was asked and answered: the texts are those of the session's items, if any
// has them.
func encodeRuns(s *session.Session) []runLine {
	if len(s.Runs) == 0 {
		return nil
	}
	texts := map[session.Digest]string{}
	for i := range s.Items {
		if b := s.Items[i].Body; b != nil {
			texts[session.DigestOf(b.Text)] = b.Text
		}
	}
	list := make([]runLine, len(s.Runs))
	for i, r := range s.Runs {
		list[i] = runLine{
			ID: r.ID, State: r.State, Open: r.Open, Invocation: r.Invocation,
			Asked: texts[r.Asked], Answered: texts[r.Answered], Began: formatTime(r.Began), Ended: formatTime(r.Ended),
		}
	}
	return list
}

// storedRuns are the runs of all sessions of a tree as they stand in the stream, by
// their ids.
func storedRuns(tree *session.Tree) map[string]jsontext.Value {
	stored := map[string]jsontext.Value{}
	for _, s := range tree.Sessions {
		rec, _, _ := decode[sessionLine](s.Raw)
		line := lineText{text: s.Raw}
		for i := range rec.Runs {
			stored[rec.Runs[i].ID], _ = line.raw("/runs/" + strconv.Itoa(i))
		}
	}
	return stored
}

// runsOf is the list of a session's runs, each as it is stored.
func runsOf(tree *session.Tree, s *session.Session) jsontext.Value {
	stored := storedRuns(tree)
	list := make([][]byte, len(s.Runs))
	for i := range s.Runs {
		list[i] = stored[s.Runs[i].ID]
	}
	return listOf(list)
}

// sameRuns reports whether a session has the runs that its line has.
func sameRuns(s *session.Session, rec *sessionLine) bool {
	return slices.EqualFunc(s.Runs, rec.Runs, func(r session.Run, l runLine) bool { return r.ID == l.ID })
}

package dockeragent

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// Nested reads the JSON of a sub-session as docker agent writes it into an event
// (5): in the form of the old column (2.4), with the sub-sessions below it. The
// tree has bodies, and its items say what rows with the same messages would.
// Their table is "sub_session", their keys lead into the JSON. The root has no
// Parent: the JSON does not name it. Nothing of data is kept.
func Nested(data []byte) (*session.Tree, error) {
	var root columnSession
	if err := json.Unmarshal(data, &root); err != nil {
		return nil, unnested(err)
	}
	if root.ID == "" {
		return nil, errors.New("it has no id")
	}
	p := newPart(tableNested)
	st := &agentStore{numbers: map[string]uint32{}, costs: map[string]float64{}, parts: []*part{p}}
	st.add(&session.Session{ID: root.ID, Title: root.Title, Created: root.CreatedAt}, 0)
	st.addColumn(p, st.numbers[root.ID], root.ID, "", root.Messages)
	st.group()
	tree := st.filled(st.trees[0])
	for _, s := range tree.Sessions {
		s.Created = s.Created.Truncate(time.Second) // as the sessions table keeps it
	}
	f := filler{lists: map[string][]json.RawMessage{root.ID + "#": root.Messages}}
	if _, err := f.fillAll(tree); err != nil {
		return nil, unnested(err)
	}
	return tree, nil
}

// unnested says without names of Go types which value does not fit.
func unnested(err error) error {
	var unfit *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &unfit):
		return err
	case unfit.Field == "":
		return fmt.Errorf("it is a JSON %s and no session", unfit.Value)
	}
	return fmt.Errorf("its %s is a JSON %s, which docker agent does not read", unfit.Field, unfit.Value)
}

package filelog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
)

// Placed edits files whose records have no names but their places in them. A plan names them
// so before the first change: each keeps the key that it had when its file was opened.
type Placed struct {
	*Editor
	name  string
	edits *Edits          // of the open transaction that are not spliced yet, nil for none
	keys  map[string]Keys // by the files
	last  map[string]Keys // as they were committed
}

// Keys are those of the records of a file.
type Keys struct {
	list  []int64 // by their places; nil while they are these
	fresh int64   // how many new records there were, whose keys are below zero
}

// Key is that of the record at a place.
func (k *Keys) Key(place int64) int64 {
	if place < int64(len(k.list)) {
		return k.list[place]
	}
	return place
}

// Record is where a line is.
type Record struct {
	Span
	Place int64 // among all records, or that of the next one
	Is    bool  // a record
}

// Edits are what becomes of the lines of a file, which keep their places. A store of several files
// has one for each that it changes.
type Edits struct {
	log   *Log
	keys  Keys
	total int64               // records
	lines map[int64]*LineEdit // by their offsets
}

// LineEdit is what becomes of a line, and what comes beside it.
type LineEdit struct {
	Record
	Text          []byte // what is there instead; nil leaves the line as it is
	Gone          bool
	Before, After []NewLine
}

// NewLine is a line that was not at its place.
type NewLine struct {
	Text []byte
	Key  int64
	Is   bool // a record
}

// EditPlaced opens a file for changing.
func EditPlaced(path string) (*Placed, error) {
	files, name, err := Edit(path, func(string) bool { return true })
	return &Placed{Editor: files, name: name, keys: map[string]Keys{}, last: map[string]Keys{}}, err
}

// EditPlacedIn opens files of a folder for changing, of which a journal can name some.
func EditPlacedIn(folder string, may func(name string) bool) (*Placed, error) {
	files, _, err := Edit(folder, may)
	return &Placed{Editor: files, keys: map[string]Keys{}, last: map[string]Keys{}}, err
}

// Log opens the file as the transaction sees it. Where another program changed it, its records
// have other places than those that the plan names.
func (p *Placed) Log(ctx context.Context) (*Log, Keys, error) {
	if err := p.spliceEdits(); err != nil {
		return nil, p.keys[p.name], err
	}
	return p.LogOf(ctx, p.name)
}

// LogOf opens one of several files so.
func (p *Placed) LogOf(ctx context.Context, name string) (*Log, Keys, error) {
	if changes, err := p.Version(ctx); err != nil || changes > 0 {
		return nil, p.keys[name], cmp.Or(err, p.moved(name))
	}
	l, err := p.Editor.Log(name)
	return l, p.keys[name], err
}

// SpliceLines changes one of several files, whose records have these keys from then on.
func (p *Placed) SpliceLines(name string, edits []Splice, keys Keys) error {
	p.keys[name] = keys
	return p.Splice(name, edits)
}

// Begun reports whether there are edits that Log does not see yet.
func (p *Placed) Begun() bool { return p.edits != nil }

// Edits begins edits of the lines of a log with so many records, which is closed with them.
func (p *Placed) Edits(l *Log, total int64) *Edits {
	p.edits = NewEdits(l, p.keys[p.name], total)
	return p.edits
}

// NewEdits begins edits of the lines of a log with so many records, which have these keys.
func NewEdits(l *Log, keys Keys, total int64) *Edits {
	return &Edits{l, keys, total, map[int64]*LineEdit{}}
}

// Fresh is the key of a new record.
func (e *Edits) Fresh() int64 {
	e.keys.fresh++
	return -e.keys.fresh
}

// Of is the edit of a line, a new one if there is none.
func (e *Edits) Of(at Record) *LineEdit {
	edit := e.lines[at.Offset]
	if edit == nil {
		edit = &LineEdit{Record: at}
		e.lines[at.Offset] = edit
	}
	return edit
}

// spliceEdits makes the edits that were begun.
func (p *Placed) spliceEdits() error {
	e := p.edits
	if e == nil {
		return nil
	}
	p.edits = nil
	splices, keys, err := e.ComposeSplices()
	if err == nil {
		err = p.SpliceLines(p.name, splices, keys)
	}
	return errors.Join(err, e.log.Close())
}

// ComposeSplices composes the changes of the file, and the keys of the records that are in it then.
func (e *Edits) ComposeSplices() (list []Splice, after Keys, err error) {
	var keys []int64
	place := int64(0) // of the next record whose key is not among them
	keep := func(end int64) {
		for ; place < end; place++ {
			keys = append(keys, e.keys.Key(place))
		}
	}
	add := func(text []byte, lines []NewLine) []byte {
		for _, line := range lines {
			if text = append(append(text, line.Text...), '\n'); line.Is {
				keys = append(keys, line.Key)
			}
		}
		return text
	}
	for _, at := range slices.Sorted(maps.Keys(e.lines)) {
		l := e.lines[at]
		was := make([]byte, l.Length+int(l.Rest))
		if _, err := e.log.Bytes().ReadAt(was, at); err != nil {
			return nil, after, err
		}
		keep(l.Place)
		is := add(nil, l.Before)
		switch {
		case l.Gone:
			place++
		case l.Is:
			keep(l.Place + 1)
		}
		if !l.Gone {
			text := l.Text
			if text == nil {
				text = was[:l.Length]
			}
			is = append(append(is, text...), was[l.Length:]...)
			if len(l.After) > 0 && !bytes.HasSuffix(was, []byte("\n")) {
				is = append(is, '\n')
			}
		}
		list = append(list, Change(int(at), was, add(is, l.After)))
	}
	keep(e.total)
	return list, Keys{keys, e.keys.fresh}, nil
}

// Journal implements table.Transaction.
func (p *Placed) Journal() ([]byte, error) {
	if err := p.spliceEdits(); err != nil {
		return nil, err
	}
	return p.Editor.Journal()
}

// Commit implements table.Transaction.
func (p *Placed) Commit(ctx context.Context) error {
	err := p.spliceEdits()
	if err == nil {
		err = p.Editor.Commit(ctx)
	}
	if err == nil {
		p.last = maps.Clone(p.keys)
	}
	return err
}

// Rollback implements table.Transaction.
func (p *Placed) Rollback() error {
	var err error
	if p.edits != nil {
		err = p.edits.log.Close()
	}
	p.edits, p.keys = nil, maps.Clone(p.last)
	return errors.Join(err, p.Editor.Rollback())
}

// Close implements table.Transaction.
func (p *Placed) Close() error { return errors.Join(p.Rollback(), p.Editor.Close()) }

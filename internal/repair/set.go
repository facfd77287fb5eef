package repair

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
)

// set changes one value of a record. What the model holds changes in the model;
// an adapter is told the rest.
func (d *desk) set(e session.Edit) error {
	b, it, err := d.record(e.Ref)
	if err != nil {
		return err
	}
	known := false
	if it != nil {
		known, err = setItem(b, it, e)
	} else {
		known, err = b.set(e)
	}
	if !known && err == nil {
		d.sets = append(d.sets, e)
	}
	return err
}

// record is the session whose own record a reference means, or the item.
func (d *desk) record(r session.Ref) (*bench, *entry, error) {
	if r.Table == session.TableSessions {
		if b := d.byID[r.Key]; b != nil {
			return b, nil, nil
		}
	} else if at := d.find(r); at != nil {
		it := at.Value.(*entry)
		return it.home, it, nil
	}
	return nil, nil, fmt.Errorf("the record is not there")
}

func setItem(b *bench, it *entry, e session.Edit) (known bool, err error) {
	value := valueOf(e)
	switch e.Field {
	case session.FieldPosition:
		b.touched = true // every position of the session is made anew
		return true, nil
	case "agent_name":
		it.Agent = value
		return true, nil
	case session.FieldArchived:
		b.mend(e) // what it held may be neither
		return true, it.archive(value)
	case "first_kept_entry":
		it.KeptFrom, err = strconv.ParseInt(value, 10, 64)
		b.touched = true
		return true, err
	}
	b.mend(e)
	return false, nil
}

// archive takes an item out of what is sent, or puts it back.
func (it *entry) archive(value string) error {
	switch value {
	case "true":
		it.Flags |= session.Archived
	case "false":
		it.Flags &^= session.Archived
	default:
		return fmt.Errorf("an item is archived or not, true or false, and not %q", value)
	}
	return nil
}

func (b *bench) set(e session.Edit) (known bool, err error) {
	if e.Field == "parent_id" {
		b.Parent = valueOf(e)
		return true, nil
	}
	for i := range b.IndexRefs {
		if r := &b.IndexRefs[i]; r.Ref == e.Ref && r.Field == e.Field {
			r.Index, err = strconv.ParseInt(valueOf(e), 10, 64)
			b.touched = true
			return true, err
		}
	}
	b.mend(e)
	return false, nil
}

// mend forgets the faults of a value that gets another one.
func (b *bench) mend(e session.Edit) {
	b.forget(func(f session.Fault) bool { return f.Ref.Row() == e.Ref.Row() && f.Field == e.Field })
}

func (b *bench) forget(mended func(session.Fault) bool) {
	b.Faults = slices.DeleteFunc(slices.Clone(b.Faults), mended)
}

func valueOf(e session.Edit) string {
	if e.Value == nil {
		return ""
	}
	return *e.Value
}

package loom

// wanted is what a delegation has to be of. "" for the parent or the correlation is
// any; "" for the child is a step that names none.
type wanted struct{ child, parent, correlation string }

// queues are delegations in their order, under everything that they may be wanted by.
// A parent may have thousands, so none is searched for.
type queues map[wanted][]*delegation

func queued(list []*delegation, counts func(*delegation) bool) queues {
	q := queues{}
	for _, d := range list {
		if !counts(d) {
			continue
		}
		for _, parent := range []string{"", d.parent} {
			for _, correlation := range []string{"", d.correlation()} {
				w := wanted{d.child, parent, correlation}
				q[w] = append(q[w], d)
			}
		}
	}
	return q
}

// next is the first that still lacks what is sought, nil for none.
func (q queues) next(w wanted, lacks func(*delegation) bool) *delegation {
	for list := q[w]; len(list) > 0; list = list[1:] {
		if q[w] = list; lacks(list[0]) {
			return list[0]
		}
	}
	delete(q, w)
	return nil
}

package kagent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// child is the session that a result named before a change, and the one that it names
// after it.
type child struct {
	call, invocation string
	was, is          string
}

type children []child

// childrenOf are those of all results of a session that name one; differ reports
// whether any names another one than before.
func childrenOf(before *session.Tree, after *session.Session) (list children, differ bool) {
	stored := map[string]*session.Item{}
	for _, s := range before.Sessions {
		for i := range s.Items {
			stored[s.ItemRef(i).Row()] = &s.Items[i]
		}
	}
	for i := range after.Items {
		row, _, _ := strings.Cut(after.ItemRef(i).Row(), "#results/") // a part of an item was in that one
		was, is := stored[row], &after.Items[i]
		for n := range is.Results {
			if r := resultBefore(was, is, n); r != nil && r.Child != "" {
				list = append(list, child{r.CallID, is.Invocation, r.Child, is.Results[n].Child})
				differ = differ || r.Child != is.Results[n].Child
			}
		}
	}
	return list, differ
}

// resultBefore is what a result of an item was, nil for one that is new.
func resultBefore(was, is *session.Item, n int) *session.Result {
	switch {
	case was == nil:
		return nil
	case len(was.Results) == len(is.Results):
		return &was.Results[n]
	}
	r := &is.Results[n]
	i := slices.IndexFunc(was.Results, func(o session.Result) bool { return o.CallID == r.CallID && o.Digest == r.Digest })
	if i < 0 {
		return nil
	}
	return &was.Results[i]
}

// of says which session a call and its answer in the data of a run's task name from
// now on. Where calls of several invocations have one id, that of the run counts.
func (c children) of(run *session.Run) func(call, was string) (string, error) {
	return func(call, was string) (string, error) {
		var all, own []string
		for _, link := range c {
			if link.call != call || !isCalled(link.was, was) {
				continue
			}
			is := link.is
			if is == link.was {
				is = was
			}
			all = append(all, is)
			if link.invocation == run.Invocation {
				own = append(own, is)
			}
		}
		for _, named := range [][]string{all, own} {
			slices.Sort(named)
			if named = slices.Compact(named); len(named) == 1 {
				return named[0], nil
			}
		}
		if len(all) == 0 {
			return was, nil
		}
		return "", fmt.Errorf("it names session %s for call %s, which several results answer with different sessions", was, call)
	}
}

// isCalled reports whether a session is the one with a stored id. Those of several
// users that share an id are called by the user, too, or by the row besides.
func isCalled(name, stored string) bool {
	return name == stored || strings.HasSuffix(name, "/"+stored) || strings.Contains(name, "/"+stored+"#")
}

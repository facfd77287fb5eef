package repair

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
)

// weigh is the ledger of a rewritten tree, whose records have other bytes and
// keys than before. It counts what items say: as multisets, before = after −
// synthetic + quarantined + removed, where what an edit changed counts as what it
// has become. All bodies must be loaded.
func weigh(c *carried, stored *session.Tree) (Ledger, error) {
	l := Ledger{Edited: len(c.edited)}
	balance := map[string]int{}
	for _, s := range c.Before.Sessions {
		for i := range s.Items {
			l.Before += count(balance, 1, parts(&s.Items[i]))
		}
	}
	for _, s := range stored.Sessions {
		for i := range s.Items {
			l.After += count(balance, -1, parts(&s.Items[i]))
		}
	}
	for _, s := range c.After.Sessions {
		for i := range s.Items {
			if s.Items[i].Table == "" {
				l.Synthetic += count(balance, 1, parts(&s.Items[i]))
			}
		}
	}
	for i := range c.gone {
		n := count(balance, -1, parts(&c.gone[i].item))
		if c.gone[i].edit.Op == session.Quarantine {
			l.Quarantined += n
		} else {
			l.Removed += n
		}
	}
	for i := range c.amended {
		count(balance, -1, parts(&c.amended[i].was))
		count(balance, 1, parts(&c.amended[i].is))
	}
	for part, n := range balance {
		if n > 0 {
			return l, fmt.Errorf("%d times something is missing that was said: %.40q", n, part)
		}
		if n < 0 {
			return l, fmt.Errorf("%d times something is there that nobody said: %.40q", -n, part)
		}
	}
	return l, nil
}

func count(balance map[string]int, sign int, parts []string) int {
	for _, p := range parts {
		balance[p] += sign
	}
	return len(parts)
}

// parts are what an item says, each as a text of its own: itself, unless it is
// there for its results only, and every result.
func parts(it *session.Item) []string {
	var list []string
	body := it.Body
	if body == nil {
		body = &session.Body{}
	}
	if !onlyResults(it) || len(it.Results) == 0 {
		calls := ""
		for i := range it.Calls {
			calls += fmt.Sprintf("%q %q %q ", it.Calls[i].ID, it.Calls[i].Name, it.Calls[i].Args)
		}
		list = append(list, fmt.Sprintf("%s %s %q %q %q %s%s", it.Kind, it.Role, it.Agent, body.Text, body.Reasoning, calls, it.Child))
	}
	for i := range it.Results {
		if it.Results[i].CallID != takenResult {
			list = append(list, resultPart(&it.Results[i]))
		}
	}
	return list
}

func resultPart(r *session.Result) string {
	return fmt.Sprintf("result %q %t %q", r.CallID, r.IsError, r.Text)
}

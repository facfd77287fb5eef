package replay

import (
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// contradictsCall reports whether the child cannot be the call's: another task,
// another agent, or begun outside the time of the call.
func contradictsCall(d *Delegation, c *session.Session) bool {
	if differsFromCall(d, c) {
		return true
	}
	const resolution = time.Second // of stored times
	begun, called := BeginTime(c), d.Session.Items[d.Item].Time
	if begun.IsZero() || called.IsZero() {
		return false
	}
	if begun.Before(called.Add(-resolution)) {
		return true
	}
	if d.Result < 0 || !d.Call().Delegation.Blocking {
		return false
	}
	answered := d.Session.Items[d.Result].Time
	return !answered.IsZero() && begun.After(answered.Add(resolution))
}

// differsFromCall reports whether the child was started with another task or another
// agent than the call's, as far as both are known.
func differsFromCall(d *Delegation, c *session.Session) bool {
	asked := d.Call().Delegation
	if c.Task != 0 && asked.Task != 0 && c.Task != asked.Task {
		return true
	}
	agent := FirstAgent(c)
	return agent != "" && asked.Agent != "" && agent != asked.Agent
}

func sameTask(d *Delegation, c *session.Session) bool {
	return c.Task != 0 && c.Task == d.Call().Delegation.Task
}

func sameAnswer(d *Delegation, c *session.Session) bool {
	last, r := LastAnswer(c), d.Outcome()
	return last >= 0 && r != nil && r.Digest != 0 && r.Digest == c.Items[last].Text
}

// LastAnswer is the index of the item that a delegation's result is made of:
// the child's last item, when that is assistant text without calls which its
// writer finished and no repair rebuilt; -1 when the child did not finish, or
// was rebuilt from what leaked of it.
func LastAnswer(c *session.Session) int {
	if IsRebuilt(c) {
		return -1
	}
	for i := len(c.Items) - 1; i >= 0; i-- {
		it := &c.Items[i]
		if !it.OnWire() {
			continue
		}
		if it.Role == session.Assistant && len(it.Calls) == 0 && it.Text != 0 &&
			it.Flags&(session.Unfinished|session.Synthetic|session.Blank) == 0 {
			return i
		}
		return -1
	}
	return -1
}

// IsRebuilt reports whether a repair made the session from what had leaked of it:
// then it begins with a task that the repair wrote.
func IsRebuilt(s *session.Session) bool {
	return len(s.Items) > 0 && s.Items[0].Flags.Has(session.Synthetic)
}

// FirstAgent is the agent that a child was started with: its own record's, else
// that of its first item with one.
func FirstAgent(c *session.Session) string {
	if c.Agent != "" {
		return c.Agent
	}
	for i := range c.Items {
		if c.Items[i].Agent() != "" {
			return c.Items[i].Agent()
		}
	}
	return ""
}

// BeginTime is when a session began: its first item's time, else its record's.
func BeginTime(c *session.Session) time.Time {
	for i := range c.Items {
		if !c.Items[i].Time.IsZero() {
			return c.Items[i].Time
		}
	}
	return c.Created
}

package repair_test

import "fmt"

func describeRows(list []storedRow) string {
	text := ""
	for _, r := range list {
		m := r.message
		if len(m) > 60 {
			m = m[:60]
		}
		text += fmt.Sprintf("%.8s pos=%d id=%d %s %s agent=%s result=%s calls=%v child=%.8s %s\n", r.session, r.position, r.id, r.kind, r.role, r.agent, r.callID, r.calls, r.child, m)
	}
	return text
}

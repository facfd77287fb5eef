package eventlog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// One session of many events, and many sessions of a few, each event with a text
// of some 800 bytes.
func BenchmarkRead(b *testing.B) {
	for _, sessions := range []int{1, 20_000} {
		const events = 100_000
		text := strings.Repeat("a text ", 115)
		const numbers = "with recursive n(i) as (select 0 union all select i + 1 from n where i < %d) "
		path := timed.make(b, b.TempDir(),
			fmt.Sprintf(numbers+"insert into talks(app, user, id, note) select 'a', 'u', 's' || i, 'n' from n", sessions-1),
			fmt.Sprintf(numbers+"insert into lines(id, app, user, talk, at, role, said) select 'e' || i, 'a', 'u', 's' || (i %% %d), i, 'user', '{\"text\":\"%s\"}' from n",
				events-1, sessions, text))
		for _, bodies := range []bool{false, true} {
			b.Run(fmt.Sprintf("sessions=%d/bodies=%t", sessions, bodies), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var list []*session.Session
					if list = sessionsOf(b, timed.reading(b, path, false), bodies); len(list) != sessions {
						b.Fatalf("%d sessions", len(list))
					}
				}
			})
		}
	}
}

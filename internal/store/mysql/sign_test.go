//go:build unix

package mysql_test

import (
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/store/registry"
)

// TestTheSignTellsOfWrites: the sign of a server is another one after a write, and the same when nothing
// was written, also after it was lost.
func TestTheSignTellsOfWrites(t *testing.T) {
	at := untied(t, "adk-go-2.2.0")
	ask := registry.OpenSign(at)
	for range 2 {
		for quiet := 0; quiet < 3; { // the server clears up behind what was written before
			before := ask(t.Context())
			time.Sleep(300 * time.Millisecond)
			if quiet++; ask(t.Context()) != before {
				quiet = 0
			}
		}
		before := ask(t.Context())
		execute(t, at, "update sessions set update_time = utc_timestamp(6)")
		if now := ask(t.Context()); now == before || now == "" {
			t.Errorf("%q before and %q after a write", before, now)
		}
		execute(t, at, "kill connection "+execute(t, at, "select max(id) from information_schema.processlist where command = 'Sleep' and user <> 'system user'"))
		if lost := ask(t.Context()); lost == before {
			t.Errorf("%q when the connection is lost", lost)
		}
	}
}

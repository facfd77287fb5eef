package eventstest_test

import (
	"bytes"
	"testing"

	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/events/eventstest"
	"github.com/sessctl/sessctl/internal/recording"
)

// Every line of a long stream is a whole event, and every delegation has a child.
func TestLong(t *testing.T) {
	var stream bytes.Buffer
	if err := eventstest.Long(&stream, 2000); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(stream.Bytes(), []byte("\n"))
	r := events.NewReader(&stream)
	var e recording.Event
	read, children, starts := 0, 0, 0
	for ; r.Next(&e) == nil; read++ {
		if e.Start {
			starts++
		}
		if e.Child != nil && e.Child.Items() == 8 {
			children++
		}
	}
	if read < 2000 || read != lines || r.SkippedCount() > 0 {
		t.Errorf("%d events in %d lines, skipped %v", read, lines, r.Skipped())
	}
	if starts == 0 || children != starts {
		t.Errorf("%d children of %d delegations", children, starts)
	}
}

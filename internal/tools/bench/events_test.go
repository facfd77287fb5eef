package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/lines"
	"github.com/sessctl/sessctl/internal/recording"
)

// BenchmarkRead reads a million events, and scans the same lines for whether they
// are valid JSON: what any reader has to do at least.
func BenchmarkRead(b *testing.B) {
	const count = 1_000_000
	path := filepath.Join(b.TempDir(), "events.jsonl")
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(writeLong(f, count), f.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, bc := range []struct {
		name string
		read func(io.Reader) (int, error)
	}{
		{"valid", validate},
		{"events", readEvents},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				info, err := f.Stat()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(info.Size())
				n, err := bc.read(f)
				if _ = f.Close(); err != nil || n < count {
					b.Fatalf("%d events, error %v", n, err)
				}
			}
		})
	}
}

func validate(f io.Reader) (int, error) {
	r := lines.NewReader(f)
	for n := 0; ; n++ {
		line, err := r.Next()
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		case !jsontext.Value(line.Text).IsValid():
			return n, fmt.Errorf("line %d is not valid", line.Number)
		}
	}
}

func readEvents(f io.Reader) (int, error) {
	r := events.NewReader(f)
	var e recording.Event
	for n := 0; ; n++ {
		if err := r.Next(&e); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

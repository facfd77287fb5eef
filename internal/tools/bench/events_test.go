package bench

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/lines"
)

// validate scans lines for whether they are valid JSON: what any reader has to do at least.
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
